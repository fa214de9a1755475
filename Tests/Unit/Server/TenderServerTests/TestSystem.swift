import AcquirerSandbox
import Administration
import AppleSandbox
import BackOffice
import DirectWire
import Foundation
import Gateway
import HTTPTransport
import Logging
import Mail
import Settings
import StrictJSON
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Webhooks

/// The whole system in one test process, over real sockets: a sandbox, a server, two merchants made at the portal.
///
/// Started once for all tests that do not stop its clock, because two RSA keys and two stores take their time. What leaves the server towards
/// Apple is counted, and what it logs is kept.
final class TestSystem: Sendable {
  static let shared = Task { try await TestSystem() }

  let directory: String
  let server: String
  /// Of its back office. The metrics have the next port.
  let office: String
  let sandbox: JSONClient
  let sender: HTTPSender
  let clock: StoppableClock
  let callsToApple: Log
  let log: Log
  /// The webhooks that the merchants received, a body a line.
  let webhooks: Log
  let harbour: Shopfront
  let kitsune: Shopfront
  /// A merchant for the one test that counts its sessions.
  let counted: Shopfront
  /// A merchant without a processing certificate, which a platform serves.
  let stall: Shopfront
  /// The sandbox's mailbox.
  let mail: MailConfiguration
  private let runs: [Task<Void, any Error>]

  init() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-system-\(UUID().uuidString)").path
    let sender = try LiveHTTPClient(maximumResponseBytes: 4 << 20).sender.unhurried
    let (clock, calls, log, webhooks) = (StoppableClock(), Log(), Log(), Log())
    let serverPort = Mailbox<Int>()
    let (addresses, sandboxRun) = try await Self.startSandbox(directory, clock, sender, serverPort)
    let sandbox = JSONClient(addresses.url, sender: sender)
    let merchants = [Self.harbourMerchant, Self.kitsuneMerchant, Self.countedMerchant, Self.stallMerchant]
    let provisioning = MerchantProvisioning(portal: sandbox, random: .system)
    for merchant in merchants { _ = try await provisioning.make(merchant, below: directory + "/merchants") }
    _ = try await provisioning.makePlatform(Self.platformMerchant, page: Self.hostedDomain, below: directory)
    for merchant in [Self.marketMerchant, Self.bazaarMerchant] {
      let looks = ["band.yaml": "header: \"#0b5a66\"\n", "band.svg": "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"]
      _ = try provisioning.makeServed(merchant, looks: looks, below: directory + "/merchants")
    }
    try Self.joinPlatform(directory + "/merchants/stall")
    try Self.write(
      "hostedRegions: [IE]\nhostedFrameAncestors: [\"https://shop.example\"]", below: directory + "/merchants/bazaar")
    try Self.configureWebhooks(directory + "/merchants/harbour")
    try Self.write("hostedFrameAncestors: [\"http://harbour.localhost:8401\"]", below: directory + "/merchants/harbour")
    try Self.requireDigests(directory + "/merchants/kitsune")
    try Self.writeToShoppers(directory + "/merchants/kitsune")
    let (port, office, serverRun) = try await Self.startServer(directory, addresses, clock, calls, log, webhooks)
    runs = [serverRun, sandboxRun]
    serverPort.put(port)
    for merchant in merchants { try await provisioning.verify(merchant) }
    try await Self.registerPage(Self.configuration(directory, addresses), clock)
    self.directory = directory
    mail = Self.mail(addresses, directory)
    (self.server, self.office) = ("http://127.0.0.1:\(port)", office)
    (self.sandbox, self.sender, self.clock, self.callsToApple, self.log) = (sandbox, sender, clock, calls, log)
    self.webhooks = webhooks
    harbour = try Shopfront(Self.harbourMerchant, directory, server, sender)
    kitsune = try Shopfront(Self.kitsuneMerchant, directory, server, sender)
    counted = try Shopfront(Self.countedMerchant, directory, server, sender)
    stall = try Shopfront(Self.stallMerchant, directory, server, sender)
  }

  /// A sandbox and a server on a directory that may have served before, with one merchant in the place of the four. It
  /// is declared nowhere; its folder is made below `imported` at the first time.
  init(of merchant: MerchantProvisioning.NewMerchant, in directory: String, at clock: StoppableClock) async throws {
    let sender = try LiveHTTPClient(maximumResponseBytes: 4 << 20).sender.unhurried
    let (calls, log, webhooks, serverPort) = (Log(), Log(), Log(), Mailbox<Int>())
    try FileManager.default.createDirectory(atPath: directory + "/merchants", withIntermediateDirectories: true)
    let (addresses, sandboxRun) = try await Self.startSandbox(directory, clock, sender, serverPort)
    sandbox = JSONClient(addresses.url, sender: sender)
    _ = try await MerchantProvisioning(portal: sandbox, random: .system).make(
      merchant, below: directory + "/imported/merchants")
    let (port, office, serverRun) = try await Self.startServer(directory, addresses, clock, calls, log, webhooks)
    runs = [serverRun, sandboxRun]
    serverPort.put(port)
    mail = Self.mail(addresses, directory)
    (self.directory, server, self.office) = (directory, "http://127.0.0.1:\(port)", office)
    (self.sender, self.clock, callsToApple, self.log, self.webhooks) = (sender, clock, calls, log, webhooks)
    harbour = try Shopfront(merchant, directory + "/imported", server, sender, store: directory)
    (kitsune, counted, stall) = (harbour, harbour, harbour)
  }

  /// Ends server and sandbox, so that others may have their directory.
  func stop() async {
    for run in runs {
      run.cancel()
      _ = await run.result
    }
  }

  static let harbourMerchant = MerchantProvisioning.NewMerchant(
    id: "harbour", merchantIdentifier: "merchant.test.harbour", displayName: "Harbour Kitchen", countryCode: "IE",
    currencyCode: "EUR", domains: ["harbour.localhost:8401", "www.harbour.localhost:8401"])
  static let kitsuneMerchant = MerchantProvisioning.NewMerchant(
    id: "kitsune", merchantIdentifier: "merchant.test.kitsune", displayName: "Kitsune Noodles", countryCode: "JP",
    currencyCode: "JPY", domains: ["kitsune.localhost:8404"])
  static let countedMerchant = MerchantProvisioning.NewMerchant(
    id: "counted", merchantIdentifier: "merchant.test.counted", displayName: "Counted", countryCode: "IE",
    currencyCode: "EUR", domains: ["counted.localhost:8405"])

  static let stallMerchant = MerchantProvisioning.NewMerchant(
    id: "stall", merchantIdentifier: "merchant.test.stall", displayName: "Market Stall", countryCode: "IE",
    currencyCode: "EUR", domains: ["stall.localhost:8406", "www.stall.localhost:8406"])
  /// Merchants without a page of their own, whom the platform serves.
  static let marketMerchant = MerchantProvisioning.NewMerchant(
    id: "market", merchantIdentifier: "merchant.test.market", displayName: "Market <b>Hall</b>", countryCode: "IE",
    currencyCode: "EUR", domains: [])
  static let bazaarMerchant = MerchantProvisioning.NewMerchant(
    id: "bazaar", merchantIdentifier: "merchant.test.bazaar", displayName: "Bazaar", countryCode: "IE",
    currencyCode: "EUR", domains: [])
  /// Of the platform's own pages.
  static let hostedDomain = "pay.localhost:8409"
  static let platformMerchant = MerchantProvisioning.NewMerchant(
    id: "platform", merchantIdentifier: "merchant.test.platform", displayName: "Platform", countryCode: "IE",
    currencyCode: "EUR", domains: [])

  /// Calls the administration socket.
  func admin(_ method: String, _ path: String, _ body: [UInt8] = []) async throws -> JSONValue {
    try JSONReader.read(try await Self.admin(directory, sender, method, path, body).body)
  }

  func metrics() async throws -> String { try await Self.metrics(directory, sender) }

  static func metrics(_ directory: String, _ sender: HTTPSender) async throws -> String {
    String(decoding: try await admin(directory, sender, "GET", "/metrics", []).body, as: UTF8.self)
  }

  private static func admin(
    _ directory: String, _ sender: HTTPSender, _ method: String, _ path: String, _ body: [UInt8]
  ) async throws -> InboundResponse {
    let socket = "\(directory)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(path)", body: body)
    return try await sender.send(request, TestRun.whole)
  }

  private static func startSandbox(
    _ directory: String, _ clock: StoppableClock, _ sender: HTTPSender, _ serverPort: Mailbox<Int>
  ) async throws -> (addresses: SandboxAddresses, run: Task<Void, any Error>) {
    var settings = SandboxConfiguration(directory: directory + "/sandbox")
    (settings.port, settings.gatewayPort, settings.acquirerSilence) = (0, 0, .seconds(2))
    settings.clock = clock.wall
    settings.logger.logLevel = .error
    settings.events = EventDelivery(
      form: { await Self.isTaken(sender, $0, "application/x-www-form-urlencoded", $1) },
      headers: { await Self.isTaken(sender, $0, "application/json", $2, $1) },
      get: { url in
        // The server's address was made before its port was known.
        let path = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last ?? ""
        let rest = path.drop { $0 != "/" }
        let request = OutboundRequest(method: "GET", url: "http://127.0.0.1:\(serverPort.value ?? 1)\(rest)")
        return (try? await sender.send(request, TestRun.whole).status) == 200
      },
      post: { url, _, body in await Self.isTaken(sender, url, "application/json", body) })
    settings.fetch = AssociationFetch { url in
      let host = String(url.dropFirst("http://".count).prefix { $0 != "/" })
      let path = url.dropFirst("http://".count + host.count)
      let answer = try await sender.send(
        OutboundRequest(
          method: "GET", url: "http://127.0.0.1:\(serverPort.value ?? 1)\(path)", headers: [HTTPField("Host", host)]),
        TestRun.whole)
      return (answer.status, answer.body)
    }
    let ready = Mailbox<SandboxAddresses>()
    settings.onReady = { ready.put($0) }
    let sandbox = try await SandboxServer(settings)
    let run = ready.start { try await sandbox.run() }
    return (try await ready.awaited, run)
  }

  /// Whether the recipient of a provider's event has acknowledged it.
  private static func isTaken(
    _ sender: HTTPSender, _ url: String, _ type: String, _ body: [UInt8], _ more: [(name: String, value: String)] = []
  ) async -> Bool {
    let headers = [HTTPField("Content-Type", type)] + more.map { HTTPField($0.name, $0.value) }
    let request = OutboundRequest(method: "POST", url: url, headers: headers, body: body)
    guard let answer = try? await sender.send(request, TestRun.whole) else { return false }
    return (200..<300).contains(answer.status)
  }

  /// Mail goes to the sandbox's mailbox.
  private static func mail(_ addresses: SandboxAddresses, _ directory: String) -> MailConfiguration {
    var mail = MailConfiguration()
    (mail.host, mail.port) = (addresses.mailHost, addresses.mailPort)
    (mail.user, mail.password) = (addresses.mailUser, addresses.mailPassword)
    mail.rootsFile = directory + "/sandbox/pki/tls-root.pem"
    mail.from = MailAddress("tender@pay.example")
    mail.recipients = [MailAddress("operator@pay.example")].compactMap(\.self)
    return mail
  }

  /// The messages in the sandbox's mailbox that fit, the newest first.
  func mails(where fits: (JSONValue) -> Bool) async throws -> [JSONValue] {
    (try await sandbox.require("GET", "/sandbox/mail")["messages"]?.elements ?? []).filter(fits)
  }

  private static func configureWebhooks(_ folder: String) throws {
    try write("webhooks: [\"orders=http://localhost:9/hooks\"]\nwebhooksWithOrder: [orders]", below: folder)
  }

  private static func requireDigests(_ folder: String) throws {
    try write("requireContentDigest: [\"\(try MerchantFolder.apiKey(at: folder).id)\"]", below: folder)
  }

  private static func writeToShoppers(_ folder: String) throws {
    try write(
      "orderConfirmation: true\nrefundNotice: true\nmailReplyTo: help@kitsune.example\nmailColor: \"#0b6e4f\"\n"
        + "merchantCategory: \"5814\"",
      below: folder)
  }

  private static func joinPlatform(_ folder: String) throws {
    try FileManager.default.removeItem(atPath: folder + "/processing")
    try write("encryptTo: platform", below: folder)
  }

  private static func write(_ line: String, below folder: String) throws {
    let path = folder + "/merchant.yaml"
    let yaml = try String(contentsOfFile: path, encoding: .utf8)
    try MerchantProvisioning.write(yaml + line + "\n", to: path)
  }

  private static func configuration(_ directory: String, _ addresses: SandboxAddresses) -> ServerConfiguration {
    let sandboxURL = addresses.url
    var configuration = ServerConfiguration(
      environment: .simulated, directory: directory, host: "127.0.0.1", port: 0, sandboxURL: sandboxURL,
      acquirer: .init(connector: "sandbox", baseURL: sandboxURL, apiKey: ""))
    configuration.allowsPrivateWebhooks = true
    configuration.hostedCheckoutURL = "http://\(hostedDomain)"
    configuration.connectionTimes = .unhurried
    configuration.gatewayPolicy.budget = TestRun.whole
    // An inquiry may take as long as its lease allows.
    configuration.gatewayPolicy.inquiryTimeout = TestRun.whole
    configuration.mail = mail(addresses, directory)
    if FileManager.default.fileExists(atPath: agentSocket(directory)) {
      configuration.keyAgentSocket = agentSocket(directory)
    }
    if FileManager.default.fileExists(atPath: directory + "/platform") {
      configuration.platformDirectory = directory + "/platform"
    }
    return configuration
  }

  /// Where a key agent listens, if it does so before the server starts.
  static func agentSocket(_ directory: String) -> String { directory + "/keys.sock" }

  private static func registerPage(_ configuration: ServerConfiguration, _ clock: StoppableClock) async throws {
    let network = try Network.live()
    let registration = try await PlatformRegistration(configuration, network, at: clock.wall.now())
    try await registration.registerPage(hostedDomain, of: [marketMerchant, bazaarMerchant])
    await network.close()
  }

  private static func startServer(
    _ directory: String, _ addresses: SandboxAddresses, _ clock: StoppableClock, _ calls: Log, _ log: Log,
    _ webhooks: Log
  ) async throws -> (port: Int, office: String, run: Task<Void, any Error>) {
    var configuration = Self.configuration(directory, addresses)
    let officePort = try FreePorts.row(of: 2)
    (configuration.office.port, configuration.metricsPort) = (officePort, officePort + 1)
    configuration.office.passwordCost = .least
    try await configuration.useEngineUnderTest()
    var network = Network(
      plain: try LiveHTTPClient().sender.unhurried,
      identified: { identity, trust in
        let sender = try LiveHTTPClient(identity: identity, trust: trust, connectingWithin: 3_600).sender.unhurried
        return HTTPSender { request, timeout throws(TransportError) in
          calls.keep("\(String(decoding: request.body, as: UTF8.self))\n")
          return try await sender.send(request, timeout)
        }
      },
      webhooks: DeliveryNetwork { _ in
        .init(
          HTTPSender { request, _ in
            webhooks.keep(String(decoding: request.body, as: UTF8.self) + "\n")
            return InboundResponse(status: 204)
          })
      })
    network.handshake = SecureSites.handshake
    var logger = Logger(label: "tender") { JSONLogHandler(label: $0, write: log.keep) }
    logger.logLevel = .trace
    let ready = Mailbox<Int>()
    let server = try await TenderServer(
      configuration, clock: clock.wall, scheduler: clock.scheduler, network: network, logger: logger
    ) { ready.put($0) }
    let run = ready.start { try await server.run() }
    return (try await ready.awaited, "http://127.0.0.1:\(officePort)", run)
  }
}

/// TLS servers that are not there: what each shows on port 443.
enum SecureSites {
  private static let sites = Mutex<[String: TLSHandshake]>([:])

  static func show(_ handshake: TLSHandshake, at host: String) { sites.withLock { $0[host] = handshake } }

  static func handshake(_ host: String, _ port: Int) async throws -> TLSHandshake {
    guard port == 443, let shown = sites.withLock({ $0[host] }) else { throw TransportError.notSent("no TLS there") }
    return shown
  }
}

/// One merchant's side in a test: its page and its server.
struct Shopfront: Sendable {
  let merchant: MerchantProvisioning.NewMerchant
  let origin: String
  let page: JSONClient
  let key: (merchant: String, id: String, secret: String)
  let server: String
  let sender: HTTPSender
  /// Below which the server's store is.
  let store: String

  init(
    _ merchant: MerchantProvisioning.NewMerchant, _ directory: String, _ server: String, _ sender: HTTPSender,
    store: String? = nil, scheme: String = "http"
  ) throws {
    self.merchant = merchant
    self.store = store ?? directory
    self.origin = "\(scheme)://\(merchant.domains[0])"
    self.page = JSONClient(server, sender: sender, headers: [HTTPField("Origin", origin)])
    self.key = try MerchantFolder.apiKey(at: "\(directory)/merchants/\(merchant.id)")
    (self.server, self.sender) = (server, sender)
  }

  /// The same shop, which signs with another key.
  init(_ other: Shopfront, key: (merchant: String, id: String, secret: String)) {
    (merchant, origin, page, self.key) = (other.merchant, other.origin, other.page, key)
    (server, sender, store) = (other.server, other.sender, other.store)
  }

  /// The same shop, whose page says something more in each call.
  init(_ other: Shopfront, saying field: HTTPField) {
    (merchant, origin, key, server) = (other.merchant, other.origin, other.key, other.server)
    (sender, store) = (other.sender, other.store)
    page = JSONClient(server, sender: sender, headers: [HTTPField("Origin", origin), field])
  }

  /// A shop of a merchant that has no folder.
  init(
    _ merchant: MerchantProvisioning.NewMerchant, _ system: TestSystem,
    key: (merchant: String, id: String, secret: String), at server: String? = nil
  ) {
    (self.merchant, self.key, origin) = (merchant, key, "http://\(merchant.domains[0])")
    self.server = server ?? system.server
    page = JSONClient(self.server, sender: system.sender, headers: [HTTPField("Origin", origin)])
    (sender, store) = (system.sender, system.directory)
  }

  /// What the server has counted.
  func metrics() async throws -> String { try await TestSystem.metrics(store, sender) }

  var port: Int { Int(server.split(separator: ":").last ?? "") ?? 0 }

  func signed(
    _ method: String, _ path: String, _ body: JSONValue? = nil, at now: Timestamp, secret: String? = nil,
    under idempotencyKey: String? = nil
  ) async throws -> JSONClient.Answer {
    let headers = RequestSigning.headers(
      key.id, secret ?? key.secret, method, path, body, idempotencyKey, at: now)
    return try await JSONClient(server, sender: sender).call(method, path, body, headers: headers)
  }
}

/// The machine's time, or one that is ahead of it, until a test stops it.
final class StoppableClock: Sendable {
  private let state: Mutex<(ahead: Duration, moved: Duration, stopped: (Timestamp, Duration)?)>

  init(ahead: Duration = .zero) { state = Mutex((ahead, .zero, nil)) }

  /// A clock that stands still: no limit of time strikes, however slow the machine.
  static var stopped: StoppableClock {
    let clock = StoppableClock()
    clock.stop()
    return clock
  }

  /// It shows this time from now on.
  func stop() {
    let (now, uptime) = (wall.now(), scheduler.uptime())
    state.withLock { $0.stopped = (now, uptime) }
  }

  /// So much time passes at once.
  func move(_ duration: Duration) {
    state.withLock { state in
      state.moved += duration
      state.stopped = state.stopped.map { ($0.adding(duration), $1 + duration) }
    }
  }

  var wall: WallClock {
    WallClock { self.state.withLock { $0.stopped?.0 ?? WallClock.system.now().adding($0.ahead + $0.moved) } }
  }

  /// Its monotonic time agrees with the clock. Sleeping takes the machine's time.
  var scheduler: Scheduler {
    Scheduler(
      uptime: { self.state.withLock { $0.stopped?.1 ?? Scheduler.system.uptime() + $0.moved } },
      sleep: Scheduler.system.sleep, finish: Scheduler.system.finish)
  }
}

extension ConnectionTimes {
  /// For callers on a slow machine.
  static var unhurried: ConnectionTimes {
    var times = ConnectionTimes()
    (times.headerSeconds, times.bodySeconds, times.idleSeconds, times.unreadSeconds) = (3_600, 3_600, 3_600, 3_600)
    return times
  }
}

extension HTTPSender {
  /// It waits for an answer as long as the tests run, however slow the machine.
  var unhurried: HTTPSender {
    HTTPSender { request, _ throws(TransportError) in try await self.send(request, TestRun.whole) }
  }
}

final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  @Sendable func keep(_ line: String) { lines.withLock { $0.append(line) } }
  var text: String { lines.withLock { $0.joined() } }
  var lineCount: Int { lines.withLock { $0.count } }
  func count(of text: String) -> Int { lines.withLock { $0.count { $0.contains(text) } } }
}

/// A value that one task puts and another waits for.
final class Mailbox<Value: Sendable>: Sendable {
  private let content = Mutex<Result<Value, any Error>?>(nil)

  func put(_ value: Value) { content.withLock { $0 = .success(value) } }
  var value: Value? { try? content.withLock { $0 }?.get() }

  /// Starts what puts the value. When it fails, whoever waits gets its error.
  @discardableResult
  func start(_ run: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    Task {
      do { try await run() } catch {
        content.withLock { $0 = .failure(error) }
        throw error
      }
    }
  }

  struct Empty: Error {}

  var awaited: Value {
    get async throws {
      let found = try await waitFor("\(Value.self) in a mailbox", { content.withLock { $0 } }) { $0 != nil }
      guard let found else { throw Empty() }
      return try found.get()
    }
  }
}
