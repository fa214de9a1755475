import TenderPayments

/// Lines of comma-separated values (RFC 4180).
package enum CSV {
  /// A line for a spreadsheet, with its line end. What would be taken for a formula gets an apostrophe before it (OWASP, CSV
  /// injection), also behind a semicolon, which begins another cell where a comma is the decimal mark.
  package static func line(_ fields: [String]) -> String {
    fields.map { text in
      let safe = defused(text)
      return safe.utf8.elementsEqual(text.utf8) ? field(text) : inQuotes(safe)
    }.joined(separator: ",") + "\r\n"
  }

  /// The text as one field, in quotes where it needs them.
  package static func field(_ text: String) -> String {
    text.utf8.contains { ",;\"\r\n\t".utf8.contains($0) } ? inQuotes(text) : text
  }

  private static func defused(_ text: String) -> String {
    var (bytes, isCellStart) = ([UInt8](), true)
    if let first = text.utf8.first, "\t\r".utf8.contains(first) { bytes.append(UInt8(ascii: "'")) }
    for byte in text.utf8 {
      if isCellStart, "=+-@".utf8.contains(byte) { bytes.append(UInt8(ascii: "'")) }
      bytes.append(byte)
      // Spaces and quotation marks may stand before a formula.
      isCellStart = ";\t\r\n".utf8.contains(byte) || isCellStart && " \"".utf8.contains(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func inQuotes(_ text: String) -> String { "\"\(text.escaped(["\"": "\"\""]))\"" }
}
