/// The media types of the files that Tender serves, by the end of a file's name.
package enum MediaType {
  package static let html = "text/html; charset=utf-8"
  package static let json = "application/json"
  package static let text = "text/plain; charset=utf-8"

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
