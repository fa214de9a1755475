/// What a PostgreSQL server says of itself to the role that asks. A role without `pg_monitor` does not see all of it.
package struct DatabaseFacts: Sendable, Hashable, Codable {
  /// `150013` for 15.13.
  package let version: Int64
  /// Settings by which a crash loses or damages what was confirmed: `fsync = off`.
  package let unsafeSettings: [String]
  /// `synchronous_standby_names`; empty when no commit waits for a standby.
  package let synchronousStandbys: String
  /// Standbys that are connected.
  package let standbys: Int64
  /// How far the last of them is behind; nil where there is none, where nothing was written lately, and for a role that
  /// may not see it.
  package let lagMilliseconds: Int64?
  package let lagBytes: Int64?
  /// How long the oldest open transaction has been open, as far as the role sees it.
  package let oldestTransactionMilliseconds: Int64
  package let isEncrypted: Bool
  /// Whether the connection stays on this machine.
  package let isLocal: Bool
  /// Whether the role may make tables, or owns them: it could change or remove the journal.
  package let mayChangeTables: Bool
}

extension DatabaseFacts {
  fileprivate static let query = """
    SELECT CAST(current_setting('server_version_num') AS BIGINT) AS version, current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS full_page_writes,
      current_setting('synchronous_commit') AS synchronous_commit,
      current_setting('synchronous_standby_names') AS names, replication.standbys, replication.lag, replication.bytes,
      (SELECT CAST(coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) * 1000 AS BIGINT)
        FROM pg_stat_activity WHERE datname = current_database()) AS oldest,
      coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS ssl,
      coalesce(host(inet_client_addr()), '127.0.0.1') AS client,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) OR EXISTS (
        SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tableowner = current_user) AS may_change
    FROM (SELECT count(*) AS standbys, CAST(max(extract(epoch FROM replay_lag)) * 1000 AS BIGINT) AS lag,
        CAST(max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) AS BIGINT) AS bytes
      FROM pg_stat_replication) AS replication
    """

  fileprivate init(_ row: Row) throws {
    version = try row.integer("version")
    let safe = [
      ("fsync", ["on"]), ("full_page_writes", ["on"]), ("synchronous_commit", ["on", "remote_apply", "remote_write"]),
    ]
    unsafeSettings = try safe.compactMap { name, values in
      let value = try row.text(name)
      return values.contains(value) ? nil : "\(name) = \(value)"
    }
    synchronousStandbys = try row.text("names")
    standbys = try row.integer("standbys")
    lagMilliseconds = try row.integerOrNil("lag")
    lagBytes = try row.integerOrNil("bytes")
    oldestTransactionMilliseconds = try row.integer("oldest")
    isEncrypted = try row.integer("ssl") == 1
    let client = try row.text("client")
    isLocal = client.hasPrefix("127.") || client == "::1"
    mayChangeTables = try row.integer("may_change") == 1
  }
}

extension PostgresSession {
  func serverFacts() throws -> DatabaseFacts? { try firstRow(DatabaseFacts.query, []).map(DatabaseFacts.init) }
}

extension SQLiteSession {
  func serverFacts() -> DatabaseFacts? { nil }
}

extension Database {
  /// What the database's server says of itself; nil in SQLite.
  package func serverFacts() async throws -> DatabaseFacts? { try await read { try $0.serverFacts() } }
}
