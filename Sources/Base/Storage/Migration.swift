import GRDB
import TenderPayments

/// One step of the schema. Applied once, in order, and never changed afterwards: the store keeps its text.
package struct Migration: Sendable {
  /// Unique and never changed: `ledger-1`.
  package let name: String
  let sql: String

  /// - Parameter sql: definitions in the common SQL text, each ending in `;` and a line break.
  package init(_ name: String, _ sql: String) {
    self.name = name
    self.sql = sql
  }

  var statements: [String] {
    sql.split(separator: ";\n").map { $0.trimmed }.filter { !$0.isEmpty }
  }
}

extension Substring {
  fileprivate var trimmed: String {
    var text = self
    while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
    return String(text.drop(while: \.isWhitespace))
  }
}

/// Migrates a store to the newest schema. Refuses a store written by a newer version, and one whose migrations have
/// another text.
///
/// Without migrations the store is opened unchanged.
struct Migrator {
  let migrations: [Migration]
  let clock: WallClock

  func run(on writer: some DatabaseWriter) async throws {
    let now = clock.now()
    try await writer.write { try run(in: $0, now) }
  }

  func run(in connection: GRDB.Database, _ now: Timestamp) throws {
    try connection.execute(sql: Self.bookkeeping)
    try refuseUnknown(in: connection)
    for migration in migrations { try Self.apply(migration, now, connection) }
  }

  private static let bookkeeping = """
    CREATE TABLE IF NOT EXISTS migrations
      (name TEXT PRIMARY KEY NOT NULL, sql TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT
    """

  /// Runs before any change: in an unknown schema the same column may mean something else.
  private func refuseUnknown(in connection: GRDB.Database) throws {
    let known = Set(migrations.map(\.name))
    guard !known.isEmpty else { return }
    let applied = try String.fetchAll(connection, sql: "SELECT name FROM migrations ORDER BY rowid")
    if let unknown = applied.first(where: { !known.contains($0) }) { throw StorageError.migrationUnknown(unknown) }
  }

  private static func apply(_ migration: Migration, _ now: Timestamp, _ connection: GRDB.Database) throws {
    let known = try String.fetchOne(
      connection, sql: "SELECT sql FROM migrations WHERE name = ?", arguments: [migration.name])
    if let known {
      guard known == migration.sql else { throw StorageError.migrationChanged(migration.name) }
      return
    }
    for statement in migration.statements { try connection.execute(sql: SQLiteEngine.definition(statement)) }
    try connection.execute(
      sql: "INSERT INTO migrations (name, sql, applied_at) VALUES (?, ?, ?)",
      arguments: [migration.name, migration.sql, now.microseconds])
  }
}
