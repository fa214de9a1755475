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

  func run(in transaction: Transaction) throws {
    // Not by IF NOT EXISTS, which needs the right to create tables: a server need not have it.
    if try !transaction.tables().contains(where: { $0.name == "migrations" }) {
      try transaction.define(Self.bookkeeping)
    }
    try refuseUnknown(in: transaction)
    for migration in migrations { try Self.apply(migration, transaction) }
  }

  private static let bookkeeping = """
    CREATE TABLE migrations
      (name TEXT PRIMARY KEY NOT NULL, sql TEXT NOT NULL, applied_at BIGINT NOT NULL)
    """

  /// Runs before any change: in an unknown schema the same column may mean something else.
  private func refuseUnknown(in transaction: Transaction) throws {
    let known = Set(migrations.map(\.name))
    guard !known.isEmpty else { return }
    let applied = try transaction.rows("SELECT name FROM migrations ORDER BY applied_at, name")
    let names = try applied.map { try $0.text("name") }
    guard !names.contains(CopyMark.name) else { throw StorageError.copyUnfinished }
    let unknown = names.first { !known.contains($0) }
    if let unknown { throw StorageError.migrationUnknown(unknown) }
  }

  private static func apply(_ migration: Migration, _ transaction: Transaction) throws {
    let known = try transaction.row("SELECT sql FROM migrations WHERE name = $1", .text(migration.name))
    if let known {
      guard try known.text("sql") == migration.sql else { throw StorageError.migrationChanged(migration.name) }
      return
    }
    for statement in migration.statements { try transaction.define(statement) }
    try transaction.run(
      "INSERT INTO migrations (name, sql, applied_at) VALUES ($1, $2, $3)", .text(migration.name),
      .text(migration.sql), .time(transaction.now))
  }
}
