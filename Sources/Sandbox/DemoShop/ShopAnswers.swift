import HTTPServing
import HTTPTypes
import Hummingbird

/// A refusal, as the shop's page gets it: `{code, detail}`.
struct ShopError: HTTPResponseError {
  let status: HTTPResponse.Status
  let code: String
  let detail: String

  init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
    self.status = status
    self.code = code
    self.detail = detail
  }

  func response(from request: Request, context: some RequestContext) -> Response {
    JSONAnswer.response(["code": code, "detail": detail], status: status)
  }
}

/// What a browser may load on the shop's page: the shop's own files, Tender's, and in a simulated environment the
/// sandbox's.
struct PageHeaders: RouterMiddleware {
  /// The operator's own page may hold inline scripts, so it gets no policy.
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
    if request.uri.path != Self.visitorsPath.description, response.headers[.contentSecurityPolicy] == nil {
      response.headers[.contentSecurityPolicy] = policy
    }
    response.headers[.xContentTypeOptions] = "nosniff"
    response.headers[.strictReferrer] = "no-referrer"
    return response
  }
}

extension HTTPField.Name {
  fileprivate static let strictReferrer = HTTPField.Name("Referrer-Policy")!
}
