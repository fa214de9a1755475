import GRDB
package import TenderPayments

/// One transaction. Not sendable, and its calls are synchronous, so that no code awaits while it holds a lock.
package final class Transaction {
  private let connection: GRDB.Database
  /// Translates the common SQL dialect to the engine's.
  private let dialect: (String) -> String
  /// The database's time, the same for the whole transaction.
  package let now: Timestamp

  init(_ connection: GRDB.Database, now: Timestamp, dialect: @escaping (String) -> String = SQLiteEngine.text) {
    self.connection = connection
    self.dialect = dialect
    self.now = now
  }

  package func rows(_ sql: String, _ values: SQLValue...) throws -> [Row] { try rows(sql, values) }

  package func rows(_ sql: String, _ values: [SQLValue]) throws -> [Row] {
    try StorageError.translating { try bound(sql, values).rows() }
  }

  /// The first row, or nil.
  package func row(_ sql: String, _ values: SQLValue...) throws -> Row? {
    try StorageError.translating { try bound(sql, values).firstRow() }
  }

  /// Runs a statement; the number of rows it changed.
  @discardableResult
  package func run(_ sql: String, _ values: SQLValue...) throws -> Int {
    try StorageError.translating {
      try bound(sql, values).run()
      return connection.changesCount
    }
  }

  private func bound(_ sql: String, _ values: [SQLValue]) throws -> BoundStatement {
    try BoundStatement(dialect(sql), values, on: connection)
  }
}

// Where the engines' SQL differs. The only other difference is `now`.
extension Transaction {
  /// The first row, locked until the transaction ends. SQLite has a single writer anyway; PostgreSQL adds `FOR UPDATE`.
  package func lockedRow(_ sql: String, _ values: SQLValue...) throws -> Row? { try rows(sql, values).first }

  /// Rows that no other transaction has locked, locked until this one ends, so that concurrent callers get different
  /// rows. PostgreSQL adds `FOR UPDATE SKIP LOCKED`.
  package func unclaimedRows(_ sql: String, _ values: SQLValue...) throws -> [Row] { try rows(sql, values) }
}

/// A value of one of the three column types, or NULL.
package enum SQLValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  /// NULL for nil.
  package static func text(optional text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
  package static func integer(optional integer: Int64?) -> SQLValue { integer.map(SQLValue.integer) ?? .null }
  package static func blob(optional bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? .null }
  /// Microseconds since 1970.
  package static func time(_ time: Timestamp) -> SQLValue { .integer(time.microseconds) }
}

/// One row of a result, by column name. A column that is absent or has another type is an error.
package struct Row: Sendable {
  /// The column names, shared by all rows of a result.
  private let names: [String]
  private let values: [SQLValue]

  init(_ names: [String], _ values: [SQLValue]) {
    self.names = names
    self.values = values
  }

  private func value(of column: String) -> SQLValue? { names.firstIndex(of: column).map { values[$0] } }

  package func integer(_ column: String) throws -> Int64 {
    guard let value = try integerOrNil(column) else { throw StorageError.column(column) }
    return value
  }

  package func text(_ column: String) throws -> String {
    guard let value = try textOrNil(column) else { throw StorageError.column(column) }
    return value
  }

  package func blob(_ column: String) throws -> [UInt8] {
    guard let value = try blobOrNil(column) else { throw StorageError.column(column) }
    return value
  }

  package func time(_ column: String) throws -> Timestamp { Timestamp(microseconds: try integer(column)) }

  package func integerOrNil(_ column: String) throws -> Int64? {
    switch value(of: column) {
    case .integer(let value): value
    case .null: nil
    default: throw StorageError.column(column)
    }
  }

  package func textOrNil(_ column: String) throws -> String? {
    switch value(of: column) {
    case .text(let value): value
    case .null: nil
    default: throw StorageError.column(column)
    }
  }

  package func blobOrNil(_ column: String) throws -> [UInt8]? {
    switch value(of: column) {
    case .blob(let value): value
    case .null: nil
    default: throw StorageError.column(column)
    }
  }
}
