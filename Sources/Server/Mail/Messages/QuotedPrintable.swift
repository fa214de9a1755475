/// The transfer encoding `quoted-printable`, RFC 2045 §6.7, of a text in UTF-8. Lines end in CRLF and have at most 76
/// letters.
enum QuotedPrintable {
  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let maximumLine = 76

  static func encode(_ text: String) -> String {
    let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
      .split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { String(decoding: encode(line: Array($0.utf8)), as: UTF8.self) }.joined(separator: "\r\n")
  }

  private static func encode(line: [UInt8]) -> [UInt8] {
    var (encoded, column) = ([UInt8](), 0)
    for (index, byte) in line.enumerated() {
      let piece = piece(byte, isLast: index == line.count - 1)
      // One place stays free for the `=` that ends the line softly.
      if column + piece.count > maximumLine - 1 {
        encoded += Array("=\r\n".utf8)
        column = 0
      }
      encoded += piece
      column += piece.count
    }
    return encoded
  }

  /// A space at the end of a line may be lost on the way, so it is encoded there.
  private static func piece(_ byte: UInt8, isLast: Bool) -> [UInt8] {
    let isPlain = (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "=")
    guard !isPlain && (isLast || byte != 0x20 && byte != 0x09) else { return [byte] }
    return [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
  }
}
