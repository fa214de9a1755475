import Administration
import Crypto
import Foundation
import HTTPServing
import Hummingbird
import TenderPayments

/// Serves the web kit: each file under a short address that always holds the newest, and under a version that never
/// changes.
struct KitController: Sendable {
  /// The files that pages of merchants load.
  static let files = StaticFiles(
    WebFiles.all, compressed: WebFiles.compressed,
    public: [
      "browsers.js", "customer-input.d.ts", "customer-input.js", "elements.js", "tender.css", "tender.d.ts",
      "tender.js",
    ])

  private let integrity: [String: String]
  /// Derived from the content of every file, so a version never changes.
  let version: String

  init() {
    integrity = Dictionary(
      uniqueKeysWithValues: Self.files.names.compactMap { name in Self.files[name].map { (name, $0.integrity) } })
    let names = integrity.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n")
    version = String(Hex.encode(SHA256.hash(data: Data(names.utf8))).prefix(12))
  }

  /// Whether the kit answers at this path.
  @Sendable static func serves(_ path: String) -> Bool {
    path == "/applepay/sri.json"
      || files.names.contains { name in
        path == "/applepay/\(name)" || path.hasPrefix("/applepay/v") && path.hasSuffix("/\(name)")
      }
  }

  /// `GET /applepay/{file}`: revalidated on every use.
  func newest(_ request: Request, _ context: ServerContext, _ name: String) throws -> Response {
    try file(name).response(to: request, caching: "no-cache")
  }

  /// `GET /applepay/v{version}/{file}`: cached for ever.
  func versioned(_ request: Request, _ context: ServerContext) throws -> Response {
    guard context.parameters.get("version") == version else {
      throw Problem(
        .notFound, "kit_version_unknown", "This server holds version \(version) of the kit; see /applepay/sri.json.")
    }
    return try file(context.parameters.get("file"))
      .response(to: request, caching: "public, max-age=31536000, immutable")
  }

  /// `GET /applepay/sri.json`: the version and the Subresource Integrity hash of each file.
  func integrity(_ request: Request, _ context: ServerContext) -> Response {
    JSONAnswer.response(Integrity(version: version, files: integrity))
  }

  private struct Integrity: Encodable {
    let version: String
    let files: [String: String]
  }

  private func file(_ name: String?) throws -> StaticFile {
    guard let file = name.flatMap({ Self.files[$0] }) else {
      throw Problem(.notFound, "not_found", "The kit has no such file.")
    }
    return file
  }
}
