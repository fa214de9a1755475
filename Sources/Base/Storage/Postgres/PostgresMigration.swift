import TenderPayments

extension Migrator {
  /// The number of the lock that one node holds while it migrates; the others wait for it. "tender" in ASCII.
  private static let lock = 0x7465_6e64_6572

  /// Migrates a database in one transaction, on a connection of its own without limits of time: a migration of large
  /// tables takes as long as it takes.
  func run(on settings: PostgresSettings, clock: WallClock?) async throws {
    var patient = settings
    patient.connections = 1
    patient.statementLimit = .seconds(24 * 3_600)
    patient.lockLimit = .seconds(24 * 3_600)
    let engine = PostgresEngine(patient, clock: clock)
    do {
      try await engine.write { store in
        // As a subquery, because the function itself answers a value without a type.
        _ = try store.rows("SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(\(Self.lock))) AS migration")
        if contracts { try refuseOthers(of: settings.family, in: store) }
        try run(in: store)
      }
      await engine.close()
    } catch {
      await engine.close()
      throw error
    }
  }
}

extension Migrator {
  /// Refuses to contract while a node of another version is connected.
  fileprivate func refuseOthers(of family: String, in transaction: Transaction) throws {
    let others = try transaction.connections(named: family, without: "/" + SchemaVersion(migrations).name)
    if others > 0 { throw StorageError.otherVersions(others) }
  }
}
