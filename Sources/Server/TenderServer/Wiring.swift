import Acquiring
import ApplePayToken
import Crypto
import Foundation
import Gateway
package import HTTPTransport
import Ledger
import Logging
import MerchantIdentity
import Orders
import Storage
import Synchronization
import TenderPayments
package import Webhooks

/// The one place where the rooms meet: everything that a running server is made of, by name.
struct Wiring: Sendable {
  let configuration: ServerConfiguration
  let clock: WallClock
  let random: RandomBytes
  let network: Network
  let database: Database
  let journal: Journal
  let gateway: PaymentGateway
  let breaker: CircuitBreaker
  let desk: OrderDesk
  let courier: WebhookCourier
  let guests: GuestTokenIssuer
  let apple: Apple
  let folders: [MerchantFolder]
  let directory: MerchantDirectory
  let metrics: Metrics
  let admission: PaymentAdmission
  let connections: ConnectionLimit
  let keys: ProcessingKeys
  /// Only in `simulated`.
  let journeys: JourneyRecorder?

  init(
    _ configuration: ServerConfiguration, clock: WallClock, random: RandomBytes, network: Network,
    crashes: CrashPoints, logger: Logger
  ) async throws {
    self.configuration = configuration
    self.clock = clock
    self.random = random
    self.network = network
    self.metrics = Metrics()
    let control = AdmissionControl(
      maximumInFlight: configuration.maximumPaymentsInFlight,
      maximumWorking: AdmissionControl.workPerProcessor * ProcessInfo.processInfo.activeProcessorCount)
    admission = PaymentAdmission(control)
    connections = ConnectionLimit(
      maximum: try DescriptorBudget(
        limit: FileDescriptors.limit, maximumPayments: configuration.maximumPaymentsInFlight
      ).maximumConnections(configuration.maximumConnections))
    apple = try await Apple(configuration, network)
    folders = try await MerchantFolder.all(
      in: configuration.merchantsDirectory, at: clock.now(), keysMayBeElsewhere: configuration.keyAgentSocket != nil)
    directory = try MerchantDirectory(folders.map(\.merchant), in: configuration.environment)
    try PrivateFile.makeFolder((configuration.storePath as NSString).deletingLastPathComponent)
    journal = try await Self.store(configuration.storePath, clock, random)
    database = journal.database
    let book = ProcessingKeyBook(database)
    keys = try await ProcessingKeys(book, folders, configuration, logger: logger)
    let verifier = TokenVerifier(trust: apple.trust, canary: try await CanaryCage.canary(book, metrics, logger))
    breaker = CircuitBreaker()
    journeys = try apple.simulated.map { [ring = keys.ring] in try JourneyRecorder(of: $0, keys: ring, clock: clock) }
    let answers = AcquirerAnswerWatch(metrics: metrics, logger: logger)
    let connector = Self.acquirer(configuration, apple, network, logger).observed(by: answers.note)
    let acquirer = control.excludingWaits(for: connector.guarded(by: breaker))
    gateway = PaymentGateway(
      opener: TokenOpener(verifier: verifier, keys: keys.ring), journal: journal,
      acquirer: journeys?.watching(acquirer) ?? acquirer, clock: clock, random: random,
      policy: configuration.gatewayPolicy, crashes: crashes, admission: control,
      observer: { [journeys] in journeys?.note($0) })
    try await gateway.refuseUnfinishedElsewhere()
    guests = try await GuestTokenIssuer(
      privateKeyPEM: try Self.guestKey(configuration.guestTokenKeyFile), keyID: "guest-1",
      issuer: configuration.publicURL)
    desk = Self.desk(gateway, folders, guests, clock, random, network)
    courier = try await Self.courier(database, folders, configuration, random, network, metrics, logger)
  }

  /// Releases what the process holds. Calls under way have been answered by then.
  func close() async {
    await keys.close()
    await database.close()
    await network.close()
  }

  private static func store(_ path: String, _ clock: WallClock, _ random: RandomBytes) async throws -> Journal {
    do {
      return try await PaymentOffice.open(path, clock: clock, random: random)
    } catch StorageError.busy {
      throw ConfigurationError("store.path", "another tender serves from \(path); a store belongs to one process")
    }
  }

  private static func desk(
    _ gateway: PaymentGateway, _ folders: [MerchantFolder], _ guests: GuestTokenIssuer, _ clock: WallClock,
    _ random: RandomBytes, _ network: Network
  ) -> OrderDesk {
    let terms = Dictionary(uniqueKeysWithValues: folders.map { ($0.merchant.id, $0.terms) })
    return OrderDesk(
      gateway: gateway, quotes: QuoteSource(sender: network.plain, clock: clock),
      terms: { terms[$0] ?? MerchantTerms() }, guestTokens: guests, clock: clock, random: random)
  }

  static func acquirer(
    _ configuration: ServerConfiguration, _ apple: Apple, _ network: Network, _ logger: Logger
  ) -> Acquirer {
    let endpoint = configuration.acquirer
    let key = endpoint.apiKey.isEmpty ? apple.simulated?.acquirerKey ?? "" : endpoint.apiKey
    let log: @Sendable (Transcript) -> Void = { transcript in
      logger.debug(
        "acquirer", metadata: ["request": .string(transcript.request), "response": .string(transcript.response)])
    }
    guard endpoint.connector == "sandbox-provider" else {
      return .sandbox(
        baseURL: endpoint.baseURL, apiKey: key, account: endpoint.account, http: network.plain, log: log)
    }
    return .sandboxProvider(
      baseURL: endpoint.baseURL, apiKey: key, account: endpoint.account, eventSecret: key, http: network.plain,
      log: log)
  }

  private static func courier(
    _ database: Database, _ folders: [MerchantFolder], _ configuration: ServerConfiguration, _ random: RandomBytes,
    _ network: Network, _ metrics: Metrics, _ logger: Logger
  ) async throws -> WebhookCourier {
    try MerchantWebhooks.judge(folders, allowsPrivate: configuration.allowsPrivateWebhooks)
    for folder in folders { try await WebhookCourier.adopt(folder.webhooks, of: folder.merchant.id, in: database) }
    let endpoints = Dictionary(uniqueKeysWithValues: folders.map { ($0.merchant.id, $0.webhooks) })
    return WebhookCourier(
      database: database, endpoints: { endpoints[$0] ?? [] },
      destinations: DestinationGuard(allowsPrivate: configuration.allowsPrivateWebhooks), network: network.webhooks,
      random: random, report: WebhookWatch(metrics: metrics, logger: logger).hear)
  }

  /// The key that signs guest tokens, made at the first start.
  private static func guestKey(_ path: String) throws -> String {
    if FileManager.default.fileExists(atPath: path) { return try MerchantFolder.secretText(path) }
    let key = P256.Signing.PrivateKey().pemRepresentation
    try PrivateFile.write(key, to: path)
    return key
  }
}

extension PaymentGateway {
  /// Refuses a configuration that takes away an acquirer while something is not finished there: its money would stay
  /// held, and its unknown outcomes unknown.
  func refuseUnfinishedElsewhere() async throws {
    let unfinished = try await unfinishedElsewhere()
    guard !unfinished.isEmpty else { return }
    let list = unfinished.map {
      "\($0.route): open operations \($0.openOperations), payments with held money \($0.liveHolds)"
    }
    throw ConfigurationError(
      "acquirer",
      "the store has payments that are not finished at an acquirer which is not configured (\(list.joined(separator: "; "))). "
        + "Configure that connector and account again; settle, capture or void what is left; then change it")
  }
}

/// Which Apple this server talks to, and whose payment tokens it believes.
struct Apple: Sendable {
  let hosts: ApplePayHosts
  let trust: TokenTrust
  let simulated: SimulatedApple?
  /// Whom the connection to the gateway must prove to be.
  let gatewayRoots: TrustedRoots

  init(_ configuration: ServerConfiguration, _ network: Network) async throws {
    switch configuration.environment {
    case .production:
      (hosts, trust, simulated, gatewayRoots) = (.production, .apple(production: true, sandbox: false), nil, .system)
    case .appleSandbox:
      (hosts, trust, simulated, gatewayRoots) = (.appleSandbox, .apple(production: false, sandbox: true), nil, .system)
    case .simulated:
      let sandbox = try await SimulatedApple(at: configuration.sandboxURL ?? "", sender: network.plain)
      hosts = try .simulated(gatewayURL: sandbox.gatewayURL)
      trust = try .simulated(rootPEM: sandbox.tokenRootPEM)
      simulated = sandbox
      gatewayRoots = .pem(sandbox.gatewayRootPEM)
    }
  }
}

/// The network as the server uses it: one plain client, and one with each merchant's own certificate.
package struct Network: Sendable {
  let plain: HTTPSender
  let identified: @Sendable (ClientIdentity, TrustedRoots) throws -> HTTPSender
  let webhooks: DeliveryNetwork
  let close: @Sendable () async -> Void

  /// Tests hand in their own and count what leaves.
  package init(
    plain: HTTPSender, identified: @escaping @Sendable (ClientIdentity, TrustedRoots) throws -> HTTPSender,
    webhooks: DeliveryNetwork = .live(), close: @escaping @Sendable () async -> Void = {}
  ) {
    self.plain = plain
    self.webhooks = webhooks
    self.identified = identified
    self.close = close
  }

  /// The real one.
  package static func live() throws -> Network {
    let clients = OpenClients()
    let plain = try LiveHTTPClient()
    clients.keep(plain)
    return Network(
      plain: plain.sender,
      identified: { identity, trust in
        let client = try LiveHTTPClient(identity: identity, trust: trust)
        clients.keep(client)
        return client.sender
      },
      close: { await clients.close() })
  }
}

/// The clients that must be shut down at the end.
private final class OpenClients: Sendable {
  private let clients = Mutex<[LiveHTTPClient]>([])

  func keep(_ client: LiveHTTPClient) { clients.withLock { $0.append(client) } }

  func close() async {
    for client in clients.withLock({ $0 }) { try? await client.shutdown() }
  }
}

extension MerchantFolder {
  /// What the merchant's baskets need of the configuration.
  var terms: MerchantTerms {
    MerchantTerms(
      supportedNetworks: profile.networks, merchantCapabilities: profile.capabilities,
      callbackSigner: callbackSigner, callbackHosts: profile.callbackHosts, platformDomain: platformDomains.first)
  }
}
