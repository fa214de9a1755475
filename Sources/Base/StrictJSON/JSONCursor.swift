/// A position in a JSON text, with one parsing method for each rule of the grammar.
struct JSONCursor {
  let bytes: [UInt8]
  /// How many more levels may be opened.
  var depth: Int
  var index = 0

  init(bytes: [UInt8], depth: Int) {
    self.bytes = bytes
    self.depth = depth
  }

  mutating func document() throws(JSONError) -> JSONValue {
    skipSpace()
    guard index < bytes.count else { throw JSONError(.empty, offset: index, "no JSON at all") }
    let value = try value()
    skipSpace()
    guard index == bytes.count else {
      throw JSONError(.trailingBytes, offset: index, "something after the end of the text")
    }
    return value
  }

  mutating func value() throws(JSONError) -> JSONValue {
    switch peek {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), .some(0x30...0x39): return try number()
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: throw unexpected("a value")
    }
  }

  private mutating func array() throws(JSONError) -> [JSONValue] {
    try enter()
    var elements: [JSONValue] = []
    guard !opensEmpty(closing: UInt8(ascii: "]")) else { return elements }
    repeat {
      elements.append(try value())
    } while try continues(closing: UInt8(ascii: "]"))
    return elements
  }

  private mutating func object() throws(JSONError) -> JSONObject {
    try enter()
    var members = UniqueMembers()
    guard !opensEmpty(closing: UInt8(ascii: "}")) else { return JSONObject() }
    repeat {
      let start = index
      guard peek == UInt8(ascii: "\"") else { throw unexpected("a key in quotes") }
      let key = try string()
      try colon()
      let value = try value()
      guard members.add(key, value) else { throw JSONError(.duplicateKey, offset: start, "a key that stood before") }
    } while try continues(closing: UInt8(ascii: "}"))
    return JSONObject(unique: members.list)
  }

  /// Consumes the opening bracket and descends one level.
  private mutating func enter() throws(JSONError) {
    guard depth > 0 else { throw JSONError(.depth, offset: index, "too many levels of arrays and objects") }
    depth -= 1
    index += 1
    skipSpace()
  }

  private mutating func opensEmpty(closing: UInt8) -> Bool {
    guard peek == closing else { return false }
    leave()
    return true
  }

  /// After an element, consumes a comma and returns true, or consumes the closing bracket and returns false.
  private mutating func continues(closing: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    if peek == closing {
      leave()
      return false
    }
    guard peek == UInt8(ascii: ",") else { throw unexpected("a comma or the closing bracket") }
    let comma = index
    index += 1
    skipSpace()
    guard peek != closing else { throw JSONError(.trailingComma, offset: comma, "a comma after the last element") }
    return true
  }

  private mutating func leave() {
    depth += 1
    index += 1
  }

  private mutating func colon() throws(JSONError) {
    skipSpace()
    guard peek == UInt8(ascii: ":") else { throw unexpected("a colon after the key") }
    index += 1
    skipSpace()
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
    let end = index + word.utf8CodeUnitCount
    let matches = end <= bytes.count && word.withUTF8Buffer { bytes[index..<end].elementsEqual($0) }
    guard matches else { throw unexpected("a value") }
    index = end
    return value
  }
}

extension JSONCursor {
  /// The byte here; nil at the end.
  var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
  }

  func unexpected(_ wanted: String) -> JSONError {
    guard index < bytes.count else {
      return JSONError(.unexpectedEnd, offset: index, "the text ends where \(wanted) should stand")
    }
    return JSONError(.unexpectedByte, offset: index, "something else where \(wanted) should stand")
  }
}

/// The members of the object being read. Few keys are compared one by one; many are looked up in a set, so that the
/// cost stays linear.
private struct UniqueMembers {
  /// Most objects have no more, so that their list is allocated once.
  private static let usualCount = 8
  private(set) var list: [JSONObject.Member] = []
  private var keys: Set<KeyBytes> = []

  /// False when the key exists already.
  mutating func add(_ key: String, _ value: JSONValue) -> Bool {
    guard isNew(key) else { return false }
    if list.isEmpty { list.reserveCapacity(Self.usualCount) }
    list.append(JSONObject.Member(key: key, value: value))
    return true
  }

  private mutating func isNew(_ key: String) -> Bool {
    guard list.count >= 16 else {
      return !list.indices.contains { list[$0].key.hasSameBytes(as: key) }
    }
    if keys.isEmpty { keys = Set(list.map { KeyBytes(key: $0.key) }) }
    return keys.insert(KeyBytes(key: key)).inserted
  }
}

/// A key that is hashed and compared by its UTF-8.
private struct KeyBytes: Hashable {
  var key: String

  static func == (left: KeyBytes, right: KeyBytes) -> Bool { left.key.hasSameBytes(as: right.key) }

  func hash(into hasher: inout Hasher) {
    var key = key
    key.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
