import GRDB
import GRDBSQLite

/// A prepared statement with its bound values.
///
/// GRDB opens connections and caches prepared statements. Values bypass it, because its named arguments and row copies
/// showed up in the profile of a payment.
struct BoundStatement {
  private let connection: GRDB.Database
  private let statement: Statement
  private var handle: OpaquePointer { statement.sqliteStatement }

  init(_ sql: String, _ values: [SQLValue], on connection: GRDB.Database) throws {
    self.connection = connection
    statement = try connection.cachedStatement(sql: sql)
    guard sqlite3_bind_parameter_count(handle) == values.count else {
      throw StorageError.other("\(values.count) values for \(sqlite3_bind_parameter_count(handle)) parameters")
    }
    for (place, value) in zip(CInt(1)..., values) { try check(bind(value, at: place)) }
  }

  /// Runs the statement to its end.
  func run() throws {
    defer { sqlite3_reset(handle) }
    while try next() {}
  }

  /// All rows. An INSERT that returns rows has then written all of them.
  func rows() throws -> [Row] {
    defer { sqlite3_reset(handle) }
    let columns = columns()
    var rows: [Row] = []
    while try next() { rows.append(row(columns)) }
    return rows
  }

  /// A statement that changes rows runs to its end all the same: references are checked there.
  func firstRow() throws -> Row? {
    defer { sqlite3_reset(handle) }
    guard try next() else { return nil }
    let first = row(columns())
    if sqlite3_stmt_readonly(handle) == 0 { while try next() {} }
    return first
  }

  private func next() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw failure(code)
    }
  }

  private func columns() -> Columns { Columns(statement.columnNames) }

  private func row(_ columns: Columns) -> Row { Row(columns, (0..<sqlite3_column_count(handle)).map(value)) }

  private func check(_ code: CInt) throws {
    guard code == SQLITE_OK else { throw failure(code) }
  }

  private func failure(_ code: CInt) -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: code),
      message: connection.sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) })
  }
}

// Binds and reads one value. SQLite gets copies that it frees.
extension BoundStatement {
  private func bind(_ value: SQLValue, at place: CInt) -> CInt {
    switch value {
    case .absent: return sqlite3_bind_null(handle, place)
    case .integer(let integer): return sqlite3_bind_int64(handle, place, integer)
    case .text(var text): return text.withUTF8 { bind(text: UnsafeRawBufferPointer($0), at: place) }
    case .blob(let bytes): return bytes.withUnsafeBytes { bind(blob: $0, at: place) }
    }
  }

  private func bind(text: UnsafeRawBufferPointer, at place: CInt) -> CInt {
    guard let copy = Self.copy(text) else { return SQLITE_NOMEM }
    return sqlite3_bind_text(
      handle, place, copy.assumingMemoryBound(to: CChar.self), CInt(text.count), sqlite3_free)
  }

  private func bind(blob: UnsafeRawBufferPointer, at place: CInt) -> CInt {
    guard let copy = Self.copy(blob) else { return SQLITE_NOMEM }
    return sqlite3_bind_blob(handle, place, copy, CInt(blob.count), sqlite3_free)
  }

  /// Never nil for zero bytes, because nil would bind NULL instead of an empty value.
  private static func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer? {
    let copy = sqlite3_malloc(CInt(max(bytes.count, 1)))
    if let start = bytes.baseAddress { copy?.copyMemory(from: start, byteCount: bytes.count) }
    return copy
  }

  private func value(_ column: CInt) -> SQLValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(bytes(column))
    default: .null
    }
  }

  private func text(_ column: CInt) -> String {
    let start = sqlite3_column_text(handle, column)
    return String(
      decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))), as: UTF8.self)
  }

  private func bytes(_ column: CInt) -> [UInt8] {
    let start = sqlite3_column_blob(handle, column)
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
