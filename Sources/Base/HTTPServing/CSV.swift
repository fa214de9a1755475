import TenderPayments

/// Lines of comma-separated values (RFC 4180).
package enum CSV {
  /// A line for a spreadsheet, with its line end. A field that would be taken for a formula gets an apostrophe before it
  /// (OWASP, CSV injection).
  package static func line(_ fields: [String]) -> String {
    fields.map { isFormula($0) ? inQuotes("'" + $0) : field($0) }.joined(separator: ",") + "\r\n"
  }

  /// The text as one field, in quotes where it needs them.
  package static func field(_ text: String) -> String {
    text.utf8.contains { ",\"\r\n".utf8.contains($0) } ? inQuotes(text) : text
  }

  private static func isFormula(_ text: String) -> Bool {
    text.utf8.first.map { "=+-@\t\r".utf8.contains($0) } ?? false
  }

  private static func inQuotes(_ text: String) -> String { "\"\(text.escaped(["\"": "\"\""]))\"" }
}
