import Administration
import DirectWire
import HTTPServing
import HTTPTypes
import Hummingbird
import PlatformAPI

/// Answers errors below `/v2/` in Worldline Direct's shape, which its official SDKs read, also for addresses that there
/// are not, and also what is wrong on our side. The fault's `id` is our stable code in capitals, but for those that
/// Worldline names itself.
struct PlatformErrors: RouterMiddleware {
  /// Logs and counts.
  let problems: ProblemAnswers

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    // The router passes over doubled slashes.
    let path = "/" + request.uri.path.split(separator: "/").joined(separator: "/")
    guard path.utf8.starts(with: "/v2/".utf8) || ClientController.serves(path) else {
      return try await next(request, context)
    }
    do { return try await next(request, context) } catch let refusal as PlatformRefusal {
      problems.metrics.refusals.count(["code": refusal.faults.first?.id.lowercased() ?? ""])
      return Self.response(refusal, context)
    } catch {
      return Self.response(problems.note(error, context), context)
    }
  }

  private static func response(_ refusal: PlatformRefusal, _ context: ServerContext) -> Response {
    var response = JSONAnswer.response(
      refusal.answer(id: context.requestID), status: HTTPResponse.Status(code: refusal.status))
    response.headers.note(firstCall: refusal.firstCallAt)
    return response
  }

  private static func response(_ problem: Problem, _ context: ServerContext) -> Response {
    let faults = PlatformFault.all(
      ours: problem.code, status: problem.status.code, detail: problem.detail, property: problem.field,
      isRetriable: problem.retryAfter != nil)
    let status = faults.first?.httpStatusCode ?? problem.status.code
    var response = JSONAnswer.response(
      PlatformError(errorId: context.requestID, status: status, errors: faults),
      status: HTTPResponse.Status(code: status))
    response.headers[.allow] = problem.allow
    response.headers[.retryAfter] = problem.retryAfter.map(String.init)
    return response
  }
}
