package import TenderPayments

/// The members of an object whose every member is known. A member with another name is refused, because a misspelt
/// option of a basket would otherwise silently change a price.
struct ClosedKeys<Key: CodingKey & CaseIterable> {
  private let container: KeyedDecodingContainer<Key>

  init(_ decoder: any Decoder) throws {
    let known = Set(Key.allCases.map(\.stringValue))
    for key in try decoder.container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath + [key], debugDescription: "no property of this name is known"))
    }
    container = try decoder.container(keyedBy: Key.self)
  }

  func required<T: Decodable>(_ key: Key) throws -> T { try container.decode(T.self, forKey: key) }
  func optional<T: Decodable>(_ key: Key) throws -> T? { try container.decodeIfPresent(T.self, forKey: key) }
  /// Absent and null are the empty list.
  func list<T: Decodable>(_ key: Key) throws -> [T] { try optional(key) ?? [] }
}

private struct AnyKey: CodingKey {
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
