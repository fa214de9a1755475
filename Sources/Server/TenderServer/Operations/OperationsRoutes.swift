import Hummingbird

/// What load balancers, acquirers and monitoring call, and the page at the server's address.
struct OperationsRoutes: Sendable {
  let home: HomeController
  let health: HealthController
  let events: EventController
  let metrics: MetricsController

  func add(to router: Router<ServerContext>) {
    router.get("/", use: home.show)
    router.get("/healthz", use: health.alive)
    router.get("/readyz", use: health.ready)

    // Events that acquirers and providers send.
    router.post("/acquirers/:connector/events", use: events.receive)
  }

  /// Never on the public listener.
  func addMetrics(to router: Router<ServerContext>) {
    router.get("/metrics", use: metrics.show)
  }
}

extension OperationsRoutes {
  init(_ parts: Composition) throws {
    home = try HomeController(parts.configuration.environment, kitVersion: KitController().version)
    health = HealthController(database: parts.database)
    events = EventController(
      gateway: parts.gateway, connector: parts.configuration.acquirer.connector, clock: parts.runtime.clock,
      metrics: parts.metrics)
    metrics = MetricsController(metrics: parts.metrics, gauges: ServerGauges(parts: parts).all)
  }
}
