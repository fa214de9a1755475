import CLibPQ

/// The result of one statement.
final class PostgresResult {
  private let result: OpaquePointer
  /// What was run; nil for a statement without parameters.
  var statement: PreparedStatement?

  init(_ result: OpaquePointer) { self.result = result }

  deinit { PQclear(result) }

  /// The error that the server answered; nil when the statement succeeded.
  func failure(endsConnection: Bool) -> PostgresError? {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: nil
    default: PostgresError(result, endsConnection: endsConnection)
    }
  }

  /// What the server did: `COMMIT`, or `ROLLBACK` where a COMMIT met a failed transaction.
  var command: String { String(cString: PQcmdStatus(result)) }

  /// The number of rows that the statement changed.
  var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  var count: CInt { PQntuples(result) }

  /// The rows, of a statement that answers in binary format.
  ///
  /// - Parameter most: how many at most.
  func rows(atMost most: CInt = .max) throws -> [Row] {
    let columns = columns()
    return try (0..<min(count, most)).map { row in
      Row(columns, try (0..<PQnfields(result)).map { try value(row, $0) })
    }
  }

  /// A prepared statement has the same ones each time: where a table has changed, the server refuses it.
  private func columns() -> Columns {
    if let known = statement?.columns { return known }
    let columns = Columns((0..<PQnfields(result)).map(name))
    statement?.columns = columns
    return columns
  }

  private func name(_ column: CInt) -> String { String(cString: PQfname(result, column)) }

  /// The first column of the first row, of a statement that answers in text format.
  var text: String? { count > 0 ? String(cString: PQgetvalue(result, 0, 0)) : nil }

  private func value(_ row: CInt, _ column: CInt) throws -> SQLValue {
    guard PQgetisnull(result, row, column) == 0 else { return .null }
    let bytes = UnsafeRawBufferPointer(
      start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    switch PQftype(result, column) {
    case PostgresType.bool: return .integer(Int64(bytes[0]))
    case PostgresType.int2: return .integer(Int64(Int16(truncatingIfNeeded: Self.number(bytes))))
    case PostgresType.int4: return .integer(Int64(Int32(truncatingIfNeeded: Self.number(bytes))))
    case PostgresType.int8: return .integer(Int64(bitPattern: Self.number(bytes)))
    case PostgresType.text, PostgresType.varchar, PostgresType.name:
      return .text(String(decoding: bytes, as: UTF8.self))
    case PostgresType.bytea: return .blob(Array(bytes))
    // Most of all numeric: the sum of BIGINT needs a CAST.
    default: throw StorageError.column(name(column))
    }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
