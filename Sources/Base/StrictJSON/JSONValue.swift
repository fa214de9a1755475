/// A parsed JSON value (RFC 8259). Object members keep their order and are unique, and a number that is not a 64-bit
/// integer stays text.
///
/// There is no floating point. Money that arrives as `12.5` or `1e2` is a ``number(_:)``, which no integer accessor
/// accepts, so that it cannot be rounded by accident.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Any other number, as it was written: with a fraction, with an exponent, or beyond 64 bits.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue {
  /// The member of an object; nil when there is none, or when this is no object.
  public subscript(key: String) -> JSONValue? {
    if case .object(let object) = self { object[key] } else { nil }
  }

  /// Cheaper than comparing with ``null``.
  var isNull: Bool { if case .null = self { true } else { false } }

  /// What kind of value this is, in JSON's words, for error messages.
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer: "a whole number"
    case .number: "a number that is not whole"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// The members of a JSON object, in the order in which they were written, each key once.
///
/// Keys are compared as bytes of UTF-8, not as Swift compares strings: two spellings of `é` are two keys.
public struct JSONObject: Sendable {
  /// A tuple would do, but an array of tuples takes longer to grow and to free.
  struct Member: Sendable {
    let key: String
    var value: JSONValue
  }

  private(set) var list: [Member]

  public init() { list = [] }

  /// For the reader, which has checked that the keys are unique.
  init(unique list: [Member]) { self.list = list }

  public var members: [(key: String, value: JSONValue)] { list.map { ($0.key, $0.value) } }
  public var isEmpty: Bool { list.isEmpty }
  public var count: Int { list.count }

  /// The first key that is as wanted; nil when none is.
  public func firstKey(where isWanted: (String) -> Bool) -> String? { list.first { isWanted($0.key) }?.key }

  /// The value of a key. Setting replaces the value in its place, or adds it at the end; setting nil removes it.
  public subscript(key: String) -> JSONValue? {
    get { list.indices.first { list[$0].key.hasSameBytes(as: key) }.map { list[$0].value } }
    set {
      let place = list.firstIndex { $0.key.hasSameBytes(as: key) }
      switch (place, newValue) {
      case (let place?, let value?): list[place].value = value
      case (let place?, nil): list.remove(at: place)
      case (nil, let value?): list.append(Member(key: key, value: value))
      case (nil, nil): break
      }
    }
  }
}

extension JSONObject: Hashable {
  /// Equal when they hold the same members in the same order.
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.list.elementsEqual(right.list) { $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(list.count)
    for member in list {
      hasher.combine(member.key)
      hasher.combine(member.value)
    }
  }
}

extension String {
  /// Whether the two texts have the same bytes. `==` also equates canonically equivalent texts.
  func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let areSame = utf8.withContiguousStorageIfAvailable { bytes in
      other.utf8.withContiguousStorageIfAvailable { other in bytes.indices.allSatisfy { bytes[$0] == other[$0] } }
        ?? bytes.elementsEqual(other.utf8)
    }
    return areSame ?? utf8.elementsEqual(other.utf8)
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init()
    for (key, value) in elements { self[key] = value }
  }
}

extension JSONValue {
  /// The text of a string; nil for anything else.
  package var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// A whole number; nil for anything else.
  package var whole: Int64? {
    if case .integer(let integer) = self { integer } else { nil }
  }

  /// The elements of an array; empty for anything else.
  package var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    var object = JSONObject()
    for (key, value) in elements { object[key] = value }
    self = .object(object)
  }
}
