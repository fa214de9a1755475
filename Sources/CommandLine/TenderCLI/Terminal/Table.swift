import CommandSupport

/// Rows below headers, for people. A column is as wide as its widest cell.
struct Table {
  private let headers: [String]
  private var rows: [[String]] = []

  init(_ headers: String...) { self.headers = headers }

  init<Element>(_ headers: String..., of elements: [Element], cells: (Element) -> [String]) {
    self.headers = headers
    rows = elements.map(cells)
  }

  /// The lines, or nothing where there is no row.
  var lines: [String] {
    guard !rows.isEmpty else { return [] }
    let widths = headers.indices.map { column in ([headers] + rows).map { $0[column].count }.max() ?? 0 }
    return ([headers] + rows).map { Self.line($0, widths) }
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
    return String(padded.reversed().drop { $0 == " " }.reversed())
  }

  /// Prints the table. Where there is no row, standard error says so.
  ///
  /// - Parameter noun: what a row is, in the singular.
  func show(_ noun: String) {
    if rows.isEmpty { Terminal.sayError("no \(noun)") }
    for line in lines { Terminal.say(line) }
  }
}
