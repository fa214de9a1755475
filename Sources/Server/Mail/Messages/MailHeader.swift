import TenderPayments

/// The texts of a message's header, RFC 5322 and RFC 2047. Nothing that is put into one can begin another.
enum MailHeader {
  /// A line of the header, with its line end.
  static func line(_ name: String, _ value: String) -> String { "\(name): \(value)\r\n" }

  /// Free text, as in a subject.
  static func text(_ text: String) -> String {
    let clean = printable(text)
    let (first, last) = (clean.utf8.first, clean.utf8.last)
    guard clean.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }), clean.utf8.count <= 60, first != 0x20, last != 0x20,
      !clean.contains("=?")
    else { return encodedWords(clean) }
    return clean
  }

  /// `"Harbour Kitchen" <orders@shop.example>`, or the address alone.
  static func mailbox(_ name: String?, _ address: MailAddress) -> String {
    guard let name, !name.isEmpty else { return address.text }
    let clean = printable(name)
    guard clean.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }), clean.utf8.count <= 60, !clean.contains("=?") else {
      return "\(encodedWords(clean)) <\(address)>"
    }
    let quoted = clean.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(quoted)\" <\(address)>"
  }

  /// The text without control characters and line ends of any kind: they become spaces.
  static func printable(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: " "
      default: scalar
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// Encoded words in base64 of at most 75 letters, each of whole characters, a line for each.
  private static func encodedWords(_ text: String) -> String {
    var words: [[UInt8]] = [[]]
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if words[words.count - 1].count + bytes.count > 45 { words.append([]) }
      words[words.count - 1] += bytes
    }
    return words.map { "=?UTF-8?B?\(Base64.encode($0))?=" }.joined(separator: "\r\n ")
  }
}
