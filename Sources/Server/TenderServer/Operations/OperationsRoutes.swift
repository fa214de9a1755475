import Hummingbird
import Settings

/// What load balancers, acquirers and monitoring call, and the page at the server's address.
struct OperationsRoutes: Sendable {
  let home: HomeController
  let health: HealthController
  let events: EventController
  let notifications: TokenNotificationController
  let metrics: MetricsController

  func add(to router: Router<ServerContext>) {
    router.get("/", use: home.show)
    router.get("/healthz", use: health.alive)
    addReadiness(to: router)
    router.get(RouterPath(OpenAPIController.path), use: OpenAPIController().show)

    // Events that acquirers and providers send.
    for path: RouterPath in ["/acquirers/:connector/events", "/acquirers/:connector/:account/events"] {
      router.post(path, use: events.receive)
      router.get(path, use: events.answerChallenge)
    }
    router.get(
      RouterPath(TokenNotificationController.path + "/notification/merchantToken/:event"), use: notifications.receive)
  }

  func addReadiness(to router: Router<ServerContext>) {
    router.get("/readyz", use: health.ready)
  }

  /// Never on the public listener.
  func addMetrics(to router: Router<ServerContext>) {
    router.get("/metrics", use: metrics.show)
  }
}

extension OperationsRoutes {
  init(_ parts: Composition) {
    home = HomeController(environment: parts.configuration.environment, kitVersion: KitController().version)
    health = HealthController(database: parts.database, draining: parts.draining)
    events = EventController(
      gateway: parts.gateway, clock: parts.runtime.clock, metrics: parts.metrics)
    notifications = TokenNotificationController(parts)
    metrics = MetricsController(source: parts.metricSource)
  }
}
