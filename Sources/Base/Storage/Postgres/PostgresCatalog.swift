extension PostgresSession {
  func connections(named prefix: String, without suffix: String?) throws -> Int {
    let others = try rows(
      """
      SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()
        AND starts_with(application_name, $1) AND application_name <> current_setting('application_name')
        AND ($2 IS NULL OR right(application_name, length($2)) <> $2)
      """, [.text(prefix), .text(optional: suffix)], locking: .none)
    return Int(try others.first?.integer("n") ?? 0)
  }

  func tables() throws -> [TableShape] {
    let ours = "t.relkind = 'r' AND t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
    return try TableShape.all(
      rows(
        """
        SELECT t.relname AS place, c.attname AS name,
          format_type(coalesce(nullif(d.typbasetype, 0), c.atttypid), NULL) AS type,
          coalesce(array_position(k.conkey, c.attnum), 0) AS key
        FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped
        JOIN pg_type d ON d.oid = c.atttypid
        LEFT JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'p'
        WHERE \(ours)
        """, [], locking: .none),
      rows(
        """
        SELECT t.relname AS place, r.relname AS target FROM pg_constraint k
        JOIN pg_class t ON t.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid WHERE k.contype = 'f' AND \(ours)
        """, [], locking: .none))
  }

  func rowCount(of table: String) throws -> (rows: Int64?, isEstimate: Bool) {
    let row = try firstRow(
      "SELECT CAST(reltuples AS BIGINT) AS n FROM pg_class WHERE oid = to_regclass($1)", [.text(table)])
    // -1 until the database has counted.
    return (try row?.integer("n")).map { $0 < 0 ? (nil, true) : ($0, true) } ?? (nil, true)
  }

  func serverFacts() throws -> DatabaseFacts? { try firstRow(DatabaseFacts.query, []).map(DatabaseFacts.init) }
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
