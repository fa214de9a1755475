/// Limits of the shopper's texts in Unicode scalars, each of at most four bytes. Graphemes would not limit the bytes.
package enum TextLimits {
  /// One field of a contact, a coupon code, the name of a shipping method.
  package static let field = 256
  /// The bytes of an e-mail address (RFC 5321).
  package static let emailAddress = 254
  /// The lines of one address.
  package static let addressLines = 16

  /// Whether the text has at most `most` Unicode scalars.
  package static func holds(_ text: String, most: Int) -> Bool {
    text.utf8.count <= most || text.utf8.count <= 4 * most && text.unicodeScalars.count <= most
  }
}

extension KeyedDecodingContainer {
  /// The text of a field; nil when it is missing or null.
  func text(forKey key: Key) throws -> String? {
    try decodeIfPresent(String.self, forKey: key).map { try limited($0, forKey: key) }
  }

  /// Returns the text of a key if it is within the limit.
  ///
  /// - Throws: when it is longer than ``TextLimits/field``.
  package func limited(_ text: String, forKey key: Key) throws -> String {
    guard TextLimits.holds(text, most: TextLimits.field) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "more than \(TextLimits.field) characters")
    }
    return text
  }
}
