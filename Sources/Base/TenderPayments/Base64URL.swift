/// Base64 of RFC 4648 §5 without padding, as JOSE writes it, strict: the URL alphabet alone, unused bits zero.
package enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    Base64.encode(bytes, with: alphabet, isPadded: false)
  }

  /// The bytes; nil for any other encoding of them.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.allSatisfy({ !"+/=".utf8.contains($0) }) else { return nil }
    let padding = repeatElement(UInt8(ascii: "="), count: (4 - text.utf8.count % 4) % 4)
    return Base64.decode(String(decoding: text.utf8.map(standardDigit) + padding, as: UTF8.self))
  }

  private static func standardDigit(_ digit: UInt8) -> UInt8 {
    switch digit {
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: digit
    }
  }
}
