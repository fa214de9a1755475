import Acquiring
import Administration
import ApplePayToken
import BackOffice
import Gateway
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

/// An office over a store of its own, with a clock that stands still, use cases that only note what they are asked, and
/// a payment of the merchant `shop`.
struct OfficeBench: Sendable {
  static let url = "http://office.example"

  let files: TemporaryStore
  let clock = ManualClock()
  let database: Database
  let journal: Journal
  let configuration: ServerConfiguration
  let acquirer = FakeAcquirer()
  let merchants = NotedMerchants()
  let office: BackOffice

  /// - Parameter crashes: what happens at the named points of a payment.
  init(crashes: CrashPoints = .none) async throws {
    files = try TemporaryStore()
    database = try await files.open(ServerStore.migrations, clock: clock.wall)
    journal = Journal(database, random: .seeded(3))
    let gateway = PaymentGateway(
      opener: TokenOpener(verifier: TokenVerifier(trust: .apple()), keys: ProcessingKeyRing([:])), journal: journal,
      acquirer: Self.listing(acquirer), clock: clock.wall, random: .seeded(4), scheduler: clock.scheduler,
      crashes: crashes)
    configuration = Self.configuration(files.directory)
    var services = OfficeServices(
      payments: PaymentAdministration(gateway: gateway, journal: journal, random: .seeded(5)), merchants: merchants,
      reconciliation: Reconciliation(journal, routes: gateway.routes), webhooks: NotedWebhooks(),
      health: { OfficeHealth(routes: [], findings: []) })
    services.sequences = { [.sample] }
    office = BackOffice(configuration, services, database, clock: clock.wall)
  }

  private static func configuration(_ directory: String) -> ServerConfiguration {
    var configuration = ServerConfiguration(
      environment: .simulated, directory: directory, host: "127.0.0.1", port: 0, sandboxURL: nil,
      acquirer: .init(connector: "sandbox", baseURL: "", apiKey: ""))
    configuration.office.url = url
    configuration.office.passwordCost = .least
    (configuration.mail.host, configuration.mail.from) = ("mail.example", MailAddress("tender@office.example"))
    return configuration
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
    try await database.write { store in
      try store.run(
        """
        CREATE TRIGGER full_disk BEFORE INSERT ON office_audit
        WHEN NEW.action LIKE '%.outcome' OR NEW.action LIKE '%.refused' OR NEW.action LIKE '%.failed'
        BEGIN SELECT RAISE(ABORT, 'full'); END
        """)
    }
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

/// A browser: keeps the cookies, and sends forms as the pages do.
final class Visitor: Sendable {
  private let client: any TestClientProtocol
  private let bench: OfficeBench
  private let cookieValue = Mutex("")
  /// By which the office knows the browser again.
  private let device = Mutex("")

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

  func head(_ path: String) async throws -> Page { try await send(.head, path, [:], "") }

  /// Sends a form with the token of the visitor's own session.
  func post(_ path: String, _ fields: [String: String] = [:], csrf: String? = nil, headers: HTTPFields = [:])
    async throws -> Page
  {
    let token = if let csrf { csrf } else { try await get("/sign-in").csrf }
    let body = fields.merging(["csrf": token]) { own, _ in own }.map { "\($0.key)=\(Self.escaped($0.value))" }
    return try await send(.post, path, headers, body.joined(separator: "&"))
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
    _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields, _ body: String
  ) async throws -> Page {
    var headers = headers
    let cookies = [("tender-office", cookie), ("tender-office-device", device.withLock(\.self))]
    let sent = cookies.filter { !$0.1.isEmpty }.map { "\($0.0)=\($0.1)" }.joined(separator: "; ")
    if !sent.isEmpty { headers[.cookie] = sent }
    let answer = try await client.execute(
      uri: path, method: method, headers: headers, body: ByteBuffer(string: body))
    if let set = answer.headers[.setCookie], let value = set.firstMatch(of: /tender-office=([0-9a-f]*)/)?.output.1 {
      cookie = String(value)
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

  func attempt(_ name: String, password: String = OfficeBench.password, code: String? = nil) async throws -> Page {
    let secret = try await bench.secret(of: name)
    return try await post(
      "/sign-in",
      ["name": name, "password": password, "code": code ?? secret?.code(at: bench.clock.now) ?? "000000"])
  }
}

extension OfficeSequence {
  static let sample = OfficeSequence(
    basket: BasketID("basket of order-1"), began: Timestamp(seconds: 1_800_000_000),
    steps: [
      Step(from: .browser, to: .server, name: "POST /applepay/payment", details: [("tokenOpened", "3 ms")], at: .zero),
      Step(from: .server, to: .provider, name: "authorize", details: [], at: .milliseconds(4)),
    ])
}

/// One endpoint for each merchant, which does not answer.
struct NotedWebhooks: WebhookUseCases {
  func endpoints(of merchant: MerchantID) -> [OfficeEndpoint] {
    [OfficeEndpoint(name: "orders", url: "https://\(merchant).example/hooks")]
  }
  func sendTest(to endpoint: OfficeEndpoint, of merchant: MerchantID) -> String? { "HTTP 500" }
}

/// Two merchants, `shop` and `other`, of which nothing changes.
final class NotedMerchants: MerchantUseCases {
  private let all = Mutex<[String]>([])
  var changes: [String] { all.withLock(\.self) }

  /// How often all were read.
  var lists: Int { listed.withLock(\.self) }
  private let listed = Mutex(0)

  func merchant(_ id: MerchantID) -> OfficeMerchant? { both.first { $0.id == id } }

  func merchants() -> [OfficeMerchant] {
    listed.withLock { $0 += 1 }
    return both
  }

  private var both: [OfficeMerchant] {
    ["shop", "other"].map {
      OfficeMerchant(
        id: MerchantID($0), identifier: "merchant.test.\($0)", isDeclared: false, isEnabled: true, refusal: nil)
    }
  }

  func parts(of merchant: MerchantID) -> OfficeMerchantParts {
    var parts = OfficeMerchantParts()
    parts.certificates = [
      .init(
        id: "certificate-of-\(merchant)", kind: .processing, state: .next, expires: nil, daysLeft: 12,
        publicKeyHash: "hash", request: "request of \(merchant)")
    ]
    return parts
  }

  func add(_ merchant: NewOfficeMerchant, actor: String) { all.withLock { $0.append("add \(merchant.id)") } }
  func registration(of merchant: MerchantID) -> OfficeRegistration? {
    merchant == "shop" ? OfficeRegistration(name: "Shop", domains: ["shop.example"], encryptTo: "hash") : nil
  }
  func publishTerms(_ version: String, wording: String, graceDays: Int64) {
    all.withLock { $0.append("terms \(version)") }
  }

  func export(_ merchant: MerchantID) -> [UInt8] { Array("everything of \(merchant)".utf8) }
  func exported(_ file: [UInt8]) throws -> ExportedMerchant {
    let text = String(decoding: file, as: UTF8.self)
    guard text.hasPrefix("everything of ") else { throw OfficeRefusal.refused("\(text) is no merchant") }
    return ExportedMerchant(id: MerchantID(String(text.dropFirst(14))), summary: "1 domain", file: file)
  }
  func take(_ merchant: ExportedMerchant) { all.withLock { $0.append("import \(merchant.id)") } }

  /// Refuses one change.
  func perform(_ change: MerchantChange, on merchant: MerchantID, actor: String) throws -> MerchantChangeResult {
    if case .edit(["currencyCode": "YEN"], _) = change { throw OfficeRefusal.refused("YEN is no currency.") }
    all.withLock { $0.append("\(merchant) \(change)") }
    if case .addKey = change { return MerchantChangeResult(secret: ("key-1", "the secret")) }
    return MerchantChangeResult()
  }
}
