import GRDB
package import TenderPayments

/// One transaction, seen from inside. Not sendable, and its calls are synchronous, so that nobody awaits under a lock.
package final class Transaction {
  private let connection: GRDB.Database
  /// Makes the engine's SQL of the common text.
  private let dialect: (String) -> String
  /// The database's time, the same for the whole transaction.
  package let now: Timestamp

  init(_ connection: GRDB.Database, now: Timestamp, dialect: @escaping (String) -> String = SQLiteEngine.text) {
    self.connection = connection
    self.dialect = dialect
    self.now = now
  }

  package func rows(_ sql: String, _ values: SQLValue...) throws -> [Row] { try rows(sql, values) }

  private func rows(_ sql: String, _ values: [SQLValue]) throws -> [Row] {
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

// What the engines say differently, and no more than this: the other of the three is `now`.
extension Transaction {
  /// The first row, held until the transaction ends, so that nobody changes it in between. SQLite's writer is alone
  /// anyway; PostgreSQL adds `FOR UPDATE`.
  package func lockedRow(_ sql: String, _ values: SQLValue...) throws -> Row? { try rows(sql, values).first }

  /// Rows that no other transaction holds, held until this one ends: two who ask at the same moment get different
  /// ones. PostgreSQL adds `FOR UPDATE SKIP LOCKED`.
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

/// One row of an answer, by column name. A column that is absent or of another type is an error, not a default.
package struct Row: Sendable {
  /// Of the columns, shared by all rows of an answer.
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
