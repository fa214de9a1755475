import Gateway
import HTTPTypes
import Hummingbird
import Logging
import MerchantIdentity
import TenderPayments

/// Names the call, answers every error as a problem, counts and logs. Nothing of the body, and of the path only the
/// route: basket ids are capabilities.
struct CallRecorder: RouterMiddleware {
  let random: RandomBytes
  let metrics: Metrics
  let problems: ProblemAnswers

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    context.requestID = random.hex(12)
    context.logger[metadataKey: "requestId"] = .string(context.requestID)
    let start = ContinuousClock.now
    var response: Response
    do { response = try await next(request, context) } catch { response = problems.answer(error, context) }
    response.headers[.requestID] = context.requestID
    record(request, response, context, ContinuousClock.now - start)
    return response
  }

  private func record(_ request: Request, _ response: Response, _ context: ServerContext, _ took: Duration) {
    let route = context.endpointPath ?? "unmatched"
    let labels = ["method": request.method.rawValue, "route": route, "status": String(response.status.code)]
    metrics.requests.count(labels)
    metrics.durations.observe(took, ["route": route])
    context.logger.info(
      "call",
      metadata: [
        "method": .string(request.method.rawValue), "route": .string(route),
        "status": .stringConvertible(response.status.code), "microseconds": .stringConvertible(took.microseconds),
      ])
  }
}

/// Answers every error as a problem, wherever on the way it is caught: logs what is our fault, counts what is refused.
struct ProblemAnswers: Sendable {
  let metrics: Metrics

  func answer(_ error: any Error, _ context: ServerContext) -> Response {
    let problem = ProblemTable.problem(for: error)
    // Too many calls are nobody's fault, and must not become as many lines of the log.
    if problem.status.code >= 500, problem.code != GatewayError.overloaded.code {
      context.logger.error(
        "call failed", metadata: ["code": .string(problem.code), "error": .string(ProblemTable.safe(error))])
    } else {
      metrics.refusals.count(["code": problem.code])
    }
    return problem.response(requestID: context.requestID)
  }
}

extension HTTPField.Name {
  static let requestID = HTTPField.Name("X-Request-Id")!
}

/// Cross-origin calls: only from registered origins, exact to the letter, without credentials. Others get the web kit
/// and a refusal they can read.
///
/// Safari blocks third-party cookies, so nothing here rests on them; the basket id is the capability.
struct CrossOriginGate: RouterMiddleware {
  let directory: MerchantDirectory
  /// The server's own origin, whose pages are same-origin.
  let ownOrigin: String
  /// Whether a path holds nothing of any merchant's: the web kit's files.
  let isPublic: @Sendable (_ path: String) -> Bool
  let problems: ProblemAnswers

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    guard let origin = request.headers[.origin], origin != ownOrigin else {
      return try await varying(next(request, context))
    }
    guard let (merchant, site) = directory.merchant(origin: origin) else {
      // Readable, so that the kit on a page that nobody registered can tell its developer what is missing.
      let isRefused = !isPublic(request.uri.path)
      return allowing(
        origin, isRefused ? problems.answer(refusal, context) : try await next(request, context))
    }
    var context = context
    context.caller = Caller(merchant: merchant, site: site)
    if request.method == .options { return allowing(origin, preflight) }
    do { return allowing(origin, try await next(request, context)) } catch {
      return allowing(origin, problems.answer(error, context))
    }
  }

  private var refusal: Problem {
    Problem(
      .forbidden, "origin_not_registered",
      "This origin is not registered with any merchant. Add it to the merchant's origins.")
  }

  private var preflight: Response {
    Response(
      status: .noContent,
      headers: [
        .accessControlAllowMethods: "GET, POST, PUT, DELETE", .accessControlMaxAge: "600",
        .accessControlAllowHeaders: "Content-Type, Idempotency-Key, If-None-Match",
      ])
  }

  private func allowing(_ origin: String, _ response: Response) -> Response {
    var response = varying(response)
    response.headers[.accessControlAllowOrigin] = origin
    response.headers[.accessControlExposeHeaders] = "ETag, Retry-After, X-Request-Id"
    return response
  }

  private func varying(_ response: Response) -> Response {
    var response = response
    response.headers[.vary] = "Origin"
    return response
  }
}

/// Outermost, so that refusals have them too: headers for answers that a browser may look at as a page.
struct SecurityHeaders: RouterMiddleware {
  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    response.headers[.xContentTypeOptions] = "nosniff"
    response.headers[.referrerPolicy] = "no-referrer"
    if response.headers[.contentSecurityPolicy] == nil {
      response.headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
    }
    return response
  }
}

extension HTTPField.Name {
  static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}
