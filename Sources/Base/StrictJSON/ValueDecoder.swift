/// One value of a document, as a `Decoder`.
struct ValueDecoder: Decoder, SingleValueDecodingContainer {
  let value: JSONValue
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let object) = value else { throw wrongType("an object") }
    return KeyedDecodingContainer(ObjectDecoder<Key>(object: object, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw wrongType("an array") }
    return ArrayDecoder(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { value == .null }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard case .bool(let bool) = value else { throw wrongType("true or false") }
    return bool
  }

  func decode(_ type: String.Type) throws -> String {
    guard case .string(let text) = value else { throw wrongType("a string") }
    return text
  }

  /// Always throws: a JSON number is an integer, or text that the caller must parse.
  func decode(_ type: Double.Type) throws -> Double { throw wrongType("something without floating point") }
  func decode(_ type: Float.Type) throws -> Float { throw wrongType("something without floating point") }

  func decode(_ type: Int.Type) throws -> Int { try integer() }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
  func decode(_ type: UInt.Type) throws -> UInt { try integer() }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    do { return try T(from: self) } catch DecodingError.dataCorrupted(let context) {
      guard let names = Self.names(of: type) else { throw DecodingError.dataCorrupted(context) }
      throw JSONError(.invalid, path: JSONError.path(codingPath), "must be one of \(names)")
    }
  }

  /// The values of an enumeration. The standard library's own error names our type and repeats the value.
  private static func names(of type: any Decodable.Type) -> String? {
    func listed<E: CaseIterable>(_ type: E.Type) -> String {
      type.allCases.map { "\(($0 as? any RawRepresentable)?.rawValue ?? $0)" }.joined(separator: ", ")
    }
    guard let type = type as? any CaseIterable.Type else { return nil }
    return listed(type)
  }

  private func integer<T: FixedWidthInteger>() throws -> T {
    guard case .integer(let integer) = value else { throw wrongType("a whole number") }
    guard let exact = T(exactly: integer) else {
      throw JSONError(.outOfRange, path: JSONError.path(codingPath), "a number that is too large or too small here")
    }
    return exact
  }

  private func wrongType(_ wanted: String) -> JSONError {
    let path = JSONError.path(codingPath)
    guard value != .null else { return JSONError(.missing, path: path, "must be \(wanted), is null") }
    return JSONError(.wrongType, path: path, "must be \(wanted), is \(value.kind)")
  }
}

/// The members of an object, as a container.
private struct ObjectDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: JSONObject
  let codingPath: [any CodingKey]

  var allKeys: [Key] { object.list.compactMap { Key(stringValue: $0.key) } }
  func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(type) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).decode(type) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).decode(type) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decode(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).decode(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).decode(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).decode(type) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).decode(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).decode(type) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).decode(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).decode(type) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).decode(type) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).decode(type) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).decode(type) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try member(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { ValueDecoder(value: .object(object), codingPath: codingPath) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

  private func member(_ key: Key) throws -> ValueDecoder {
    let path = codingPath + [key]
    guard let value = object[key.stringValue] else { throw JSONError(.missing, path: JSONError.path(path), "missing") }
    return ValueDecoder(value: value, codingPath: path)
  }
}

/// The elements of an array, as a container.
private struct ArrayDecoder: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(elements: [JSONValue], codingPath: [any CodingKey]) {
    self.elements = elements
    self.codingPath = codingPath
  }

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  mutating func decodeNil() throws -> Bool {
    guard try next().decodeNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try next().decode(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try next().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try next().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try next()
    currentIndex += 1
    return decoder
  }

  private func next() throws -> ValueDecoder {
    let path = codingPath + [ElementKey(currentIndex)]
    guard currentIndex < elements.count else { throw JSONError(.missing, path: JSONError.path(path), "missing") }
    return ValueDecoder(value: elements[currentIndex], codingPath: path)
  }
}

/// The place in an array, as a key of a path.
private struct ElementKey: CodingKey {
  let intValue: Int?
  var stringValue: String { "\(intValue ?? 0)" }

  init(_ index: Int) { intValue = index }
  init?(stringValue: String) { nil }
  init?(intValue: Int) { self.intValue = intValue }
}
