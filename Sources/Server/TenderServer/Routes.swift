import BackOffice
import Hummingbird
import Settings

/// Which API answers on which listener. Each API lists its routes in a file of its own. Made once: what depends on a
/// merchant is looked up at each call.
struct Routes: Sendable {
  let middlewares: Middlewares
  let checkout: CheckoutRoutes
  let platform: PlatformRoutes
  let client: ClientRoutes
  let hosted: HostedRoutes
  let operations: OperationsRoutes
  let administration: AdministrationRoutes
  let office: BackOffice

  /// The public listener: browsers, apps, merchants' servers, acquirers, load balancers.
  func publicRouter() -> Router<ServerContext> {
    let router = publicAPIs()
    MethodRefusal.add(to: router)
    return router
  }

  private func publicAPIs() -> Router<ServerContext> {
    let router = Router(context: ServerContext.self, options: [.autoGenerateHeadEndpoints])
    middlewares.addPublic(to: router)
    checkout.add(to: router)
    platform.add(to: router)
    client.add(to: router)
    hosted.add(to: router, calls: checkout, authentication: platform.platform.authentication)
    operations.add(to: router)
    return router
  }

  /// Methods and paths of the public listener.
  var publicAddresses: [(method: String, path: String)] {
    publicAPIs().routes.filter { $0.method != .head }.map { ($0.method.rawValue, "\($0.path)") }
  }

  /// The socket of the command line.
  func administrationRouter() -> Router<ServerContext> {
    let router = Router(context: ServerContext.self, options: [.autoGenerateHeadEndpoints])
    router.add(middleware: middlewares.recorder)
    administration.add(to: router)
    operations.addReadiness(to: router)
    operations.addMetrics(to: router)
    return router
  }

  /// The listener of `metrics.port`.
  func metricsRouter() -> Router<ServerContext> {
    let router = Router(context: ServerContext.self, options: [.autoGenerateHeadEndpoints])
    router.add(middleware: middlewares.recorder)
    operations.addMetrics(to: router)
    return router
  }
}

/// What every call passes through, the outermost first.
struct Middlewares: Sendable {
  let securityHeaders: SecurityHeaders
  let recorder: CallRecorder
  let merchants: LiveMerchants
  let gate: CrossOriginGate
  let platformErrors: PlatformErrors

  func addPublic(to router: Router<ServerContext>) {
    router.add(middleware: securityHeaders)
    router.add(middleware: recorder)
    router.add(middleware: merchants)
    router.add(middleware: gate)
    router.add(middleware: platformErrors)
  }
}

extension Routes {
  init(_ parts: Composition) {
    middlewares = Middlewares(parts)
    let sessions = MerchantSessions(parts)
    checkout = CheckoutRoutes(parts, sessions)
    platform = PlatformRoutes(parts, sessions)
    client = ClientRoutes(parts)
    hosted = HostedRoutes(parts)
    operations = OperationsRoutes(parts)
    office = OfficeParts(parts.aside).office()
    administration = AdministrationRoutes(parts.aside, office)
  }
}

extension Middlewares {
  init(_ parts: Composition) {
    let problems = ProblemAnswers(metrics: parts.metrics)
    securityHeaders = SecurityHeaders(requiresHTTPS: parts.configuration.publicURL.hasPrefix("https://"))
    recorder = CallRecorder(
      random: parts.runtime.random, metrics: parts.metrics, telemetry: parts.telemetry.telemetry, problems: problems)
    merchants = parts.merchants
    platformErrors = PlatformErrors(problems: problems)
    gate = CrossOriginGate(
      merchants: parts.merchants,
      ownOrigins: [parts.configuration.publicURL, parts.configuration.hostedCheckoutURL],
      isPublic: { KitController.serves($0) || $0 == OpenAPIController.path },
      isClientAPI: ClientController.serves,
      problems: problems)
  }
}
