import Crypto
import HTTPTypes
package import Hummingbird
import NIOCore
import TenderPayments

/// The files that anyone may load, by name. A file that is embedded and not on the list is not served.
package struct StaticFiles: Sendable {
  private let files: [String: StaticFile]

  /// - Parameters:
  ///   - embedded: text by name.
  ///   - names: the public ones.
  package init(_ embedded: [String: String], public names: [String]) {
    files = names.reduce(into: [:]) { files, name in
      files[name] = embedded[name].map { StaticFile(name, $0) }
    }
  }

  package var names: [String] { files.keys.sorted() }
  package subscript(_ name: String) -> StaticFile? { files[name] }
}

/// A file with what its response needs.
package struct StaticFile: Sendable {
  /// The hash for Subresource Integrity: `sha384-…`.
  package let integrity: String
  private let content: ByteBuffer
  private let mediaType: String

  fileprivate init(_ name: String, _ text: String) {
    content = ByteBuffer(string: text)
    mediaType = MediaType.ofFile(name)
    integrity = "sha384-" + Base64.encode(Array(SHA384.hash(data: Array(text.utf8))))
  }

  package func response(caching: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: mediaType, .cacheControl: caching], body: ResponseBody(byteBuffer: content))
  }

  /// With an entity tag; 304 when the caller has the file already.
  package func response(to request: Request, caching: String) -> Response {
    let tag = "\"\(integrity)\""
    var response = response(caching: caching)
    if request.headers[.ifNoneMatch] == tag { response = Response(status: .notModified, headers: response.headers) }
    response.headers[.eTag] = tag
    return response
  }
}
