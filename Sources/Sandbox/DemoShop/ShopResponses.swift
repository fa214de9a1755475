import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// An error, as the shop's page gets it: `{code, detail}`.
struct ShopError: HTTPResponseError {
  let status: HTTPResponse.Status
  let code: String
  let detail: String

  init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
    self.status = status
    self.code = code
    self.detail = detail
  }

  func response(from request: Request, context: some RequestContext) throws -> Response {
    try JSONResponse.response(["code": code, "detail": detail], status: status)
  }
}

enum JSONResponse {
  static func response(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Response(
      status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
  }
}

/// What a browser may load on the shop's page: the shop's own files, Tender's, and in a simulated environment the
/// sandbox's.
struct PageHeaders: RouterMiddleware {
  /// The path of a merchant's own page, which may hold inline scripts and so gets no policy.
  static let visitorsPath: RouterPath = "/page"

  private let policy: String

  init(configuration: ShopConfiguration) {
    let sources = (["'self'", configuration.publicTenderURL] + [configuration.publicSandboxURL].compactMap { $0 })
      .joined(separator: " ")
    policy = [
      "default-src 'none'", "script-src \(sources)", "style-src \(sources)", "connect-src \(sources)",
      "img-src 'self' data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")
  }

  func handle(
    _ request: Request, context: BasicRequestContext, next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    if request.uri.path != Self.visitorsPath.description { response.headers[.contentSecurityPolicy] = policy }
    response.headers[.xContentTypeOptions] = "nosniff"
    response.headers[.strictReferrer] = "no-referrer"
    return response
  }
}

extension HTTPField.Name {
  fileprivate static let strictReferrer = HTTPField.Name("Referrer-Policy")!
}
