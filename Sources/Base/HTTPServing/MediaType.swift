/// The media types of what Tender serves.
package enum MediaType {
  package static let csv = "text/csv"
  package static let html = "text/html; charset=utf-8"
  package static let json = "application/json"
  package static let jsonLines = "application/jsonl"
  package static let text = "text/plain; charset=utf-8"

  /// By the end of the file's name; plain text for a name that says nothing.
  package static func ofFile(_ name: String) -> String {
    switch name.split(separator: ".").last {
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "html": html
    case "json": json
    case "svg": "image/svg+xml"
    default: text
    }
  }
}
