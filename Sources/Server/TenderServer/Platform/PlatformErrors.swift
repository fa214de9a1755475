import HTTPServing
import HTTPTypes
import Hummingbird
import DirectWire

/// Answers errors below `/v2/` in Worldline Direct's shape, which its official SDKs read, also for addresses that there
/// are not. The fault's `id` is our stable code in capitals, but for the few that Worldline names itself.
struct PlatformErrors: RouterMiddleware {
  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    guard request.uri.path.hasPrefix("/v2/") else { return try await next(request, context) }
    do { return try await next(request, context) } catch {
      let problem = ProblemTable.problem(for: error)
      // What is wrong on our side is for the outermost recorder, which logs it.
      guard problem.status.code < 500 else { throw error }
      let fault = Self.fault(problem)
      var response = JSONAnswer.response(PlatformError(errorId: context.requestID, fault), status: problem.status)
      response.headers[.allow] = problem.allow
      return response
    }
  }

  private static func fault(_ problem: Problem) -> PlatformFault {
    guard problem.code != PlatformAuthentication.refusal.code else { return .accessNotAllowed }
    let (code, errorCode) = problem.status.code == 404 ? ("1002", "50001130") : ("1008", "50001111")
    return PlatformFault(
      code: code, errorCode: errorCode, httpStatusCode: problem.status.code, id: problem.code.uppercased(),
      message: problem.detail, propertyName: problem.field, retriable: problem.retryAfter != nil)
  }
}
