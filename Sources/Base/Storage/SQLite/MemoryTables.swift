import GRDB
import GRDBSQLite
import Synchronization
package import TenderPayments

/// The tables of an in-memory store, one statement at a time.
///
/// For simulations of a database that several processes share: they decide which transaction a statement belongs to,
/// learn which rows it changed, and undo it or make the same changes later.
package final class MemoryTables: Sendable {
  private let queue: DatabaseQueue
  private let log = ChangeLog()

  package init() throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    configuration.allowsUnsafeTransactions = true
    let settings = configuration
    queue = try StorageError.translating { try DatabaseQueue(configuration: settings) }
    queue.inDatabase { log.watch($0) }
  }

  /// Frees the memory, although the value is still referenced.
  package func close() { try? queue.close() }

  package func migrate(_ migrations: [Migration], at time: Timestamp) throws {
    try StorageError.translating {
      try queue.write { connection in
        try Migrator(migrations: migrations).run(in: Transaction(SQLiteSession(connection), now: time))
      }
    }
  }

  package func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [Row] {
    try queue.inDatabase { try SQLiteSession($0).rows(sql, values, locking: .none) }
  }

  package func run(_ sql: String, _ values: [SQLValue] = []) throws {
    try queue.inDatabase { try SQLiteSession($0).run(sql, values) }
  }

  /// - Returns: how many rows the statement changed.
  package func changes(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
    try queue.inDatabase { try SQLiteSession($0).changes(sql, values) }
  }

  /// The number of the row that was inserted last.
  package var lastRow: Int64 { queue.inDatabase(\.lastInsertedRowID) }

  package func tables() throws -> [TableShape] { try queue.inDatabase { try SQLiteSession($0).tables() } }

  /// What statements have changed since this was asked last, also what was undone.
  package func takeChanges() -> [RowChange] { log.take() }
}

/// One row that a statement changed. The number is SQLite's own of the row, which stays.
package struct RowChange: Sendable, Hashable {
  package enum Kind: Sendable { case inserted, updated, deleted }

  package let kind: Kind
  package let table: String
  package let row: Int64
}

/// Collects what SQLite reports of every changed row.
private final class ChangeLog: Sendable {
  private let changes = Mutex<[RowChange]>([])

  func watch(_ connection: GRDB.Database) {
    // The log lives as long as the queue that owns the connection.
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_update_hook(
      connection.sqliteConnection,
      { context, kind, _, table, row in
        guard let context, let table else { return }
        Unmanaged<ChangeLog>.fromOpaque(context).takeUnretainedValue().note(kind, String(cString: table), row)
      }, context)
  }

  private func note(_ kind: CInt, _ table: String, _ row: Int64) {
    let kind: RowChange.Kind = kind == SQLITE_INSERT ? .inserted : kind == SQLITE_DELETE ? .deleted : .updated
    changes.withLock { $0.append(RowChange(kind: kind, table: table, row: row)) }
  }

  func take() -> [RowChange] {
    changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
  }
}
