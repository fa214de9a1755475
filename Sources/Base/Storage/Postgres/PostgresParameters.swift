import CLibPQ

/// The values of a statement in PostgreSQL's binary format.
struct PostgresParameters {
  /// The type of each value, by the number in `pg_type`; 0 for NULL whose type the server infers from its column.
  private(set) var types: [Oid] = []
  private var lengths: [CInt] = []
  private var formats: [CInt] = []
  /// Where each value begins in `bytes`; nil for NULL.
  private var offsets: [Int?] = []
  /// All values, one after another. Never empty, so that it has an address.
  private var bytes: [UInt8] = []

  init(_ values: [SQLValue]) {
    types.reserveCapacity(values.count)
    lengths.reserveCapacity(values.count)
    offsets.reserveCapacity(values.count)
    bytes.reserveCapacity(values.count * 24 + 1)
    for value in values { append(value) }
    formats = Array(repeating: 1, count: values.count)
    bytes.append(0)
  }

  var count: CInt { CInt(types.count) }

  private mutating func append(_ value: SQLValue) {
    let start = bytes.count
    switch value {
    case .absent(let type): return append(from: nil, type: PostgresType.number(of: type))
    case .integer(let integer):
      withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
      append(from: start, type: PostgresType.int8)
    case .text(let text):
      bytes.append(contentsOf: text.utf8)
      append(from: start, type: PostgresType.text)
    case .blob(let blob):
      bytes.append(contentsOf: blob)
      append(from: start, type: PostgresType.bytea)
    }
  }

  /// - Parameter start: where the value's bytes begin; nil for NULL.
  private mutating func append(from start: Int?, type: Oid) {
    types.append(type)
    lengths.append(CInt(start.map { bytes.count - $0 } ?? 0))
    offsets.append(start)
  }

  /// The arguments of `PQsendQueryPrepared`, valid during the call.
  func withArguments<R>(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<CInt>?, UnsafePointer<CInt>?) -> R
  ) -> R {
    bytes.withUnsafeBytes { buffer in
      let values = offsets.map { offset in
        offset.flatMap { buffer.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
      }
      return values.withUnsafeBufferPointer { values in
        lengths.withUnsafeBufferPointer { lengths in
          formats.withUnsafeBufferPointer { body(values.baseAddress, lengths.baseAddress, $0.baseAddress) }
        }
      }
    }
  }
}

/// The types that Tender's SQL meets, by their numbers in `pg_type`.
enum PostgresType {
  static let bool: Oid = 16
  static let bytea: Oid = 17
  static let name: Oid = 19
  static let int8: Oid = 20
  static let int2: Oid = 21
  static let int4: Oid = 23
  static let text: Oid = 25
  static let varchar: Oid = 1043

  static func number(of type: SQLType?) -> Oid {
    switch type {
    case .integer: int8
    case .text: text
    case .blob: bytea
    case nil: 0
    }
  }
}
