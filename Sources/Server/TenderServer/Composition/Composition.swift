import Acquiring
import Administration
import ApplePayToken
import Settings
import Doctor
import Foundation
import Gateway
import HTTPTransport
import KeyAgent
import Ledger
import Logging
import Mail
import MerchantIdentity
import Orders
import PlatformAPI
import Storage
import Telemetry
import TenderPayments
import Webhooks

/// What the process gives to the server: time, randomness, the network and the log. Tests hand in their own.
struct Runtime: Sendable {
  let clock: WallClock
  /// The clock of the store; nil for the engine's own.
  let storeClock: WallClock?
  /// The clock, where it follows the sandbox's; nil outside of `simulated`.
  let followedClock: FollowedClock?
  let random: RandomBytes
  /// Schedules what runs on a timer or within a limit of time.
  let scheduler: Scheduler
  let network: Network
  /// In place of Apple's root; nil outside of tests.
  let trust: TokenTrust?
  let crashes: CrashPoints
  /// Every table of the store.
  let migrations: [Migration]
  /// What the process was started with.
  let sockets: InheritedSockets
  let logger: Logger
}

/// The parts of a running server, made in the order in which they need each other.
struct Composition: Sendable {
  let configuration: ServerConfiguration
  let runtime: Runtime
  let budget: DescriptorBudget
  let metrics = Metrics()
  let telemetry: ServerTelemetry
  let draining = Draining()
  let connections: ConnectionLimit
  let admission: PaymentAdmission
  let apple: AppleEnvironment
  private(set) var journal: Journal
  /// The journal for the office and the command line, which leave connections to the store free for payments.
  private let sideJournal: Journal
  /// On PostgreSQL: keeps another node from this one's administration socket.
  let nodeLock: StoreLock?
  let keys: ProcessingKeys
  let secrets: LiveSecrets
  let merchants: LiveMerchants
  /// A circuit breaker for each route.
  let breakers: [String: CircuitBreaker]
  let gateway: PaymentGateway
  let guests: GuestTokenIssuer
  /// Makes the fingerprints of decrypted payment data.
  let fingerprintKey: [UInt8]
  let orderService: OrderService
  let clientSessions: ClientSessions
  let customerInputKeys: CustomerInputKeys
  let quotas: Quotas
  let keyUses = KeyUses()
  /// The comparisons of the office and the command line.
  private let comparisons = Reconciliation.limit()
  let dispatcher: WebhookDispatcher
  /// Nil where mail is off.
  private(set) var mail: ServerMail?
  /// When recovery last ran.
  let lastRecovery: LastRun
  /// What Apple is asked and told of merchant tokens, one round at a time.
  let merchantTokenRounds = SharedRuns<Bool>()
  let doctor = DoctorLog()
  /// Only in `simulated`.
  let traces: TraceBook?

  var database: Database { journal.database }
  var reconciliation: Reconciliation { Reconciliation(journal, routes: gateway.routes, under: comparisons) }

  /// This server for the office and the command line.
  var aside: Composition {
    var parts = self
    parts.journal = sideJournal
    return parts
  }

  init(_ configuration: ServerConfiguration, _ runtime: Runtime, _ budget: DescriptorBudget) async throws {
    (self.configuration, self.runtime, self.budget) = (configuration, runtime, budget)
    lastRecovery = LastRun(clock: runtime.clock, scheduler: runtime.scheduler)
    traces = configuration.keepsTraces && configuration.environment == .simulated ? TraceBook() : nil
    telemetry = ServerTelemetry(configuration, runtime, metrics, traces)
    let control = AdmissionControl(
      maximumInFlight: configuration.gatewayPolicy.maximumInFlight,
      maximumWorking: AdmissionControl.workPerProcessor * ProcessInfo.processInfo.activeProcessorCount)
    admission = PaymentAdmission(control)
    connections =
      configuration.maximumConnections.map { ConnectionLimit(maximum: $0) } ?? ConnectionLimit(files: budget.shoppers)
    apple = try await AppleEnvironment(configuration, runtime.network.plain, trust: runtime.trust)
    // Before the store is opened and certificates are judged.
    if let ahead = apple.simulated?.clockAhead { runtime.followedClock?.move(ahead: ahead) }
    nodeLock = try await runtime.awaitingPredecessor(configuration) { try StoreLock.ofNode(configuration) }
    journal = try await runtime.awaitingPredecessor(configuration) { try await Journal.open(configuration, runtime) }
    try await journal.forgetMail()
    try await journal.database.write { try ErasureRequests($0).awaitAgain() }
    var sideJournal = Journal(
      journal.database.limited(to: 2), random: runtime.random, consumers: journal.consumers)
    sideJournal.restore = journal.restore
    self.sideJournal = sideJournal
    try await configuration.requireDurable(journal.database, runtime.logger)
    secrets = try LiveSecrets(configuration) { [apple] in
      try RouteTable($0, apple, runtime.network.plain.traced(to: .providers), runtime.logger)
    }
    let routes = secrets.routes
    let keyStore = ProcessingKeyStore(journal.database)
    keys = ProcessingKeys(
      keyStore, journal.database, agent: configuration.keyAgentSocket.map { KeyAgentClient(path: $0) },
      logger: runtime.logger)
    merchants = try await LiveMerchants(
      MerchantsReader(
        configuration: configuration, database: journal.database, routes: routes,
        validator: { [apple, network = runtime.network] identity, merchant in
          let sender = try network.identified(identity.clientIdentity, apple.gatewayRoots).traced(to: .apple)
          return MerchantValidator(
            sender: sender, gateway: apple.hosts.gateway(for: merchant.profile.region))
        },
        clock: runtime.clock, logger: runtime.logger),
      keys, secrets)
    let verifier = TokenVerifier(
      trust: apple.trust, monitor: try await SignerMonitor.reporting(keyStore, metrics, runtime.logger))
    breakers = Dictionary(uniqueKeysWithValues: routes.names.map { ($0, CircuitBreaker()) })
    gateway = PaymentGateway(
      opener: TokenOpener(verifier: verifier, keys: keys.ring), journal: journal,
      routes: RouteTable(
        routes.watched(by: breakers, control, metrics, runtime.logger),
        routing: { [merchants] in merchants.current.routing(of: $0) },
        merchants: { [merchants] in merchants.current.allIDs }),
      clock: runtime.clock, random: runtime.random, scheduler: runtime.scheduler, policy: configuration.gatewayPolicy,
      crashes: runtime.crashes, admission: control, telemetry: telemetry.telemetry)
    try await gateway.refuseUnfinishedElsewhere()
    try await gateway.closeUnknownRoutes()
    guests = try await GuestTokenIssuer.open(configuration, journal.database)
    fingerprintKey = try FingerprintKey.read(configuration.fingerprintKeyFile, runtime.random)
    if configuration.storeURL != nil { try await configuration.requireSharedKeys(fingerprintKey, journal.database) }
    orderService = OrderService(
      gateway: gateway,
      quotes: QuoteSource(
        sender: runtime.network.sender(guardedBy: configuration.destinations).traced(to: .merchants),
        clock: runtime.clock, mostCalls: budget.callsToMerchants),
      terms: { [merchants] in merchants.current.terms(of: $0).notified(of: $0, at: configuration) },
      guestTokens: guests, clock: runtime.clock,
      random: runtime.random)
    quotas = Quotas(configuration.quotas(within: budget), uptime: runtime.scheduler.uptime)
    clientSessions = ClientSessions(journal.database, clock: runtime.clock, random: runtime.random)
    customerInputKeys = CustomerInputKeys(
      { [database = journal.database] in
        try await configuration.merchantStoreMakingKeys(database, random: runtime.random)
      }, clock: runtime.clock, random: runtime.random)
    dispatcher = WebhookDispatcher(
      database: journal.database, endpoints: { [merchants] in merchants.current[$0]?.folder.webhooks },
      keys: { [merchants] in merchants.current[$0]?.folder.webhookKey }, destinations: configuration.destinations,
      network: runtime.network.webhooks, orders: OrderReader.stored(runtime.logger), concurrency: budget.webhooksAtOne,
      queueLimit: budget.webhookEndpoints, random: runtime.random, clock: runtime.clock,
      report: WebhookMonitor(metrics: metrics, logger: runtime.logger).note, telemetry: telemetry.telemetry)
    mail = try ServerMail(self)
  }

  /// Releases what the process holds, after calls under way have been answered.
  func close() async {
    await keys.close()
    await database.close()
    nodeLock?.release()
    await runtime.network.close()
  }
}

/// Another process has what belongs to one alone.
private struct StoreInUse: Error {
  let error: ConfigurationError

  init(_ key: String, _ words: String) { error = ConfigurationError(key, words) }
}

extension Runtime {
  /// Takes what belongs to one process alone. A process that was started with its sockets may be the successor of one
  /// that still answers calls: it waits until that has ended, while callers wait at the sockets.
  fileprivate func awaitingPredecessor<R>(
    _ configuration: ServerConfiguration, _ take: () async throws -> R
  ) async throws -> R {
    let end = scheduler.uptime() + .seconds(configuration.drainSeconds) + DrainService.limit + .seconds(10)
    var isFirst = true
    while true {
      do { return try await take() } catch let used as StoreInUse {
        guard !sockets.isEmpty, scheduler.uptime() < end else { throw used.error }
        if isFirst { logger.notice("waits until the server before has ended", metadata: ["for": "\(used.error.key)"]) }
        isFirst = false
        try await scheduler.sleep(.milliseconds(50))
      }
    }
  }
}

extension Journal {
  /// Opens the store of the configuration.
  fileprivate static func open(_ configuration: ServerConfiguration, _ runtime: Runtime) async throws -> Journal {
    if let path = configuration.store.path { try PrivateFile.makeFolder(of: path) }
    do {
      return try await ServerStore.open(
        configuration.store, keys: configuration.contactKeys, migrations: runtime.migrations, clock: runtime.storeClock,
        random: runtime.random,
        consumers: configuration.mail.host == nil ? [.webhooks] : [.webhooks, .mail])
    } catch StorageError.busy where configuration.store.path != nil {
      throw StoreInUse(
        "store.path", "another tender serves from \(configuration.storePath); a store belongs to one process")
    }
  }
}

extension StoreLock {
  /// Nil for a store that is a file: it has a lock itself.
  fileprivate static func ofNode(_ configuration: ServerConfiguration) throws -> StoreLock? {
    guard configuration.storeURL != nil else { return nil }
    let socket = configuration.adminSocketPath
    try PrivateFile.makeFolder(of: socket)
    do { return try StoreLock(path: socket) } catch StorageError.busy {
      throw StoreInUse(
        "administration.socket", "another node has \(socket); give each node of this machine one of its own")
    }
  }
}

extension ServerConfiguration {
  /// Refuses a database that does not keep what it confirms. With simulated money it only says so.
  fileprivate func requireDurable(_ database: Database, _ logger: Logger) async throws {
    guard let settings = try await database.serverFacts()?.unsafeSettings, !settings.isEmpty else { return }
    let words = "the database does not keep what it confirms: \(settings.joined(separator: ", "))"
    guard environment == .simulated else { throw ConfigurationError("store.url", words) }
    logger.warning("\(words); only a server with simulated money starts on it")
  }

  fileprivate func requireSharedKeys(_ fingerprintKey: [UInt8], _ database: Database) async throws {
    try await SharedKeys.require("fingerprint.key", fingerprintKey, in: database)
  }
}

extension PrivateFile {
  /// The folder of the file. Not NSString's, which traps on a path of one letter (swift-foundation 6.2 on Linux).
  fileprivate static func makeFolder(of path: String) throws {
    try makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
  }
}

extension RouteTable {
  /// Each acquirer with what watches over it: metrics, spans and log, a circuit breaker. A payment that waits for it does
  /// not count as work.
  fileprivate func watched(
    by breakers: [String: CircuitBreaker], _ control: AdmissionControl, _ metrics: Metrics, _ logger: Logger
  ) -> [ConfiguredRoute] {
    let monitors = Dictionary(
      uniqueKeysWithValues: routes.map {
        ($0.name, AcquirerAnswerMonitor(route: $0, metrics: metrics, logger: logger))
      })
    return map { acquirer in
      let route = acquirer.capabilities.route
      let observed = monitors[route].map { acquirer.observed(by: $0.note) } ?? acquirer
      return control.excludingWaits(for: observed.guarded(by: breakers[route] ?? CircuitBreaker()))
    }.routes
  }
}

extension ServerMail {
  /// Nil where mail is off.
  init?(_ parts: Composition) throws {
    let (configuration, runtime) = (parts.configuration, parts.runtime)
    guard let settings = try configuration.mailSettings() else { return nil }
    (self.settings, merchants, journal) = (settings, parts.merchants, parts.journal)
    (clock, random) = (runtime.clock, runtime.random)
    handshake = DoctorNetwork.live(runtime.network, configuration.destinations).handshake
    // Each delivery reads the password's file.
    let transport = MailTransport(
      send: { message, server in
        do { return await MailTransport.smtp.send(message, try configuration.mailSettings()?.server ?? server) } catch {
          return SMTPResult(.authentication, ErrorWords.of(error))
        }
      }, probe: MailTransport.smtp.probe)
    dispatcher = MailDispatcher(
      database: journal.database, settings: settings, transport: transport,
      keys: { try await configuration.storeKeys() },
      random: runtime.random,
      report: MailMonitor(metrics: parts.metrics, logger: runtime.logger).note)
  }
}
