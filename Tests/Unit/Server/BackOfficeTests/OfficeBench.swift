import Acquiring
import Administration
import ApplePayToken
import BackOffice
import Foundation
import Gateway
import HTTPTransport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Ledger
import Mail
import MerchantIdentity
import NIOCore
import NIOEmbedded
import Orders
import Settings
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import Webhooks

/// An office over a store of its own, with a clock that stands still. It has the merchants `shop` and `other`, each with a
/// domain, a certificate request and a webhook endpoint whose server answers 500.
struct OfficeBench: Sendable {
  static let url = "http://office.example"

  let files: TemporaryStore
  let clock = ManualClock()
  let database: Database
  let journal: Journal
  let configuration: ServerConfiguration
  let acquirer = FakeAcquirer()
  let merchants: MerchantAdministration
  let doctor = NotedDoctor()
  let office: BackOffice

  /// - Parameters:
  ///   - apple: the simulated developer portal; without one none is reached.
  ///   - crashes: what happens at the named points of a payment.
  ///   - proxies: ranges of addresses whose `X-Forwarded-For` is believed.
  ///   - erasuresNeedTwo: whether a second administrator approves what is erased.
  ///   - url: how browsers reach the office.
  ///   - provider: at which operators sign in; nil for none.
  ///   - keyCopy: where the copy of the contacts' keys is, below the folder of the store; nil for a store without keys.
  ///   - ahead: by how much a simulation has moved the office's clock on.
  init(
    apple: HTTPSender? = nil, crashes: CrashPoints = .none, trusting proxies: [String] = [],
    erasuresNeedTwo: Bool = false, url: String = Self.url, provider: FakeProvider? = nil, keyCopy: String? = nil,
    ahead: Duration = .zero
  ) async throws {
    let wall = WallClock(ahead: { ahead }, of: clock.wall)
    files = try TemporaryStore()
    let plain = try await files.open(ServerStore.migrations, clock: wall)
    let folder = files.directory
    let keys = try keyCopy.map { try RowKeys(.init("\(folder)/contacts.keys", copy: "\(folder)/\($0)")) }
    database = keys.map { plain.sealed(under: $0) } ?? plain
    journal = Journal(database, random: .seeded(3))
    let gateway = PaymentGateway(
      opener: TokenOpener(verifier: TokenVerifier(trust: .apple()), keys: ProcessingKeyRing([:])), journal: journal,
      acquirer: Self.listing(acquirer), clock: wall, random: .seeded(4), scheduler: clock.scheduler,
      crashes: crashes)
    var configuration = Self.configuration(files.directory)
    configuration.trustedProxies = TrustedProxies(proxies.compactMap { NetworkRange($0) })
    configuration.office.erasuresNeedTwo = erasuresNeedTwo
    configuration.office.url = url
    if let provider { configuration.office.openID = provider.configuration }
    self.configuration = configuration
    try await Self.add(["shop", "other"], MerchantAdministration(configuration, database, clock: wall))
    let served = try await ServedMerchantsOfBench(configuration, database, clock)
    merchants = MerchantAdministration(
      configuration, database, server: Self.server(served, apple), clock: wall)
    var services = OfficeServices(
      payments: PaymentAdministration(gateway: gateway, journal: journal, random: .seeded(5)), merchants: merchants,
      reconciliation: Reconciliation(journal, routes: gateway.routes),
      webhooks: WebhookDispatcher(
        database: database, endpoints: { _ in nil }, keys: { served.key(of: $0) },
        destinations: configuration.destinations,
        network: DeliveryNetwork { _ in DeliveryNetwork.Line(HTTPSender { _, _ in InboundResponse(status: 500) }) }),
      health: { [doctor] in doctor.health.withLock(\.self) })
    services.checkAgain = { [doctor] in doctor.checkAgain() }
    services.sequences = { [.sample] }
    services.openID = provider.flatMap { OpenIDProvider($0.configuration, sender: $0.sender, clock: wall) }
    office = BackOffice(configuration, services, database, clock: wall)
  }

  private static func configuration(_ directory: String) -> ServerConfiguration {
    var configuration = ServerConfiguration(
      environment: .simulated, directory: directory, host: "127.0.0.1", port: 0, sandboxURL: "http://apple.example",
      acquirer: .init(connector: "sandbox", baseURL: "", apiKey: ""))
    configuration.allowsPrivateWebhooks = true
    configuration.office.url = url
    configuration.office.passwordCost = .least
    (configuration.mail.host, configuration.mail.from) = ("mail.example", MailAddress("tender@office.example"))
    return configuration
  }

  private static func add(_ ids: [String], _ merchants: MerchantAdministration) async throws {
    for (number, id) in ids.enumerated() {
      let merchant = MerchantProvisioning.NewMerchant(
        id: id, merchantIdentifier: "merchant.test.\(id)", displayName: id.capitalized, countryCode: "IE",
        currencyCode: "EUR", domains: ["\(id).example"])
      _ = try await merchants.perform(.add(try MerchantBundle(merchant, random: .system)))
      _ = try await merchants.perform(
        .setEndpoint("orders", url: "https://192.0.2.\(number + 1)/hooks", merchant: id))
      _ = try await merchants.perform(.requestCertificate(merchant: id, kind: .processing, isMainlandChina: false))
    }
  }

  private static func server(_ served: ServedMerchantsOfBench, _ apple: HTTPSender?) -> LiveServer {
    let nowhere = HTTPSender { _, _ throws(TransportError) in throw .notSent("there is no network") }
    let network = Network(
      plain: apple ?? nowhere, identified: { _, _ in nowhere },
      webhooks: DeliveryNetwork { _ in DeliveryNetwork.Line(nowhere) })
    return LiveServer(
      network: network, checks: CallsUnderWay(8, ofEach: 4), served: { served.now }, reload: served.reload,
      reloadEverywhere: served.reload)
  }

  /// The request that the bench made for a merchant's first certificate.
  func request(of merchant: String) async throws -> StoredCertificateReport {
    try #require(try await merchants.perform(.listCertificates(merchant: merchant)).certificates?.first)
  }

  /// What the pages can change of the merchants, in words.
  func merchantStates() async throws -> [String] {
    var states: [String] = []
    for merchant in try await merchants.merchants() {
      let id = MerchantID(merchant.id)
      let settings = try await merchants.editableSettings(of: id)?.rows.map { "\($0.key)=\($0.value)" } ?? []
      let state = try await merchants.parts(of: id).auditedState
      states.append("\(id) \(merchant.enabled) \(state) \(settings.joined(separator: " "))")
    }
    return states
  }

  /// What the office has asked the acquirer for.
  var asked: [FollowUpRequest] { acquirer.captures + acquirer.voids + acquirer.refunds }

  /// The acquirer of the route `sandbox`, which lists no operation of any period.
  private static func listing(_ acquirer: FakeAcquirer) -> Acquirer {
    var acquirer = acquirer.acquirer
    acquirer.capabilities.name = "sandbox"
    acquirer.report = { _, _, _ in AcquirerReport(lines: []) }
    return acquirer
  }

  /// A captured payment of the merchant `shop`.
  @discardableResult
  func captured(
    _ order: String = "order-1", _ amount: Amount = .eur(1250), capturing part: Amount? = nil,
    card: String = "Visa 0492"
  ) async throws -> PaymentID {
    var summary = CardSummary.sample
    (summary.name, summary.network, summary.type) = (card, .visa, .debit)
    let use = TokenUse(transactionID: "transaction \(order)", payloadHash: "payload \(order)")
    guard
      case .new(let attempt) = try await journal.claim(
        .sample(order, amount), spending: use, card: summary,
        terms: ClaimTerms(transactionIdentifier: "5a5a"))
    else { throw NoPayment() }
    let id = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment.id
    let capture = try await journal.reserve(.capture, part, of: id)
    _ = try await journal.record(FakeAcquirer.approval(capture.reference), for: capture)
    return id
  }

  struct NoPayment: Error {}

  /// The store does not take entries of what came of an attempt.
  func losesEnds() async throws {
    let ends = { $0 + " LIKE '%.outcome' OR " + $0 + " LIKE '%.refused' OR " + $0 + " LIKE '%.failed'" }
    let statement =
      switch StoreEngineUnderTest.chosen {
      case .sqlite:
        """
        CREATE TRIGGER full_disk BEFORE INSERT ON office_audit WHEN \(ends("NEW.action"))
        BEGIN SELECT RAISE(ABORT, 'full'); END
        """
      case .postgres:
        "ALTER TABLE office_audit ADD CONSTRAINT full_disk CHECK (NOT (\(ends("action")))) NOT VALID"
      }
    try await database.write { try $0.run(statement) }
  }

  /// The ids of all refunds that were asked for.
  func approvalStates() async throws -> [String] {
    try await database.read { try $0.rows("SELECT state FROM office_approvals").map { try $0.text("state") } }
  }

  func approvals() async throws -> [String] {
    try await database.read { try $0.rows("SELECT id FROM office_approvals ORDER BY id").map { try $0.text("id") } }
  }

  /// Adds a user and accepts the invitation, as a person does.
  func user(_ name: String, _ grants: [Grant], limits: String = "") async throws {
    let answer = try await office.users().perform(
      .add(name: name, grants: grants, refundLimits: limits))
    let path = try #require(answer.invitation)
    try await visit { visitor in
      _ = try await visitor.get(path)
      let secret = try await secret(ofInvitation: path)
      let page = try await visitor.post(path, ["password": Self.password, "code": secret.code(at: clock.now)])
      #expect(page.status == .ok)
    }
    clock.advance(.seconds(30))
  }

  static let password = "correct horse battery"

  /// What the app of a user computes codes from; nil for one who has accepted no invitation.
  func secret(of user: String) async throws -> OneTimeCodeSecret? {
    try await StoreVault(configuration: configuration, database: database, random: .system).secret(of: user)
  }

  /// What the page of an invitation shows for the app.
  func secret(ofInvitation path: String) async throws -> OneTimeCodeSecret {
    let accounts = OfficeAccounts(configuration, database, clock: clock.wall)
    return try #require(try await accounts.invitation(String(path.dropFirst("/invitation/".count)))).secret
  }

  /// Delivers the mail that waits.
  ///
  /// - Returns: the messages, as they leave.
  func deliverMail() async throws -> [MailMessage] {
    let sent = Mutex<[MailMessage]>([])
    let transport = MailTransport(
      send: { message, _ in
        sent.withLock { $0.append(message) }
        return SMTPResult(.done, "250 Ok", code: 250)
      }, probe: { _ in SMTPResult(.done, "") })
    try await MailDispatcher(
      database: database, settings: try #require(try configuration.mailSettings()), transport: transport,
      keys: { [configuration] in try await configuration.storeKeys() }
    ).round()
    return sent.withLock(\.self)
  }

  func visit<R>(
    from address: String = "192.0.2.1", _ body: @escaping @Sendable (Visitor) async throws -> R
  ) async throws -> R where R: Sendable {
    let (entrance, bench) = (Entrance(responder: office.router().buildResponder(), address: address), self)
    return try await Application(responder: entrance).test(.router) { client in
      try await body(Visitor(client: client, bench: bench))
    }
  }

  /// The office for calls from one address.
  private struct Entrance: HTTPResponder {
    let responder: RouterResponder<OfficeContext>
    let address: String

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
      let channel = NIOAsyncTestingChannel()
      channel.remoteAddress = try SocketAddress(ipAddress: address, port: 443)
      let source = ApplicationRequestContextSource(channel: channel, logger: context.logger)
      return try await responder.respond(to: request, context: OfficeContext(source: source))
    }
  }

  /// As somebody with these grants, who is signed in.
  func visit<R>(
    as grants: [Grant], limits: String = "", _ body: @escaping @Sendable (Visitor) async throws -> R
  ) async throws -> R where R: Sendable {
    let name = "user-\(RandomBytes.system.hex(4))"
    try await user(name, grants, limits: limits)
    return try await visit { visitor in
      try await visitor.signIn(name)
      return try await body(visitor)
    }
  }
}

/// The merchants of a bench, as its server has read them last.
final class ServedMerchantsOfBench: Sendable {
  private let configuration: ServerConfiguration
  private let database: Database
  private let clock: ManualClock
  private let last: Mutex<ServedMerchants>

  init(_ configuration: ServerConfiguration, _ database: Database, _ clock: ManualClock) async throws {
    (self.configuration, self.database, self.clock) = (configuration, database, clock)
    last = Mutex(try await ServedMerchants(configuration, database, nil, at: clock.now))
  }

  var now: ServedMerchants { last.withLock(\.self) }

  func key(of merchant: MerchantID) -> WebhookKey? { now.folders.first { $0.merchant.id == merchant }?.webhookKey }

  @Sendable func reload() async throws {
    let new = try await ServedMerchants(configuration, database, nil, at: clock.now)
    last.withLock { $0 = new }
  }
}

/// A browser: keeps the cookies, and sends forms as the pages do.
final class Visitor: Sendable {
  private let client: any TestClientProtocol
  private let bench: OfficeBench
  private let cookieValue = Mutex("")
  /// By which the office knows the browser again.
  private let device = Mutex("")
  /// While somebody is at the provider.
  private let providerCookie = Mutex("")

  init(client: any TestClientProtocol, bench: OfficeBench) { (self.client, self.bench) = (client, bench) }

  /// Another browser at this address.
  var neighbour: Visitor { Visitor(client: client, bench: bench) }

  var cookie: String {
    get { cookieValue.withLock(\.self) }
    set { cookieValue.withLock { $0 = newValue } }
  }

  struct Page: Sendable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let text: String

    /// Of the page's first form.
    var csrf: String { value(of: "csrf") }

    func value(of field: String) -> String {
      text.firstMatch(of: try! Regex("name=\"\(field)\" value=\"([^\"]*)\"")).flatMap { $0.output[1].substring }
        .map(String.init) ?? ""
    }
  }

  func get(_ path: String) async throws -> Page { try await send(.get, path, [:], "") }

  /// Comes from another site: the browser sends no cookie that is of the office's own pages alone.
  func arrive(at path: String) async throws -> Page { try await send(.get, path, [:], "", isFromElsewhere: true) }

  func arrive(at path: String, keeping cookie: String) async throws -> Page {
    providerCookie.withLock { $0 = cookie }
    return try await arrive(at: path)
  }

  func head(_ path: String) async throws -> Page { try await send(.head, path, [:], "") }

  /// Sends a form with the token of the visitor's own session.
  func post(_ path: String, _ fields: [String: String] = [:], csrf: String? = nil, headers: HTTPFields = [:])
    async throws -> Page
  {
    let token = if let csrf { csrf } else { try await get("/sign-in").csrf }
    let body = fields.merging(["csrf": token]) { own, _ in own }.map { "\($0.key)=\(Self.escaped($0.value))" }
    return try await send(.post, path, headers, body.joined(separator: "&"))
  }

  /// Sends a form that has a field more than once, as checkboxes do.
  func post(_ path: String, pairs: [(String, String)]) async throws -> Page {
    let body = (pairs + [("csrf", try await get("/sign-in").csrf)]).map { "\($0.0)=\(Self.escaped($0.1))" }
    return try await send(.post, path, [:], body.joined(separator: "&"))
  }

  /// Sends the fields of a form as JSON, with the token of the visitor's own session.
  func postJSON(_ path: String, _ fields: [String: String]) async throws -> Page {
    let all = fields.merging(["csrf": try await get("/sign-in").csrf]) { own, _ in own }
    let text = all.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
    return try await send(.post, path, [.contentType: "application/json"], "{\(text)}")
  }

  /// Sends a form with a file, as browsers do.
  func upload(
    _ path: String, _ fields: [String: String], file: String, as name: String = "report", csrf: String? = nil
  ) async throws -> Page {
    let token = if let csrf { csrf } else { try await get("/sign-in").csrf }
    let parts = fields.merging(["csrf": token]) { own, _ in own }.map {
      "--mark\r\nContent-Disposition: form-data; name=\"\($0.key)\"\r\n\r\n\($0.value)\r\n"
    }
    let report =
      "--mark\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"day.csv\"\r\nContent-Type: text/csv\r\n\r\n"
      + "\(file)\r\n--mark--\r\n"
    return try await send(
      .post, path, [.contentType: "multipart/form-data; boundary=mark"], parts.joined() + report)
  }

  private func send(
    _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields, _ body: String, isFromElsewhere: Bool = false
  ) async throws -> Page {
    var headers = headers
    let strict = [("tender-office", cookie), ("tender-office-device", device.withLock(\.self))]
    let lax = [("tender-office-provider", path.hasPrefix("/sign-in/openid") ? providerCookie.withLock(\.self) : "")]
    let cookies = (isFromElsewhere ? [] : strict) + lax
    let sent = cookies.filter { !$0.1.isEmpty }.map { "\($0.0)=\($0.1)" }.joined(separator: "; ")
    if !sent.isEmpty { headers[.cookie] = sent }
    let answer = try await client.execute(
      uri: path, method: method, headers: headers, body: ByteBuffer(string: body))
    for set in answer.headers[values: .setCookie] {
      if let value = set.firstMatch(of: /^tender-office=([0-9a-f]*)/)?.output.1 { cookie = String(value) }
      guard let value = set.firstMatch(of: /^tender-office-provider=([0-9a-f]*)/)?.output.1 else { continue }
      providerCookie.withLock { $0 = String(value) }
    }
    let set = answer.headers[values: .setCookie].compactMap { $0.firstMatch(of: /^tender-office-device=([0-9a-f]+)/) }
    if let value = set.first?.output.1 { device.withLock { $0 = String(value) } }
    return Page(status: answer.status, headers: answer.headers, text: String(buffer: answer.body))
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { "%" + Hex.encode([$0]) }.joined()
  }

  func signIn(_ name: String, password: String = OfficeBench.password, code: String? = nil) async throws {
    let page = try await attempt(name, password: password, code: code)
    #expect(page.status == .seeOther, "\(page.text)")
  }

  func attempt(
    _ name: String, password: String = OfficeBench.password, code: String? = nil, headers: HTTPFields = [:]
  ) async throws -> Page {
    let secret = try await bench.secret(of: name)
    return try await post(
      "/sign-in",
      ["name": name, "password": password, "code": code ?? secret?.code(at: bench.clock.now) ?? "000000"],
      headers: headers)
  }
}

extension OfficeSequence {
  static let sample = OfficeSequence(
    basket: BasketID("basket of order-1"), began: Timestamp(seconds: 1_800_000_000),
    steps: [
      Step(from: .browser, to: .server, name: "POST /applepay/payment", details: [("open_token", "3 ms")], at: .zero),
      Step(from: .server, to: .provider, name: "authorize", details: [], at: .milliseconds(4)),
    ])
}

/// A doctor whose findings a test sets, and who finds nothing when it is asked again.
final class NotedDoctor: Sendable {
  let health = Mutex(OfficeHealth(routes: [], findings: []))

  func checkAgain() {
    health.withLock {
      $0 = OfficeHealth(routes: [], findings: [], checkedAt: Timestamp(rfc3339: "2026-11-21T12:05:00Z"))
    }
  }
}
