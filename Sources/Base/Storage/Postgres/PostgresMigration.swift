import TenderPayments

extension Migrator {
  /// Of the lock that one node holds while it migrates; the others wait for it. "tender" in ASCII.
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
      try await engine.write { try $0.migrate(self, lock: "SELECT pg_advisory_xact_lock(\(Self.lock))") }
      await engine.close()
    } catch {
      await engine.close()
      throw error
    }
  }
}

extension Transaction {
  fileprivate func migrate(_ migrator: Migrator, lock: String) throws {
    // As a subquery, because the function itself answers a value without a type.
    _ = try rows("SELECT 1 AS locked FROM (\(lock)) AS migration")
    try migrator.run(in: self)
  }
}
