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
    for value in values { append(value) }
    bytes.append(0)
  }

  var count: CInt { CInt(types.count) }

  private mutating func append(_ value: SQLValue) {
    switch value {
    case .absent(let type): append(nil, type: PostgresType.number(of: type))
    case .integer(let integer): append(withUnsafeBytes(of: integer.bigEndian) { Array($0) }, type: PostgresType.int8)
    case .text(let text): append(Array(text.utf8), type: PostgresType.text)
    case .blob(let blob): append(blob, type: PostgresType.bytea)
    }
  }

  private mutating func append(_ value: [UInt8]?, type: Oid) {
    types.append(type)
    formats.append(1)
    lengths.append(CInt(value?.count ?? 0))
    offsets.append(value == nil ? nil : bytes.count)
    bytes += value ?? []
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
