/// The name of an endpoint in `webhooks`: `orders=https://shop.example/hooks`. Without one, the endpoint's place in the
/// list is its name, so that a URL can change where it stands.
package enum EndpointName {
  package static func split(_ text: String, at index: Int) -> (id: String, url: String) {
    guard let (name, url) = parts(text) else { return (String(index + 1), text) }
    return (name, url)
  }

  /// Whether the text has no name, or one that is a name, and its address is not too long.
  package static func fits(_ text: String) -> Bool {
    let (name, url) = parts(text) ?? ("1", text)
    return isValid(name) && url.utf8.count <= longestAddress
  }

  /// Bytes: every event of the merchant's payments is stored with it.
  package static let longestAddress = 2_048

  /// Nil without a name: an equals sign may stand in the address too.
  private static func parts(_ text: String) -> (name: String, url: String)? {
    guard let sign = text.firstIndex(of: "="), !text[..<sign].contains("/") else { return nil }
    return (String(text[..<sign]), String(text[text.index(after: sign)...]))
  }

  package static let rule = "a name has 1 to 40 letters, digits and hyphens"

  /// 1 to 40 letters, digits and hyphens of ASCII.
  package static func isValid(_ name: String) -> Bool {
    (1...40).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
      }
  }
}
