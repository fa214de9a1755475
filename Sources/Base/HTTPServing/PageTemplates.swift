import HTTPTypes
package import Hummingbird
import Mustache
import NIOCore

/// The HTML pages of a module: Mustache templates, parsed once. Every value is escaped where a template shows it.
package struct PageTemplates: Sendable {
  private let library: MustacheLibrary

  /// - Parameter templates: text by name. A template includes another by its name.
  /// - Throws: when a template cannot be parsed.
  package init(_ templates: [String: String]) throws {
    library = MustacheLibrary(templates: try templates.mapValues { try MustacheTemplate(string: $0) })
  }

  /// The page as HTML.
  ///
  /// - Throws: ``UnknownTemplate``
  package func html(_ name: String, _ values: Any) throws -> String {
    guard let html = library.render(values, withTemplate: name) else { throw UnknownTemplate(name: name) }
    return html
  }

  package func response(_ name: String, _ values: Any) throws -> Response { .html(try html(name, values)) }

  package struct UnknownTemplate: Error {
    package let name: String
  }
}

extension Response {
  /// A page that a browser asks for again at each visit.
  package static func html(_ text: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: MediaType.html, .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}
