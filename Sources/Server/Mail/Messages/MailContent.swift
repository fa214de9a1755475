import TenderPayments
import TenderSheet

/// What a message says, before it has a form: the same words become plain text and HTML.
package struct MailContent: Sendable, Hashable {
  package struct Row: Sendable, Hashable {
    package let label: String
    package let value: String

    package init(_ label: String, _ value: String) { (self.label, self.value) = (label, value) }
  }

  package struct Action: Sendable, Hashable {
    package let label: String
    package let url: String
  }

  package let subject: String
  package var paragraphs: [String]
  package var rows: [Row] = []
  /// Under the rows, with more weight.
  package var total: Row?
  package var action: Action?
  /// After the rest, with less weight.
  package var note: String?

  package init(subject: String, paragraphs: [String]) { (self.subject, self.paragraphs) = (subject, paragraphs) }

  /// The message as plain text.
  package func text(_ brand: MailBrand) -> String {
    let list = (rows + [total].compactMap(\.self)).map { "\($0.label): \($0.value)" }.joined(separator: "\n")
    let link = action.map { "\($0.label):\n\($0.url)" }
    let parts = paragraphs + [list, link ?? "", note ?? "", "-- \n\(brand.name)"]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// The message as a page of its own, without a script and, but for the logo, without anything from elsewhere.
  package func html(_ brand: MailBrand) -> String {
    let head =
      brand.logoURL.map {
        "<img src=\"\($0.escaped(.markup))\" alt=\"\(brand.name.escaped(.markup))\" height=\"40\">"
      }
      ?? brand.name.escaped(.markup)
    return """
      <!DOCTYPE html>
      <html lang="\(brand.language.rawValue)" dir="\(brand.language.direction)">
      <head><meta charset="utf-8"><title>\(subject.escaped(.markup))</title></head>
      <body style="margin:0;padding:24px;font-family:sans-serif;font-size:16px;line-height:1.5;color:#222;background:#fff">
      <div style="max-width:560px;margin:0 auto">
      <div style="font-size:20px;font-weight:bold;color:\(brand.color);border-bottom:3px solid \(brand.color);padding-bottom:8px">\(head)</div>
      \(HTMLText.paragraphs(paragraphs))\(table)\(button(brand))\(footer)</div>
      </body>
      </html>

      """
  }

  private var table: String {
    guard !rows.isEmpty || total != nil else { return "" }
    let cells =
      rows.map { HTMLText.row($0, style: "") }
      + [total].compactMap(\.self).map {
        HTMLText.row($0, style: ";font-weight:bold;border-top:1px solid #bbb")
      }
    return "<table role=\"presentation\" style=\"width:100%;border-collapse:collapse\">\n\(cells.joined())</table>\n"
  }

  private func button(_ brand: MailBrand) -> String {
    guard let action else { return "" }
    return "<p><a href=\"\(action.url.escaped(.markup))\" style=\"display:inline-block;padding:10px 18px;"
      + "background:\(brand.color);color:#fff;text-decoration:none;border-radius:6px\">"
      + "\(action.label.escaped(.markup))</a></p>\n"
  }

  private var footer: String {
    note.map { "<p style=\"color:#555;font-size:14px;overflow-wrap:anywhere\">\(HTMLText.lines($0))</p>\n" } ?? ""
  }
}

/// Pieces of HTML; every text in them is escaped.
private enum HTMLText {
  static func paragraphs(_ texts: [String]) -> String {
    texts.map { "<p>\(lines($0))</p>\n" }.joined()
  }

  static func lines(_ text: String) -> String { text.escaped(.markup).escaped(["\n": "<br>"]) }

  static func row(_ row: MailContent.Row, style: String) -> String {
    "<tr><td style=\"padding:4px 0\(style)\">\(row.label.escaped(.markup))</td>"
      + "<td style=\"padding:4px 0;text-align:right\(style)\">\(row.value.escaped(.markup))</td></tr>\n"
  }
}
