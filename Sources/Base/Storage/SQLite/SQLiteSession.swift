import GRDB
import GRDBSQLite

/// Runs a transaction's statements on an SQLite connection.
struct SQLiteSession: StoreSession {
  private let connection: GRDB.Database
  /// Translates the common SQL text to SQLite's.
  private let dialect: (String) -> String

  init(_ connection: GRDB.Database, dialect: @escaping (String) -> String = SQLiteEngine.text) {
    self.connection = connection
    self.dialect = dialect
  }

  func rows(_ sql: String, _ values: [SQLValue], locking: RowLock) throws -> [Row] {
    try StorageError.translating { try bind(sql, values).rows() }
  }

  func firstRow(_ sql: String, _ values: [SQLValue]) throws -> Row? {
    try StorageError.translating { try bind(sql, values).firstRow() }
  }

  func run(_ sql: String, _ values: [SQLValue]) throws {
    try StorageError.translating { try bind(sql, values).run() }
  }

  func changes(_ sql: String, _ values: [SQLValue]) throws -> Int {
    try run(sql, values)
    return connection.changesCount
  }

  func define(_ sql: String) throws {
    try StorageError.translating { try connection.execute(sql: SQLiteEngine.definition(sql)) }
  }

  /// SQLite calls back after so many steps of a statement, and ends it then.
  func limit(_ steps: Int32?) {
    guard let steps else { return sqlite3_progress_handler(connection.sqliteConnection, 0, nil, nil) }
    sqlite3_progress_handler(connection.sqliteConnection, steps, { _ in 1 }, nil)
  }

  private func bind(_ sql: String, _ values: [SQLValue]) throws -> BoundStatement {
    try BoundStatement(dialect(sql), values, on: connection)
  }
}
