extension PostgresSettings {
  /// The address for PostgreSQL's own programs, which read it from their environment: a password is no argument that
  /// every user of the machine sees.
  ///
  /// - Throws: as ``check()``.
  package func environment() throws -> [String: String] {
    try PostgresAddress(self).parameters.reduce(into: [:]) { variables, parameter in
      if let name = Self.variables[parameter.key] { variables[name] = parameter.value }
    }
  }

  private static let variables = [
    "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER",
    "password": "PGPASSWORD", "passfile": "PGPASSFILE", "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY", "sslcrl": "PGSSLCRL", "application_name": "PGAPPNAME",
    "connect_timeout": "PGCONNECT_TIMEOUT", "target_session_attrs": "PGTARGETSESSIONATTRS", "options": "PGOPTIONS",
  ]
}
