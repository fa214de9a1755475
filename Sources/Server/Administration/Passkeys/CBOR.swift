/// What authenticators write, as far as WebAuthn needs it (RFC 8949): whole numbers, bytes, texts, arrays, maps, true,
/// false and null.
enum CBORValue: Sendable {
  case integer(Int64)
  case bytes([UInt8])
  case text(String)
  case array([CBORValue])
  case map([(key: CBORValue, value: CBORValue)])
  case bool(Bool)
  case null
}

extension CBORValue {
  /// The value of a number in a map; nil when it is absent, or this is no map.
  subscript(_ wanted: Int64) -> CBORValue? {
    guard case .map(let members) = self else { return nil }
    return members.first { if case .integer(wanted) = $0.key { true } else { false } }?.value
  }

  /// The value of a text in a map; nil when it is absent, or this is no map.
  subscript(_ wanted: String) -> CBORValue? {
    guard case .map(let members) = self else { return nil }
    return members.first { $0.key.text.map { $0.utf8.elementsEqual(wanted.utf8) } ?? false }?.value
  }

  /// How many members a map has; nil for anything else.
  var members: Int? { if case .map(let members) = self { members.count } else { nil } }
  var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  var text: String? { if case .text(let text) = self { text } else { nil } }

  /// Whether both may not stand in one map. Only numbers and texts are keys.
  fileprivate func isSameKey(as other: CBORValue) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left == right
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    default: false
    }
  }
}

/// Reads CBOR as CTAP2 writes it: definite and shortest lengths, no tags, no fractions, four levels at the most. Refuses a
/// key twice in a map.
struct CBORReader {
  private static let deepest = 4

  /// What has not been read.
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

  /// Reads one value that is all of the bytes.
  static func read(_ bytes: [UInt8]) throws(PasskeyRefusal) -> CBORValue {
    var reader = CBORReader(bytes)
    let value = try reader.next()
    guard reader.rest.isEmpty else { throw .unreadable }
    return value
  }

  /// Reads the next value.
  mutating func next() throws(PasskeyRefusal) -> CBORValue { try value(within: Self.deepest) }

  private mutating func value(within depth: Int) throws(PasskeyRefusal) -> CBORValue {
    guard let head = rest.popFirst() else { throw .unreadable }
    if head >> 5 == 7 { return try simple(head & 31) }
    let argument = try argument(head & 31)
    switch head >> 5 {
    case 0: return .integer(try whole(argument))
    case 1: return .integer(-1 - (try whole(argument)))
    case 2: return .bytes(try take(argument))
    case 3: return .text(try text(argument))
    case 4: return .array(try array(argument, within: depth))
    case 5: return .map(try map(argument, within: depth))
    default: throw .unreadable
    }
  }

  private func simple(_ value: UInt8) throws(PasskeyRefusal) -> CBORValue {
    switch value {
    case 20: .bool(false)
    case 21: .bool(true)
    case 22: .null
    default: throw .unreadable
    }
  }

  /// A number, or how many bytes or elements follow; in its shortest form.
  private mutating func argument(_ short: UInt8) throws(PasskeyRefusal) -> UInt64 {
    guard short >= 24 else { return UInt64(truncatingIfNeeded: short) }
    guard short <= 27 else { throw .unreadable }
    let bytes = try take(1 << (short - 24))
    let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64(truncatingIfNeeded: $1) }
    let least: [UInt64] = [24, 1 << 8, 1 << 16, 1 << 32]
    guard number >= least[Int(short - 24)] else { throw .unreadable }
    return number
  }

  private func whole(_ number: UInt64) throws(PasskeyRefusal) -> Int64 {
    guard let whole = Int64(exactly: number) else { throw .unreadable }
    return whole
  }

  private mutating func take(_ count: UInt64) throws(PasskeyRefusal) -> [UInt8] {
    guard count <= UInt64(clamping: rest.count) else { throw .unreadable }
    let taken = rest.prefix(Int(count))
    rest = rest.dropFirst(Int(count))
    return Array(taken)
  }

  private mutating func text(_ count: UInt64) throws(PasskeyRefusal) -> String {
    guard let text = String(validating: try take(count), as: UTF8.self) else { throw .unreadable }
    return text
  }

  private mutating func array(_ count: UInt64, within depth: Int) throws(PasskeyRefusal) -> [CBORValue] {
    // Every element has a byte at least, so that a length alone reserves nothing.
    guard depth > 0, count <= UInt64(clamping: rest.count) else { throw .unreadable }
    var elements: [CBORValue] = []
    for _ in 0..<count { elements.append(try value(within: depth - 1)) }
    return elements
  }

  private mutating func map(
    _ count: UInt64, within depth: Int
  ) throws(PasskeyRefusal) -> [(key: CBORValue, value: CBORValue)] {
    guard depth > 0, count <= Self.mostMembers else { throw .unreadable }
    var members: [(key: CBORValue, value: CBORValue)] = []
    for _ in 0..<count {
      let key = try value(within: 0)
      guard key.integer != nil || key.text != nil, !members.contains(where: { $0.key.isSameKey(as: key) }) else {
        throw .unreadable
      }
      members.append((key, try value(within: depth - 1)))
    }
    return members
  }

  private static let mostMembers: UInt64 = 32
}
