/// One step of the schema. Applied once, in order, and never changed afterwards: the store keeps its text.
///
/// A change that a version before this one cannot live with is made in two migrations, so that nodes of both versions
/// serve side by side meanwhile:
///
/// - An expanding one only adds: tables, indexes, columns that may be NULL or have a default. A server applies it when it
///   opens the store, and the version before goes on.
/// - A contracting one removes or narrows what only the version before needs: `Migration(contracting: "ledger-3", …)`.
///   `tender store migrate --contract` applies it, once no node of the version before is left. Until then the version
///   that brings it works without it.
package struct Migration: Sendable {
  /// Unique and never changed: `ledger-1`.
  package let name: String
  package let sql: String
  package let step: MigrationStep

  /// The name of the row that marks a store into which another is being copied. Every version refuses such a store.
  static let unfinishedCopy = "store-copy-unfinished"

  /// An expanding migration.
  ///
  /// - Parameter sql: definitions in the common SQL text, each ending in `;` and a line break.
  package init(_ name: String, _ sql: String) { self.init(name, sql, .expand) }

  /// A contracting migration.
  package init(contracting name: String, _ sql: String) { self.init(name, sql, .contract) }

  private init(_ name: String, _ sql: String, _ step: MigrationStep) {
    (self.name, self.sql, self.step) = (name, sql, step)
  }

  /// This migration with its text rewritten.
  func rewritten(_ rewrite: (String) -> String) -> Migration { Migration(name, rewrite(sql), step) }

  var statements: [String] {
    sql.split(separator: ";\n").map { $0.trimmed }.filter { !$0.isEmpty }
  }

  /// Whether a version that does not know an expanding migration can go on after it. A contracting one need not be so.
  package var keepsItsPromise: Bool {
    let made = Set(statements.compactMap { $0.firstMatch(of: #/^CREATE TABLE (\w+)/#)?.output.1 })
    return step == .contract
      || statements.allSatisfy { statement in
        if let index = statement.firstMatch(of: #/^CREATE (UNIQUE )?INDEX \w+ ON (\w+)/#) {
          return index.output.1 == nil || made.contains(index.output.2)
        }
        if let column = statement.firstMatch(of: #/^ALTER TABLE \w+ ADD COLUMN (.+)$/#) {
          return !column.output.1.contains("NOT NULL") || column.output.1.contains("DEFAULT")
        }
        return statement.hasPrefix("CREATE TABLE ")
      }
  }
}

/// What a migration does to nodes of the version before.
package enum MigrationStep: String, Sendable, Codable {
  case expand, contract
}

/// The migrations of one version.
///
/// A node shows by its application name which one it has, so that a contraction can see others.
struct SchemaVersion: Sendable {
  /// Eight hexadecimal digits.
  let name: String

  init(_ migrations: [Migration]) {
    let names = migrations.map(\.name).sorted().joined(separator: "\n")
    let hash = names.utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    name = String(repeating: "0", count: hash.leadingZeroBitCount / 4) + String(hash, radix: 16)
  }
}

extension Substring {
  fileprivate var trimmed: String {
    var text = self
    while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
    return String(text.drop(while: \.isWhitespace))
  }
}

/// Migrates a store to the newest schema. Refuses a store written by a newer version, unless that has only added to it,
/// and one whose migrations have another text.
///
/// Without migrations the store is opened unchanged.
struct Migrator {
  let migrations: [Migration]
  /// Whether the contracting ones are applied too.
  var contracts = false

  func run(in transaction: Transaction) throws {
    // Not by IF NOT EXISTS, which needs the right to create tables: a server need not have it.
    if try !transaction.tables().contains(where: { $0.name == "migrations" }) {
      try transaction.define(Self.bookkeeping)
    }
    let applied = try transaction.appliedMigrations()
    try refuseUnknown(applied)
    // A new store has no node of another version.
    let isWhole = contracts || applied.isEmpty
    for migration in migrations where isWhole || migration.step == .expand || applied[migration.name] != nil {
      try Self.apply(migration, applied[migration.name], transaction)
    }
  }

  private static let bookkeeping = """
    CREATE TABLE migrations
      (name TEXT PRIMARY KEY NOT NULL, sql TEXT NOT NULL, step TEXT NOT NULL DEFAULT 'contract',
       applied_at BIGINT NOT NULL)
    """

  /// Runs before any change: in an unknown schema the same column may mean something else.
  private func refuseUnknown(_ applied: [String: AppliedMigration]) throws {
    let known = Set(migrations.map(\.name))
    guard !known.isEmpty else { return }
    guard applied[Migration.unfinishedCopy] == nil else { throw StorageError.copyUnfinished }
    let unknown = applied.values.filter { !known.contains($0.name) && $0.step != .expand }.map(\.name).min()
    if let unknown { throw StorageError.migrationUnknown(unknown) }
  }

  private static func apply(
    _ migration: Migration, _ applied: AppliedMigration?, _ transaction: Transaction
  ) throws {
    if let applied {
      guard applied.sql == migration.sql else { throw StorageError.migrationChanged(migration.name) }
      return
    }
    for statement in migration.statements { try transaction.define(statement) }
    try transaction.run(
      "INSERT INTO migrations (name, sql, step, applied_at) VALUES ($1, $2, $3, $4)", .text(migration.name),
      .text(migration.sql), .text(migration.step.rawValue), .time(transaction.now))
  }
}

/// A row of `migrations`.
struct AppliedMigration {
  let name: String
  let sql: String
  /// Nil for a step of which this version knows nothing.
  let step: MigrationStep?
}

extension Transaction {
  fileprivate func appliedMigrations() throws -> [String: AppliedMigration] {
    try rows("SELECT name, sql, step FROM migrations").reduce(into: [:]) { applied, row in
      let name = try row.text("name")
      applied[name] = AppliedMigration(
        name: name, sql: try row.text("sql"), step: MigrationStep(rawValue: try row.text("step")))
    }
  }
}

extension Database {
  /// The migrations that the store lacks, by what they need.
  ///
  /// - Returns: those that opening the store would apply, and those that wait for `tender store migrate --contract`.
  package func lacking(_ migrations: [Migration]) async throws -> (expanding: [String], contracting: [String]) {
    let applied = try await read { Set(try $0.rows("SELECT name FROM migrations").map { try $0.text("name") }) }
    let lacking = migrations.filter { !applied.contains($0.name) }
    return (
      lacking.filter { $0.step == .expand }.map(\.name), lacking.filter { $0.step == .contract }.map(\.name)
    )
  }
}
