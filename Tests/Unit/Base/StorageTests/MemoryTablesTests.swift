import Storage
import TenderPayments
import TenderTesting
import Testing

/// What a simulation of a shared database is made of.
@Suite struct `The tables in memory` {
  private let tables: MemoryTables

  init() throws {
    tables = try MemoryTables()
    try tables.migrate(
      [Migration("t", "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, n BIGINT NOT NULL);\n")],
      at: Timestamp(seconds: 1))
    _ = tables.takeChanges()
  }

  private func insert(_ id: String) throws { try tables.run("INSERT INTO t (id, n) VALUES ($1, 1)", [.text(id)]) }

  @Test func `name every row that a statement changed, and by what`() throws {
    try insert("a")
    try insert("b")
    let first = tables.lastRow - 1
    #expect(tables.takeChanges().map(\.row) == [first, first + 1])
    #expect(try tables.changes("UPDATE t SET n = 2 WHERE id = $1", [.text("b")]) == 1)
    try tables.run("DELETE FROM t WHERE id = $1", [.text("a")])
    let changes = tables.takeChanges()
    #expect(changes.map(\.kind) == [.updated, .deleted])
    #expect(changes.map(\.row) == [first + 1, first])
  }

  @Test func `undo a statement and keep those before it in the transaction`() throws {
    try tables.run("BEGIN")
    try insert("a")
    try tables.run("SAVEPOINT s")
    try insert("b")
    try tables.run("ROLLBACK TO s")
    try tables.run("COMMIT")
    #expect(try tables.rows("SELECT id FROM t").map { try $0.text("id") } == ["a"])
  }
}
