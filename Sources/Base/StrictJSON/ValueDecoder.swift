/// Where a value stands in its document.
///
/// The path of an error, or of a type that asks for it, is made from it. Most values are read without.
indirect enum ValuePlace {
  case root
  case member(ValuePlace, any CodingKey)

  var path: [any CodingKey] {
    switch self {
    case .root: []
    case .member(let outer, let key): outer.path + [key]
    }
  }

  var text: String { JSONError.path(path) }
}

/// One value of a document, as a `Decoder`.
struct ValueDecoder: Decoder, SingleValueDecodingContainer {
  let value: JSONValue
  let place: ValuePlace
  var codingPath: [any CodingKey] { place.path }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let object) = value else { throw wrongType("an object") }
    return KeyedDecodingContainer(ObjectDecoder<Key>(object: object, place: place))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw wrongType("an array") }
    return ArrayDecoder(elements: elements, place: place)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { value.isNull }

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
      throw JSONError(.invalid, path: place.text, "must be one of \(names)")
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
      throw JSONError(.outOfRange, path: place.text, "a number that is too large or too small here")
    }
    return exact
  }

  private func wrongType(_ wanted: String) -> JSONError {
    let path = place.text
    guard !value.isNull else { return JSONError(.missing, path: path, "must be \(wanted), is null") }
    return JSONError(.wrongType, path: path, "must be \(wanted), is \(value.kind)")
  }
}

/// The members of an object, as a container.
///
/// A text, a number or a boolean is taken from the object itself. Only what is not as it should be, or consists of more,
/// gets a decoder, whose error names the place.
private struct ObjectDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: JSONObject
  let place: ValuePlace
  var codingPath: [any CodingKey] { place.path }

  var allKeys: [Key] { object.list.compactMap { Key(stringValue: $0.key) } }
  func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    if case .bool(let bool) = object[key.stringValue] { bool } else { try member(key).decode(type) }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    if case .string(let text) = object[key.stringValue] { text } else { try member(key).decode(type) }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).decode(type) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decode(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try member(key).decode(type) }

  // The standard library's own would look each member up three times.

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try isPresent(key) ? decode(type, forKey: key) : nil
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try isPresent(key) ? decode(type, forKey: key) : nil
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try isPresent(key) ? decode(type, forKey: key) : nil
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try isPresent(key) ? decode(type, forKey: key) : nil
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let value = object[key.stringValue], !value.isNull else { return nil }
    return try decoder(value, key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { ValueDecoder(value: .object(object), place: place) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

  private func integer<T: FixedWidthInteger & Decodable>(_ key: Key) throws -> T {
    if case .integer(let integer) = object[key.stringValue], let exact = T(exactly: integer) { return exact }
    return try member(key).decode(T.self)
  }

  private func isPresent(_ key: Key) -> Bool {
    if let value = object[key.stringValue] { !value.isNull } else { false }
  }

  private func member(_ key: Key) throws -> ValueDecoder {
    guard let value = object[key.stringValue] else {
      throw JSONError(.missing, path: ValuePlace.member(place, key).text, "missing")
    }
    return decoder(value, key)
  }

  private func decoder(_ value: JSONValue, _ key: Key) -> ValueDecoder {
    ValueDecoder(value: value, place: .member(place, key))
  }
}

/// The elements of an array, as a container.
private struct ArrayDecoder: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let place: ValuePlace
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { place.path }

  init(elements: [JSONValue], place: ValuePlace) {
    self.elements = elements
    self.place = place
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
    let place = ValuePlace.member(place, ElementKey(currentIndex))
    guard currentIndex < elements.count else { throw JSONError(.missing, path: place.text, "missing") }
    return ValueDecoder(value: elements[currentIndex], place: place)
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
