import ApplePayToken
package import Gateway
import HTTPTransport
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
import Ledger
import MerchantIdentity
import NIOCore
import ServiceLifecycle
package import TenderPayments

/// `tender serve`: the checkout API, the platform API and the kit, for any number of merchants.
package struct TenderServer: Service {
  private let wiring: Wiring
  private let logger: Logger
  private let onRunning: @Sendable (_ port: Int) async -> Void

  /// Reads the merchants, opens the store, meets Apple. Nothing listens yet.
  ///
  /// - Parameter onRunning: called when connections are accepted, with the port.
  package init(
    _ configuration: ServerConfiguration, clock: WallClock = .system, random: RandomBytes = .system,
    network: Network? = nil, logger: Logger, onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
  ) async throws {
    try await self.init(
      configuration, clock: clock, random: random, network: network, crashes: .none, logger: logger,
      onRunning: onRunning)
  }

  /// The same with something that happens at the named points of a payment: a process that is to die there.
  package init(
    _ configuration: ServerConfiguration, clock: WallClock = .system, random: RandomBytes = .system,
    network: Network? = nil, crashes: CrashPoints, logger: Logger,
    onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
  ) async throws {
    let network = try network ?? .live()
    do {
      wiring = try await Wiring(
        configuration, clock: clock, random: random, network: network, crashes: crashes, logger: logger)
    } catch {
      await network.close()
      throw error
    }
    self.logger = logger
    self.onRunning = onRunning
  }

  /// Serves until the service group shuts down; calls under way are finished first.
  package func run() async throws {
    do {
      let services: [any Service] = [
        try application(), try adminApplication(), WebhookService(courier: wiring.courier), recovery,
        ClockWatch(gateway: wiring.gateway, scheduler: .system, logger: logger),
      ]
      let group = ServiceGroup(configuration: .init(services: services + (try metricsServices()), logger: logger))
      try await group.run()
    } catch {
      await wiring.close()
      throw error
    }
    await wiring.close()
  }

  private var recovery: RecoveryService {
    RecoveryService(
      gateway: wiring.gateway, database: wiring.database, metrics: wiring.metrics, logger: logger)
  }

  private func application() throws -> some ApplicationProtocol {
    let configuration = wiring.configuration
    return Application(
      router: try router(), server: try listener(),
      configuration: .init(
        address: .hostname(configuration.host, port: configuration.port), serverName: nil,
        availableConnectionsDelegate: LimitedConnections(limit: wiring.connections)),
      onServerRunning: { [onRunning, logger, limit = wiring.connections] channel in
        do { try await AcceptPause.add(to: channel, limit, logger: logger) } catch {
          logger.error("the listener has no pause", metadata: ["error": .string("\(error)")])
        }
        await onRunning(channel.localAddress?.port ?? configuration.port)
      },
      logger: logger)
  }

  private func listener() throws -> HTTPServerBuilder {
    let headRefusal = RequestHeadRefusal(recorder: recorder, securityHeaders: securityHeaders, logger: logger)
    let refusal = PaymentRefusal(
      admission: wiring.admission, recorder: recorder, gate: gate, securityHeaders: securityHeaders, logger: logger)
    let (limit, times, late) = (
      wiring.connections, wiring.configuration.connectionTimes, wiring.metrics.lateConnections
    )
    let plain = HTTPServerBuilder.http1(
      configuration: .init(
        additionalChannelHandlers: [
          ConnectionHandler(limit, times) { late.count(["with": $0.rawValue]) }, RequestHeadHandler(headRefusal),
          PaymentAdmissionHandler(refusal),
        ], httpDecoderConfiguration: RequestHeadRules.decoderLimits))
    guard let files = wiring.configuration.tls else { return plain }
    return try .tls(plain, tlsConfiguration: .modern(files))
  }

  /// `GET /metrics` on a listener of its own, where the configuration names one.
  private func metricsServices() throws -> [any Service] {
    guard let port = wiring.configuration.metricsPort else { return [] }
    let router = Router(context: ServerContext.self)
    router.add(middleware: recorder)
    metricsController.add(to: router)
    let limit = ConnectionLimit(maximum: 16)
    let application = Application(
      router: router,
      server: .http1(
        configuration: .init(
          additionalChannelHandlers: [ConnectionHandler(limit, wiring.configuration.connectionTimes)])),
      configuration: .init(
        address: .hostname(wiring.configuration.metricsHost, port: port), serverName: nil,
        availableConnectionsDelegate: LimitedConnections(limit: limit)),
      logger: logger)
    return [application]
  }

  private var metricsController: MetricsController { MetricsController(metrics: wiring.metrics, gauges: gauges) }

  private func adminApplication() throws -> some ApplicationProtocol {
    let socket = PrivateSocket(wiring.configuration.adminSocketPath)
    try socket.prepare()
    let router = Router(context: ServerContext.self)
    router.add(middleware: recorder)
    AdminController(office: PaymentOffice(gateway: wiring.gateway, journal: wiring.journal, random: wiring.random)).add(
      to: router)
    KeyController(keys: wiring.keys, clock: wiring.clock).add(to: router)
    metricsController.add(to: router)
    ReconciliationController(office: ReconciliationOffice(wiring.journal)).add(to: router)
    WebhookAdminController(office: WebhookOffice(wiring.database, clock: wiring.clock)).add(to: router)
    return Application(
      router: router, configuration: .init(address: .unixDomainSocket(path: socket.boundPath), serverName: nil),
      onServerRunning: { [logger] _ in
        do { try socket.open() } catch {
          logger.error("nobody can ask at the admin socket", metadata: ["error": .string("\(error)")])
        }
      }, logger: logger)
  }
}

extension TenderServer {
  /// Every route behind the middlewares, in the order in which a call meets them.
  func router() throws -> Router<ServerContext> {
    let router = Router(context: ServerContext.self)
    router.add(middleware: securityHeaders)
    router.add(middleware: recorder)
    router.add(middleware: gate)
    if let journeys = wiring.journeys { router.add(middleware: journeys) }
    try routes().add(to: router)
    return router
  }

  private var recorder: CallRecorder {
    CallRecorder(
      random: wiring.random, metrics: wiring.metrics, problems: ProblemAnswers(metrics: wiring.metrics))
  }

  private var securityHeaders: SecurityHeaders {
    SecurityHeaders(requiresHTTPS: wiring.configuration.publicURL.hasPrefix("https://"))
  }

  private var gate: CrossOriginGate {
    CrossOriginGate(
      directory: wiring.directory, ownOrigin: wiring.configuration.publicURL, isPublic: KitController.serves,
      problems: ProblemAnswers(metrics: wiring.metrics))
  }

  private func routes() throws -> Routes {
    let callers = Callers(directory: wiring.directory)
    let baskets = BasketLookup(desk: wiring.desk, callers: callers)
    let profiles = Dictionary(uniqueKeysWithValues: wiring.folders.map { ($0.merchant.id, $0.profile) })
    return Routes(
      metadata: MetadataController(
        environment: wiring.configuration.environment, profiles: profiles, callers: callers,
        simulatedSession: wiring.apple.simulated?.sessionScriptURL),
      baskets: BasketController(desk: wiring.desk, baskets: baskets),
      sessions: SessionController(
        baskets: baskets, directory: wiring.directory, profiles: profiles, hosts: wiring.apple.hosts,
        validators: try validators(), callers: callers, metrics: wiring.metrics),
      payments: PaymentController(
        desk: wiring.desk, baskets: baskets, metrics: wiring.metrics,
        admission: wiring.admission,
        newDeadline: wiring.gateway.newDeadline),
      kit: KitController(), associations: AssociationController(directory: wiring.directory),
      guests: GuestTokenController(issuer: wiring.guests),
      platform: PlatformController(desk: wiring.desk, keys: PlatformKeys(wiring.folders), clock: wiring.clock),
      events: EventController(
        gateway: wiring.gateway, connector: wiring.configuration.acquirer.connector, clock: wiring.clock,
        metrics: wiring.metrics),
      journeys: wiring.journeys.map { JourneyController(book: $0.book, baskets: baskets) },
      health: HealthController(database: wiring.database))
  }

  private func validators() throws -> [MerchantID: MerchantValidator] {
    var validators: [MerchantID: MerchantValidator] = [:]
    for merchant in wiring.directory.merchants {
      guard let identity = merchant.identity else { continue }
      let sender = try wiring.network.identified(identity.clientIdentity, wiring.apple.gatewayRoots)
      validators[merchant.id] = MerchantValidator(
        sender: wiring.journeys?.watching(sender) ?? sender, gateway: wiring.apple.hosts.global)
    }
    return validators
  }

  @Sendable private func gauges() async throws -> [Gauge] {
    let (now, open) = (wiring.clock.now(), try await wiring.journal.openOutcomes())
    let webhooks = try await WebhookWatch.gauges(wiring.database)
    return Gauge.all(of: open, wiring.breaker, wiring.database) + webhooks + Gauge.all(of: wiring.connections)
      + [Gauge.clockLead(of: wiring.gateway)]
      + wiring.directory.merchants.flatMap { expiries($0, at: now) }
      + wiring.folders.flatMap { folder in
        folder.certificatesOfKeysElsewhere.map { expiry(of: "processing", $0.notAfter, folder.merchant.id, at: now) }
      }
  }

  private func expiries(_ merchant: Merchant, at now: Timestamp) -> [Gauge] {
    let ends =
      merchant.processing.map { ("processing", $0.notAfter) }
      + [merchant.identity].compactMap { $0 }.map { ("identity", $0.notAfter) }
    return ends.map { kind, end in expiry(of: kind, end, merchant.id, at: now) }
  }

  private func expiry(of kind: String, _ end: Timestamp, _ merchant: MerchantID, at now: Timestamp) -> Gauge {
    Gauge(
      name: "tender_certificate_seconds_left", help: "Seconds until the certificate expires.",
      labels: ["merchant": merchant.rawValue, "kind": kind], value: end.since(now).components.seconds)
  }
}
