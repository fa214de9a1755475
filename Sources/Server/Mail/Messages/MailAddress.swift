/// An e-mail address in plain ASCII, such as `orders@shop.example`.
package struct MailAddress: Sendable, Hashable, CustomStringConvertible {
  package let text: String

  /// Nil for what is not one address, and for one that would need SMTPUTF8: the part before the @ is of letters, digits
  /// and the marks of RFC 5322's `atext`, the host of letters, digits, hyphens and dots.
  package init?(_ text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, text.utf8.count <= 254, Self.isLocalPart(parts[0]), Self.isHost(parts[1]) else {
      return nil
    }
    self.text = text
  }

  /// What follows the @.
  package var host: String { String(text.drop { $0 != "@" }.dropFirst()) }
  package var description: String { text }

  private static let marks = Set("!#$%&'*+-/=?^_`{|}~.".utf8)

  private static func isLocalPart(_ part: Substring) -> Bool {
    (1...64).contains(part.utf8.count) && part.first != "." && part.last != "." && !part.contains("..")
      && part.utf8.allSatisfy { isLetterOrDigit($0) || marks.contains($0) }
  }

  private static func isHost(_ part: Substring) -> Bool {
    part.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}
