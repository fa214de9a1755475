import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenderPayments

/// The web kit's files: under a short address that always holds the newest, and under a version that never changes.
struct KitController: Sendable {
  private let files: [String: Data]
  private let integrity: [String: String]
  /// Changes whenever a file does, so that a version is immutable by construction.
  let version: String

  init(files: [String: String] = WebFiles.all) {
    self.files = files.mapValues { Data($0.utf8) }
    self.integrity = self.files.mapValues { "sha384-" + Base64.encode(Array(SHA384.hash(data: $0))) }
    let names = integrity.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n")
    self.version = String(Hex.encode(SHA256.hash(data: Data(names.utf8))).prefix(12))
  }

  var names: [String] { files.keys.sorted() }

  /// Whether the kit answers at this path.
  @Sendable static func serves(_ path: String) -> Bool {
    path == "/applepay/sri.json"
      || WebFiles.all.keys.contains { name in
        path == "/applepay/\(name)" || path.hasPrefix("/applepay/v") && path.hasSuffix("/\(name)")
      }
  }

  /// `GET /applepay/{file}`: revalidated on every use.
  func newest(_ request: Request, _ context: ServerContext, _ name: String) throws -> Response {
    try file(name, request, caching: "no-cache")
  }

  /// `GET /applepay/v{version}/{file}`: cached for ever.
  func versioned(_ request: Request, _ context: ServerContext) throws -> Response {
    guard context.parameters.get("version") == version else {
      throw Problem(
        .notFound, "kit_version_unknown", "This server holds version \(version) of the kit; see /applepay/sri.json.")
    }
    return try file(context.parameters.get("file"), request, caching: "public, max-age=31536000, immutable")
  }

  /// `GET /applepay/sri.json`: the version and the Subresource Integrity hash of each file.
  func integrity(_ request: Request, _ context: ServerContext) -> Response {
    JSONAnswer.response(Integrity(version: version, files: integrity))
  }

  private struct Integrity: Encodable {
    let version: String
    let files: [String: String]
  }

  private func file(_ name: String?, _ request: Request, caching: String) throws -> Response {
    guard let name, let data = files[name], let hash = integrity[name] else {
      throw Problem(.notFound, "not_found", "The kit has no such file.")
    }
    let etag = "\"\(hash)\""
    let headers: HTTPFields = [.contentType: Self.type(of: name), .cacheControl: caching, .eTag: etag]
    if request.headers[.ifNoneMatch] == etag { return Response(status: .notModified, headers: headers) }
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }

  private static func type(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "ts": "text/plain; charset=utf-8"
    case "json": "application/json"
    case "svg": "image/svg+xml"
    default: "text/plain; charset=utf-8"
    }
  }
}
