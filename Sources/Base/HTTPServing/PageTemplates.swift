import HTTPTypes
package import Hummingbird
import Mustache
import NIOCore
import Synchronization

/// The HTML pages of a module: Mustache templates, parsed once, when the first page is shown. A server that shows none
/// starts sooner. Every value is escaped where a template shows it.
package final class PageTemplates: Sendable {
  private let templates: [String: String]
  private let parsed = Mutex<MustacheLibrary?>(nil)

  /// - Parameter templates: text by name. A template includes another by its name.
  package init(_ templates: [String: String]) { self.templates = templates }

  /// The page as HTML.
  ///
  /// - Throws: ``UnknownTemplate``, or when one of the templates cannot be parsed.
  package func html(_ name: String, _ values: Any) throws -> String {
    guard let html = try library().render(values, withTemplate: name) else { throw UnknownTemplate(name: name) }
    return html
  }

  private func library() throws -> MustacheLibrary {
    try parsed.withLock { parsed in
      let library = try parsed ?? parse()
      parsed = library
      return library
    }
  }

  private func parse() throws -> MustacheLibrary {
    MustacheContentTypes.register(EscapedHTML(), named: EscapedHTML.name)
    let head = "{{% CONTENT_TYPE:\(EscapedHTML.name)}}\n"
    return MustacheLibrary(templates: try templates.mapValues { try MustacheTemplate(string: head + $0) })
  }

  package func response(_ name: String, _ values: Any) throws -> Response { .html(try html(name, values)) }

  package struct UnknownTemplate: Error {
    package let name: String
  }
}

/// Escapes the bytes of a text, for elements and for attributes in either quote.
///
/// Mustache's own escaping compares characters, and a quote with a combining mark behind it is another character: it
/// would end an attribute.
struct EscapedHTML: MustacheContentType {
  static let name = "EscapedHTML"

  func escapeText(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if let name = Self.names[byte] { bytes += name } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let names: [UInt8: [UInt8]] = [
    UInt8(ascii: "<"): Array("&lt;".utf8), UInt8(ascii: ">"): Array("&gt;".utf8),
    UInt8(ascii: "&"): Array("&amp;".utf8), UInt8(ascii: "\""): Array("&quot;".utf8),
    UInt8(ascii: "'"): Array("&#39;".utf8),
  ]
}

extension Response {
  /// A page that a browser asks for again at each visit.
  package static func html(_ text: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: MediaType.html, .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}
