import HTTPTypes
package import Hummingbird
import Mustache
import NIOCore
import Synchronization
import TenderPayments

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

/// Takes the place of Mustache's own escaping, which compares Characters.
private struct EscapedHTML: MustacheContentType {
  static let name = "EscapedHTML"

  func escapeText(_ text: String) -> String { text.escaped(.markup) }
}

extension Response {
  /// A page that a browser asks for again at each visit.
  package static func html(_ text: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: MediaType.html, .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}
