import Dispatch
package import Storage
import TenderPayments

/// Stops statements on PostgreSQL in the middle of their transactions, so that a test can do something meanwhile.
package struct StatementGate: Sendable {
  private let number = Int64.random(in: 1...Int64(Int32.max))
  package let database: Database

  /// - Parameter place: a database on PostgreSQL.
  package init(_ place: EmptyDatabase) async throws {
    database = try await Database.postgres(try place.settings(), migrations: [])
  }

  /// Runs `body` while statements stop at moments such as `AFTER INSERT ON orders`, each of another table.
  package func stopping<R: Sendable>(_ moments: String..., during body: () async throws -> R) async throws -> R {
    try await make(at: moments)
    let (gate, number) = (DispatchSemaphore(value: 0), number)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let closed = Task { [database] in
      try await database.write { store in
        _ = try store.rows("SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(\(number))) AS gate")
        begin.finish()
        gate.wait()
      }
    }
    for await _ in begun {}
    defer { gate.signal() }
    let result = try await body()
    _ = closed
    return result
  }

  private func make(at moments: [String]) async throws {
    let number = number
    try await database.write { store in
      try store.run(
        """
        CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_advisory_xact_lock_shared(\(number)); RETURN NULL; END'
        """)
      for moment in moments {
        try store.run("CREATE TRIGGER gate \(moment) FOR EACH STATEMENT EXECUTE FUNCTION gate()")
      }
    }
  }

  /// Returns when so many statements have stopped.
  package func untilStopped(_ count: Int) async throws {
    let number = number
    try await waitFor(
      "\(count) statements that have stopped",
      {
        try await database.read { store in
          try store.rows(
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND CAST(objid AS BIGINT) = $1",
            .integer(number)
          ).count
        }
      }, until: { $0 >= count })
  }
}
