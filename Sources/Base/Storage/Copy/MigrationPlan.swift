import Foundation
import GRDB
package import TenderPayments

/// What migrations will do to a store.
package struct MigrationPlan: Sendable, Codable, Hashable {
  /// A migration that the store lacks.
  package struct Step: Sendable, Codable, Hashable {
    package let migration: String
    package let kind: MigrationStep
    /// Whether it waits for `--contract`.
    package let waits: Bool
    package let tables: [Affected]
  }

  /// A table that a migration makes, changes or removes.
  package struct Affected: Sendable, Codable, Hashable {
    package let table: String
    /// Nil for one that is new, or that PostgreSQL has never counted.
    package let rows: Int64?
    package let isEstimate: Bool
  }

  package let steps: [Step]
  /// How long the steps that do not wait took on a copy; nil where none was made.
  package var milliseconds: Int64?
  /// Why none was made; nil when one was.
  package var notMeasured: String?

  /// - Parameter contracts: whether `--contract` is given.
  init(_ migrations: [Migration], contracts: Bool, in store: Transaction) throws {
    let tables = Set(try store.tables().map(\.name))
    let isNew = !tables.contains("migrations")
    let applied = isNew ? [] : Set(try store.rows("SELECT name FROM migrations").map { try $0.text("name") })
    steps = try migrations.filter { !applied.contains($0.name) }.map { migration in
      Step(
        migration: migration.name, kind: migration.step,
        waits: migration.step == .contract && !contracts && !applied.isEmpty,
        tables: try migration.tables.map { table in
          guard tables.contains(table) else { return Affected(table: table, rows: nil, isEstimate: false) }
          let (rows, isEstimate) = try store.rowCount(of: table)
          return Affected(table: table, rows: rows, isEstimate: isEstimate)
        })
    }
  }

  /// Those that the command would apply.
  package var due: [Step] { steps.filter { !$0.waits } }
}

extension Migration {
  /// The tables that it makes, changes or removes, in the order of its text.
  var tables: [String] {
    var found: [String] = []
    for statement in statements {
      let table =
        statement.firstMatch(of: #/^(?:CREATE TABLE|ALTER TABLE|DROP TABLE|UPDATE|DELETE FROM|INSERT INTO) (\w+)/#)?.1
        ?? statement.firstMatch(of: #/^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/#)?.1
      if let table, !found.contains(String(table)) { found.append(String(table)) }
    }
    return found
  }
}

extension Database {
  /// What migrations will do to the store; PostgreSQL estimates the rows.
  package func plan(_ migrations: [Migration], contracts: Bool) async throws -> MigrationPlan {
    var plan = try await read { try MigrationPlan(migrations, contracts: contracts, in: $0) }
    plan.notMeasured = "a database is not copied; migrate a restored backup to measure it"
    return plan
  }

  /// What migrations will do to an SQLite file, which stays as it is and which a server may use meanwhile.
  ///
  /// They run on a copy beside it, if the disk has room for two: a migration may write a table anew.
  package static func plan(
    _ migrations: [Migration], contracts: Bool, ofFile path: String, clock: WallClock = .system
  ) async throws -> MigrationPlan {
    let source = try SQLiteEngine.openReadOnly(path)
    var plan = try await StorageError.translating {
      try await source.read {
        try MigrationPlan(migrations, contracts: contracts, in: Transaction(SQLiteSession($0), now: clock.now()))
      }
    }
    guard !plan.due.isEmpty else { return plan }
    let needed = 2 * (PrivateFile.size(path) + PrivateFile.size(path + "-wal"))
    guard needed < PrivateFile.room(at: path) else {
      plan.notMeasured = "the disk has no room for a copy, \(needed / 1_048_576 + 1) MiB"
      return plan
    }
    let copy = "\(path)-plan-\(ProcessInfo.processInfo.processIdentifier)"
    defer { for end in ["", "-wal", "-shm", ".lock"] { unlink(copy + end) } }
    try SQLiteEngine.copy(source, to: copy)
    // Opened once before, so that what is measured is the migrations alone.
    await (try await Database.sqlite(path: copy, migrations: [])).close()
    let begin = ContinuousClock.now
    let migrated = try await Database.sqlite(path: copy, migrations: migrations, clock: clock, contracts: contracts)
    plan.milliseconds = Int64((ContinuousClock.now - begin) / .milliseconds(1))
    await migrated.close()
    return plan
  }
}

extension PrivateFile {
  /// The bytes of a file; 0 where there is none.
  fileprivate static func size(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }

  /// The bytes that are free on the disk of a file.
  fileprivate static func room(at path: String) -> Int {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    return (try? FileManager.default.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? Int) ?? 0
  }
}
