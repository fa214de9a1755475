import TenderPayments

/// Lines of comma-separated values (RFC 4180).
package enum CSV {
  /// A line for a spreadsheet, with its line end. What would be taken for a formula gets an apostrophe before it (OWASP,
  /// CSV injection), also behind a semicolon, which begins another cell where a comma is the decimal mark.
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

  /// Signs that begin a formula. Spreadsheets of East Asian locales take the full-width ones too.
  private static let signs = Set("=+-@＝＋－＠".unicodeScalars)

  private static func defused(_ text: String) -> String {
    var (scalars, isCellStart) = (String.UnicodeScalarView(), true)
    if let first = text.utf8.first, "\t\r\n".utf8.contains(first) { scalars.append("'") }
    for scalar in text.unicodeScalars {
      if isCellStart, signs.contains(scalar) { scalars.append("'") }
      scalars.append(scalar)
      // Quotation marks and what does not show may stand before a formula.
      isCellStart = ";\t\r\n".unicodeScalars.contains(scalar) || isCellStart && (scalar == "\"" || scalar.isBlank)
    }
    return String(scalars)
  }

  private static func inQuotes(_ text: String) -> String { "\"\(text.escaped(["\"": "\"\""]))\"" }
}

extension Unicode.Scalar {
  fileprivate var isBlank: Bool {
    properties.isWhitespace || [.control, .format].contains(properties.generalCategory)
  }
}
