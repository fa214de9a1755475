import Administration
package import ApplePayToken
package import Gateway
import HTTPTransport
package import Logging
import PlatformAPI
import ServiceLifecycle
package import Settings
package import Storage
import Telemetry
package import TenderPayments

/// `tender serve`: the checkout API, the platform API and the web kit, for any number of merchants.
package struct TenderServer: Service {
  private let parts: Composition
  private let routes: Routes
  private let onRunning: @Sendable (_ port: Int) async -> Void

  /// Reads the merchants, opens the store, connects to Apple. Nothing listens yet.
  ///
  /// - Parameters:
  ///   - clock: of the server and its store; nil for the machine's, and for the database's own where it is PostgreSQL.
  ///   - trust: in place of Apple's root, in a test's composition. The program passes none, and no setting can.
  ///   - crashes: what to do at the named points of a payment; tests end the process there.
  ///   - later: migrations of a version to come, in a test's composition.
  ///   - sockets: what the process was started with, to listen on in place of the configuration's addresses.
  ///   - onRunning: called when the public port and the administration socket accept connections, with the port.
  package init(
    _ configuration: ServerConfiguration, clock: WallClock? = nil, random: RandomBytes = .system,
    scheduler: Scheduler = .system, network: Network? = nil, trust: TokenTrust? = nil, crashes: CrashPoints = .none,
    later: [Migration] = [], sockets: InheritedSockets = .none, logger: Logger,
    onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
  ) async throws {
    let budget = try DescriptorBudget(configuration, limit: FileDescriptors.limit)
    budget.report(configuration, to: logger)
    var configuration = configuration
    configuration.gatewayPolicy.maximumInFlight = budget.payments
    let network = try network ?? Network.live(configuration.outbound, within: budget)
    // A store that several processes share keeps the time of its database.
    let isMoved = clock == nil && configuration.environment == .simulated && configuration.storeURL == nil
    let followed = isMoved ? FollowedClock() : nil
    let clock = clock ?? followed?.wall
    let runtime = Runtime(
      clock: clock ?? .system, storeClock: clock, followedClock: followed, random: random,
      scheduler: scheduler, network: network, trust: trust, crashes: crashes,
      migrations: ServerStore.migrations + later, sockets: sockets, logger: logger)
    do { parts = try await Composition(configuration, runtime, budget) } catch {
      await network.close()
      throw error
    }
    routes = Routes(parts)
    self.onRunning = onRunning
  }

  /// Serves until the service group shuts down. The services end in the reverse order: the server drains, calls under way
  /// are finished, then what runs beside the listeners.
  package func run() async throws {
    do {
      let all = [storeMonitor] + services + (try listeners()) + [drain]
      var group = ServiceGroupConfiguration(services: all, logger: parts.runtime.logger)
      group.maximumGracefulShutdownDuration = .seconds(parts.configuration.drainSeconds) + DrainService.limit
      try await ServiceGroup(configuration: group).run()
    } catch {
      await parts.close()
      throw error
    }
    await parts.close()
  }

  /// Reads the merchants again, from their folders and the store, and the secrets of routes and TLS. Payments under way
  /// keep their merchant's values.
  ///
  /// - Throws: when a folder or a secret is not as it must be. Then nothing has changed.
  package func reload() async throws -> ReloadReport { try await parts.merchants.reload() }

  /// What the public listener answers, for a test that compares it with the OpenAPI document. Ends the server, which must
  /// not run.
  package func addresses() async -> [(method: String, path: String)] {
    let addresses = routes.publicAddresses
    await parts.close()
    return addresses
  }

  /// A service and its name for the log. Without a name the service group prints the service with all that it holds.
  private typealias NamedService = ServiceGroupConfiguration.ServiceConfiguration

  /// The first, so that it is shut down last: a flush can fail while calls under way are finished.
  private var storeMonitor: NamedService {
    let (scheduler, logger) = (parts.runtime.scheduler, parts.runtime.logger)
    return NamedService(
      service: StoreMonitor(database: parts.database, scheduler: scheduler, logger: logger), serviceName: "store")
  }

  private var drain: NamedService {
    NamedService(
      service: DrainService(
        draining: parts.draining, pause: .seconds(parts.configuration.drainSeconds),
        scheduler: parts.runtime.scheduler, logger: parts.runtime.logger),
      serviceName: "drain")
  }

  /// The public one last, so that its calls end first.
  private func listeners() throws -> [NamedService] {
    let listeners = Listeners(parts: parts, routes: routes, onRunning: onRunning)
    return [NamedService(service: try listeners.administration(), serviceName: "administration")]
      + (try listeners.metrics().map { NamedService(service: $0, serviceName: "metrics") })
      + (try listeners.office().map { NamedService(service: $0, serviceName: "back office") })
      + [NamedService(service: try listeners.publicListener(), serviceName: "public listener")]
  }

  private var charging: ScheduleService {
    ScheduleService(
      schedule: AgreementScheduler(parts.gateway, scheduler: parts.runtime.scheduler), metrics: parts.metrics,
      logger: parts.runtime.logger)
  }

  /// What runs beside the listeners.
  private var services: [NamedService] {
    let (gateway, logger, scheduler) = (parts.gateway, parts.runtime.logger, parts.runtime.scheduler)
    let all: [(String, any Service)] = [
      ("webhooks", WebhookService(dispatcher: parts.dispatcher)),
      (
        "recovery",
        RecoveryService(
          gateway: gateway, metrics: parts.metrics, lastRun: parts.lastRecovery, logger: logger)
      ),
      ("schedule", charging),
      ("doctor", DoctorService(doctor: ServerDoctor(parts), log: parts.doctor, scheduler: scheduler, logger: logger)),
      (
        "uses of keys",
        KeyUseRecorder(uses: parts.keyUses, database: parts.database, scheduler: scheduler, logger: logger)
      ),
      ("clock", ClockMonitor(gateway: gateway, scheduler: scheduler, logger: logger)),
      (
        "merchants",
        MerchantPolling(
          merchants: parts.merchants, keys: parts.keys, database: parts.database, clock: parts.runtime.clock,
          scheduler: scheduler, logger: logger)
      ),
      ("retention", RetentionService(parts)),
      ("merchant tokens", MerchantTokenService(parts)),
      ("restore", RestoreService(gateway: gateway, scheduler: scheduler, logger: logger)),
      ("figures", FigureService(database: parts.database, scheduler: scheduler, logger: logger)),
    ]
    return (all + clockServices + mailServices + telemetryServices).map { NamedService(service: $1, serviceName: $0) }
  }

  /// None outside of `simulated`.
  private var clockServices: [(String, any Service)] {
    let (runtime, gateway) = (parts.runtime, parts.gateway)
    guard let clock = runtime.followedClock, let sandbox = parts.configuration.sandboxURL,
      parts.apple.simulated?.clockAhead != nil
    else { return [] }
    let follower = ClockFollower(
      clock: clock, sandbox: JSONClient(sandbox, sender: runtime.network.plain), name: runtime.random.hex(8),
      gateway: gateway, charging: charging, tokens: MerchantTokenService(parts),
      scheduler: runtime.scheduler, logger: runtime.logger)
    return [("sandbox clock", follower)]
  }

  private var telemetryServices: [(String, any Service)] {
    let settings = parts.configuration.telemetry
    var services: [(String, any Service)] = []
    if let export = parts.telemetry.export { services.append(("traces", SpanExportService(export: export))) }
    if let metrics = parts.telemetry.metrics {
      let pause = Duration.seconds(settings.metricsSeconds)
      services.append(
        ("metrics to the collector", metricService(pause) { await metrics.send($0) ? nil : "it does not take them" }))
    }
    if let (host, port) = settings.statsDAddress {
      let sender = StatsDSender(host: host, port: port)
      services.append(("metrics to StatsD", metricService(.seconds(10)) { await sender.send($0) }))
    }
    return services
  }

  private func metricService(
    _ pause: Duration, _ give: @escaping @Sendable ([MetricReading]) async -> String?
  ) -> MetricService {
    MetricService(
      source: parts.metricSource, pause: pause, scheduler: parts.runtime.scheduler, logger: parts.runtime.logger,
      give: give)
  }

  /// None where mail is off.
  private var mailServices: [(String, any Service)] {
    guard let mail = parts.mail else { return [] }
    return [
      ("mail", MailDeliveryService(dispatcher: mail.dispatcher)),
      ("mail to shoppers", OrderMailService(mail: OrderMail(mail, logger: parts.runtime.logger))),
      ("notices", MailNoticeService(mail: mail, scheduler: parts.runtime.scheduler, logger: parts.runtime.logger)),
    ]
  }
}
