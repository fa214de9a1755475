import Ledger
import Storage
import TenderTesting
import Testing

/// How SQLite goes about a payment's statements.
@Suite(.enabled(if: StoreEngineUnderTest.isFile)) struct `SQLite` {
  private let file: TemporaryStore
  private let database: Database

  init() async throws {
    file = try TemporaryStore()
    database = try await file.open(Journal.migrations)
  }

  /// A list in the condition of an index would make one at every row.
  @Test(arguments: [
    "INSERT INTO payments (id, status) VALUES ('p', 'unknown')",
    "UPDATE payments SET status = 'captured' WHERE id = 'p'",
    "INSERT INTO operations (reference, state) VALUES ('o', 'sending')",
    "UPDATE operations SET state = 'approved' WHERE reference = 'o'",
    "SELECT * FROM payments WHERE basket = 'b' ORDER BY live DESC, id DESC LIMIT 1",
    "INSERT INTO outbox (payment, seq) VALUES ('p', (SELECT COALESCE(MAX(seq), 0) + 1 FROM outbox WHERE payment = 'p'))",
  ])
  func `makes no table for what a payment writes and reads`(_ statement: String) async throws {
    let program = try await database.read { try $0.rows("EXPLAIN \(statement)") }
    let steps = try program.map { try $0.text("opcode") }
    #expect(steps.count > 5 && !steps.contains { ["OpenEphemeral", "SorterOpen"].contains($0) })
  }

  @Test(arguments: [
    ("SELECT id FROM payments WHERE status IN ('authorizing', 'pending', 'unknown')", "payments_open"),
    ("SELECT reference FROM operations WHERE state IN ('sending', 'pending', 'unknown')", "operations_open"),
    (
      "SELECT min(route) AS route FROM payments WHERE live = 1 AND authorized > captured AND route > 'a'",
      "payments_held"
    ),
  ])
  func `finds what is not finished by an index that has nothing else`(_ query: String, _ index: String) async throws {
    let plan = try await database.read { try $0.rows("EXPLAIN QUERY PLAN \(query)").map { try $0.text("detail") } }
    #expect(plan.contains { $0.contains(index) })
  }
}
