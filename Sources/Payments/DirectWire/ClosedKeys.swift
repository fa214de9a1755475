import StrictJSON
package import TenderPayments

/// The members of an object whose every member is known. A member with another name is refused, because a misspelt
/// option of a basket would otherwise silently change a price.
///
/// Texts, whole numbers and truth values have members of their own here: as the values of a generic type they would cost
/// several times as much.
struct ClosedKeys<Key: CodingKey & CaseIterable> {
  private let container: KeyedDecodingContainer<Key>

  /// - Parameter ignored: members that are known, and that nothing here reads.
  init(_ decoder: any Decoder, ignoring ignored: Set<String> = []) throws {
    container = try decoder.container(keyedBy: Key.self)
    guard let key = try Self.unknownKey(decoder, ignored) else { return }
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath + [AnyKey(stringValue: key)],
        debugDescription: "no property of this name is known"))
  }

  /// From the value itself where a ``StrictJSONDecoder`` has it.
  private static func unknownKey(_ decoder: any Decoder, _ ignored: Set<String>) throws -> String? {
    let isUnknown = { (name: String) in Key(stringValue: name) == nil && !ignored.contains(name) }
    if case .object(let object)? = try? JSONValue(from: decoder) { return object.firstKey(where: isUnknown) }
    return try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).first(where: isUnknown)
  }

  func required<T: Decodable>(_ key: Key) throws -> T { try container.decode(T.self, forKey: key) }
  func required(_ key: Key) throws -> String { try container.decode(String.self, forKey: key) }
  func required(_ key: Key) throws -> Int64 { try container.decode(Int64.self, forKey: key) }
  func optional<T: Decodable>(_ key: Key) throws -> T? { try container.decodeIfPresent(T.self, forKey: key) }
  func optional(_ key: Key) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
  func optional(_ key: Key) throws -> Int64? { try container.decodeIfPresent(Int64.self, forKey: key) }
  func optional(_ key: Key) throws -> Bool? { try container.decodeIfPresent(Bool.self, forKey: key) }
  /// Nil where it is absent. Null is refused: no value that a program has lost may stand for all that is left.
  func absentOrGiven<T: Decodable>(_ key: Key) throws -> T? { container.contains(key) ? try required(key) as T : nil }
  /// Absent and null are the empty list.
  func list<T: Decodable>(_ key: Key) throws -> [T] { try optional(key) ?? [] }
}

struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// A moment as RFC 3339 text in UTC, from 1970 to 9999: `2030-01-01T00:00:00Z`. To the second, so that what is written
/// is what was read.
package struct WireTime: Sendable, Hashable, Codable {
  package let timestamp: Timestamp
  /// The moment without its fraction of a second.
  package init(_ timestamp: Timestamp) { self.timestamp = Timestamp(seconds: timestamp.seconds) }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let timestamp = Timestamp(rfc3339: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "not a time from 1970 to 9999 as 2030-01-01T00:00:00Z")
    }
    self.init(timestamp)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(timestamp.description)
  }
}
