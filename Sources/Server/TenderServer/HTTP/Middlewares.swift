import Administration
import Gateway
import HTTPServing
import HTTPTypes
import HostedCheckout
import Hummingbird
import Logging
import MerchantIdentity
import Telemetry
import TenderPayments

/// Names the call, answers every error as a problem, counts and logs. Nothing of the body, and of the path only the
/// route: basket ids are capabilities.
struct CallRecorder: RouterMiddleware {
  let random: RandomBytes
  let metrics: Metrics
  let telemetry: Telemetry
  let problems: ProblemAnswers

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    let telemetry = Self.probes.contains(request.uri.path) ? Telemetry.off : telemetry
    let caller = request.headers[.traceparent].flatMap { TraceContext(traceparent: $0) }
    return await telemetry.begin(.request, from: caller) { activity in
      var context = context
      context.requestID = random.hex(12)
      context.logger[metadataKey: "requestId"] = .string(context.requestID)
      if let trace = activity.context?.trace { context.logger[metadataKey: "traceId"] = .string(trace) }
      let start = ContinuousClock.now
      var response: Response
      do { response = try await next(request, context) } catch { response = problems.answer(error, context) }
      response.headers[.requestID] = context.requestID
      let route = context.endpointPath ?? "unmatched"
      activity.note(.method(request.method.rawValue), .route(route), .status(response.status.code))
      record(request.method.rawValue, route, response.status, since: start, context.logger, activity)
      return response
    }
  }

  /// Records a call that is answered where nothing can be waited for.
  func recording(
    _ method: HTTPRequest.Method, _ route: String, _ logger: Logger, _ answer: (_ requestID: String) -> PlainAnswer
  ) -> PlainAnswer {
    let (start, id) = (ContinuousClock.now, random.hex(12))
    var logger = logger
    logger[metadataKey: "requestId"] = .string(id)
    var made = answer(id)
    made.head.headerFields[.requestID] = id
    record(method.rawValue, route, made.head.status, since: start, logger)
    return made
  }

  /// Load balancers and monitoring ask these all the time.
  private static let probes: Set = ["/healthz", "/readyz", "/metrics"]

  /// Counts a call and writes its line.
  func record(
    _ method: String, _ route: String, _ status: HTTPResponse.Status, since start: ContinuousClock.Instant,
    _ logger: Logger, _ activity: Activity? = nil
  ) {
    let took = ContinuousClock.now - start
    metrics.requests.count(["method": method, "route": route, "status": String(status.code)])
    metrics.durations.observe(took, ["route": route])
    let isProbe = Self.probes.contains(route) && status.code < 300
    logger.note(
      activity, "call", took,
      ["method": .string(method), "route": .string(route), "status": .stringConvertible(status.code)],
      at: isProbe ? .debug : .info)
  }
}

/// Answers every error as a problem, wherever on the way it is caught: logs what is our fault, counts what is refused.
struct ProblemAnswers: Sendable {
  let metrics: Metrics

  func answer(_ error: any Error, _ context: ServerContext) -> Response {
    note(error, context).response(requestID: context.requestID)
  }

  /// Logs and counts, for an answer in another shape.
  func note(_ error: any Error, _ context: ServerContext) -> Problem {
    let problem = ProblemTable.answer(to: error)
    Activity.current?.note(.code(problem.code))
    // Overload is no fault of the server's, and must not flood the log.
    if problem.status.code >= 500, problem.code != GatewayError.overloaded.code {
      Activity.current?.fail()
      context.logger.error(
        "call failed",
        metadata: [
          "code": .string(problem.code),
          "error": .string(ProblemTable.safe((error as? ShopperRefusal)?.error ?? error)),
        ])
    } else {
      metrics.refusals.count(["code": problem.code])
    }
    return problem
  }

  /// The answer to a payment above the limit.
  func overloaded(_ requestID: String) -> PlainAnswer {
    let problem = ProblemTable.problem(for: GatewayError.overloaded)
    metrics.refusals.count(["code": problem.code])
    return problem.answer(requestID: requestID)
  }
}

extension HTTPField.Name {
  static let requestID = HTTPField.Name("X-Request-Id")!
  static let traceparent = HTTPField.Name("traceparent")!
}

/// Cross-origin calls: only from registered origins, exact to the letter, without credentials. Others get the web kit
/// and a refusal they can read.
///
/// Safari blocks third-party cookies, so nothing here rests on them; the basket id is the capability.
struct CrossOriginGate: RouterMiddleware {
  let merchants: LiveMerchants
  /// The server's own origins, whose pages are same-origin.
  let ownOrigins: Set<String>
  /// Whether a path holds nothing of any merchant's: the web kit's files.
  let isPublic: @Sendable (_ path: String) -> Bool
  let isClientAPI: @Sendable (_ path: String) -> Bool
  let problems: ProblemAnswers

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    let page = page(of: request.headers[.origin])
    var context = context
    var response: Response
    switch page {
    case .none: response = try await next(request, context)
    // Readable, so that the kit on an unregistered page can show its developer what is missing.
    case .unknown where !isPublic(request.uri.path): response = problems.answer(refusal, context)
    case .unknown: response = try await next(request, context)
    case .registered where request.method == .options: response = preflight(request.uri.path)
    case .registered(_, let caller):
      context.caller = caller
      do { response = try await next(request, context) } catch { response = problems.answer(error, context) }
    }
    page.mayRead(&response.headers)
    return response
  }

  /// Whose page has an origin.
  func page(of origin: String?) -> CallingPage {
    guard let origin, !ownOrigins.contains(origin) else { return .none }
    guard let (merchant, site) = merchants.current.directory.merchant(origin: origin) else { return .unknown(origin) }
    return .registered(origin, Caller(merchant: merchant, site: site))
  }

  private var refusal: Problem {
    Problem(
      .forbidden, "origin_not_registered",
      "This origin is no merchant's. Add its host to the merchant's domains: in merchant.yaml, or by tender domain add."
    )
  }

  /// The client API's session stands in a header; the checkout API has none.
  private func preflight(_ path: String) -> Response {
    let headers =
      isClientAPI(path)
      ? "Authorization, Content-Type, X-GCS-ClientMetaInfo, Traceparent"
      : "Content-Type, Idempotency-Key, If-None-Match, Traceparent"
    return Response(
      status: .noContent,
      headers: [
        .accessControlAllowMethods: "GET, POST, PUT, DELETE", .accessControlMaxAge: "600",
        .accessControlAllowHeaders: headers,
      ])
  }
}

/// Each public call is about the merchants with which it begins.
extension LiveMerchants: RouterMiddleware {
  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    try await keep { try await next(request, context) }
  }
}

/// From where a call comes.
enum CallingPage {
  /// From no page, or from one of the server's own.
  case none
  case unknown(_ origin: String)
  case registered(_ origin: String, Caller)

  /// Lets the page read the answer.
  func mayRead(_ headers: inout HTTPFields) {
    headers[.vary] = headers[.vary].map { "\($0), Origin" } ?? "Origin"
    switch self {
    case .none: break
    case .unknown(let origin), .registered(let origin, _):
      headers[.accessControlAllowOrigin] = origin
      headers[.accessControlExposeHeaders] = "ETag, Retry-After, X-Request-Id"
    }
  }
}

/// Outermost, so that refusals have them too: headers for answers that a browser may look at as a page.
struct SecurityHeaders: RouterMiddleware {
  /// Whether browsers shall use HTTPS alone for this host from now on (HSTS, RFC 6797).
  let requiresHTTPS: Bool

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    add(to: &response.headers)
    return response
  }

  func add(to headers: inout HTTPFields) {
    if requiresHTTPS { headers[.strictTransportSecurity] = "max-age=31536000" }
    headers[.xContentTypeOptions] = "nosniff"
    if headers[.referrerPolicy] == nil { headers[.referrerPolicy] = "no-referrer" }
    if headers[.contentSecurityPolicy] == nil {
      headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
    }
  }
}

extension HTTPField.Name {
  static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}
