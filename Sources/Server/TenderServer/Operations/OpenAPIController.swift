import Administration
import HTTPServing
import Hummingbird

/// Describes every HTTP API of the public listener, in OpenAPI 3.1.
struct OpenAPIController: Sendable {
  /// It holds nothing of any merchant's, so any page may read it.
  static let path = "/openapi.json"
  private static let files = StaticFiles(WebFiles.all, compressed: WebFiles.compressed, public: ["openapi.json"])

  /// `GET /openapi.json`: revalidated on every use.
  func show(_ request: Request, _ context: ServerContext) throws -> Response {
    guard let file = Self.files["openapi.json"] else { throw Problem(.notFound, "not_found", "There is no document.") }
    return file.response(to: request, caching: "no-cache")
  }
}
