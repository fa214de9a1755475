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
  ///   - compressed: the same files by content coding and name, in Base64.
  ///   - names: the public ones.
  package init(
    _ embedded: [String: String], compressed: [String: [String: String]] = [:], public names: [String]
  ) {
    files = names.reduce(into: [:]) { files, name in
      let forms = ContentCoding.allCases.compactMap { coding in
        compressed[coding.rawValue]?[name].flatMap(Base64.decode).map { (coding, ByteBuffer(bytes: $0)) }
      }
      files[name] = embedded[name].map { StaticFile(name, $0, forms) }
    }
  }

  package var names: [String] { files.keys.sorted() }
  package subscript(_ name: String) -> StaticFile? { files[name] }
}

/// A file with what its response needs.
package struct StaticFile: Sendable {
  /// The hash for Subresource Integrity, `sha384-…`, of the file as it is: browsers decode before they compare.
  package let integrity: String
  private let content: ByteBuffer
  private let compressed: [(coding: ContentCoding, content: ByteBuffer)]
  private let mediaType: String

  fileprivate init(_ name: String, _ text: String, _ compressed: [(ContentCoding, ByteBuffer)]) {
    content = ByteBuffer(string: text)
    self.compressed = compressed.map { (coding: $0.0, content: $0.1) }
    mediaType = MediaType.ofFile(name)
    integrity = "sha384-" + Base64.encode(Array(SHA384.hash(data: Array(text.utf8))))
  }

  package func response(caching: String) -> Response { response(caching, nil) }

  /// In a content coding that the caller takes, with an entity tag for it; 304 when the caller has that already.
  package func response(to request: Request, caching: String) -> Response {
    let coding = AcceptedCodings(request.headers[.acceptEncoding]).best(of: compressed.map(\.coding))
    let tag = "\"\(integrity)\(coding.map { "-" + $0.rawValue } ?? "")\""
    var response = response(caching, coding)
    if Self.matches(request.headers[.ifNoneMatch], tag) {
      response = Response(status: .notModified, headers: response.headers)
    }
    response.headers[.eTag] = tag
    return response
  }

  private func response(_ caching: String, _ coding: ContentCoding?) -> Response {
    var headers: HTTPFields = [.contentType: mediaType, .cacheControl: caching]
    headers[.contentEncoding] = coding?.rawValue
    if !compressed.isEmpty { headers[.vary] = "Accept-Encoding" }
    let body = compressed.first { $0.coding == coding }?.content ?? content
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
  }

  /// Whether a list of tags names this one; weak ones do too (RFC 9110, section 13.1.2).
  private static func matches(_ field: String?, _ tag: String) -> Bool {
    (field ?? "").split(separator: ",").contains { item in
      let named = item.drop { $0 == " " }.prefix { $0 != " " }
      return named == "*" || (named.hasPrefix("W/") ? named.dropFirst(2) : named) == tag
    }
  }
}
