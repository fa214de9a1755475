import AcquirerSandbox
import Acquiring
import Connectors
import ApplePayToken
import DirectWire
import HTTPTransport
import Hummingbird
import HummingbirdTesting
import ProviderEmulators
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// A merchant at the emulated Worldline Direct, over HTTP.
struct WorldlineDirectVisit: Sendable {
  let origin: String
  let http: HTTPSender
  let service: WorldlineDirectSandbox
  let pki: SandboxPKI
  let transcripts: AdyenVisit.Transcripts

  static let account = WorldlineDirectAccount(
    merchantID: "Shop", apiKeyID: "KEY1", secretAPIKey: "secret-api-key", webhookKeyID: "HOOK1",
    webhookSecret: "secret-webhook-key")

  static func run(_ body: @escaping @Sendable (WorldlineDirectVisit) async throws -> Void) async throws {
    let files = try TemporaryStore()
    let pki = try SandboxPKI()
    // A call without an answer ends with a gateway's 504 here: as unknown as a timeout, on a slow machine too.
    let service = try await WorldlineDirectSandbox(
      databasePath: files.path, tokenRootPEM: pki.rootPEM, accounts: [account], silence: .milliseconds(50))
    let router = Router()
    service.addRoutes(to: router)
    let http = try LiveHTTPClient()
    let sender = http.sender
    do {
      try await Application(router: router).test(.live) { client in
        try await body(
          WorldlineDirectVisit(
            origin: "http://localhost:\(client.port ?? 0)", http: sender, service: service, pki: pki,
            transcripts: AdyenVisit.Transcripts()))
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await service.close()
  }

  static func settings(
    _ host: WorldlineDirectSettings.Host, merchant: String = account.merchantID,
    secret: String = account.secretAPIKey, webhookKeys: [(id: String, secret: String)]? = nil,
    authorization: AuthorizationType = .preliminary
  ) throws -> WorldlineDirectSettings {
    let hooks = webhookKeys ?? [(account.webhookKeyID, account.webhookSecret)]
    return try WorldlineDirectSettings(
      host: host, merchantID: merchant,
      apiKey: try #require(WorldlineDirectKey(id: account.apiKeyID, secret: secret)),
      webhookKeys: try hooks.map { try #require(WorldlineDirectKey(id: $0.id, secret: $0.secret)) },
      authorization: authorization)
  }

  func acquirer(
    merchant: String = account.merchantID, secret: String = account.secretAPIKey, clock: WallClock = .system
  ) throws -> Acquirer {
    .worldlineDirect(
      try Self.settings(.simulated(origin: origin), merchant: merchant, secret: secret), http: http, clock: clock
    ) { self.transcripts.keep($0()) }
  }

  static func card(_ id: String = "visa-debit", cryptogram: String? = nil) throws -> PaymentInstrument {
    let card = try #require(SandboxCards.card(id: id))
    return .network(
      NetworkToken(
        dpan: card.dpan, expiry: try #require(CardExpiry(applePayDate: card.expirationDate)),
        cryptogram: Cryptogram(base64: cryptogram ?? Base64.encode(RandomBytes.system.next(20))), eci: "7"))
  }

  func authorize(
    _ reference: String, _ units: Int64 = 1250, card: String = "visa-debit", cryptogram: String? = nil
  ) async throws -> AcquirerAnswer {
    try await authorize(reference, units, try Self.card(card, cryptogram: cryptogram))
  }

  func authorize(
    _ reference: String, _ units: Int64, _ instrument: PaymentInstrument
  ) async throws -> AcquirerAnswer {
    let request = AuthorizationRequest(
      reference: AttemptReference(reference), merchantReference: "order", amount: .eur(units), instrument: instrument)
    return try await acquirer().authorize(request, .after(TestRun.whole))
  }

  /// Worldline's name of a payment that is authorized now.
  func held(_ reference: String, _ units: Int64 = 1250) async throws -> String {
    let answer = try await authorize(reference, units)
    guard case .approved(let approval) = answer else { throw AdyenVisit.Unexpected(answer: answer) }
    return approval.acquirerReference
  }

  func capture(
    _ reference: String, _ name: String, _ units: Int64, isFinal: Bool = false
  ) async throws -> AcquirerAnswer {
    try await acquirer().capture(followUp(reference, name, units, isFinal: isFinal), .after(TestRun.whole))
  }

  func void(_ reference: String, _ name: String, _ units: Int64, isWhole: Bool = false) async throws -> AcquirerAnswer {
    try await acquirer().void(followUp(reference, name, units, isWhole: isWhole), .after(TestRun.whole))
  }

  func refund(_ reference: String, _ name: String, _ units: Int64) async throws -> AcquirerAnswer {
    try await acquirer().refund(followUp(reference, name, units), .after(TestRun.whole))
  }

  private func followUp(
    _ reference: String, _ name: String, _ units: Int64, isFinal: Bool = false, isWhole: Bool = false
  ) -> FollowUpRequest {
    FollowUpRequest(
      reference: AttemptReference(reference), authorization: name, amount: .eur(units), isFinal: isFinal,
      isWhole: isWhole)
  }

  func inquire(
    _ reference: String, _ kind: InquiredOperation, called name: String?, _ units: Int64
  ) async throws -> Inquiry {
    try await acquirer().inquire(
      InquiryRequest(
        reference: AttemptReference(reference), amount: .eur(units), kind: kind, acquirerReference: name),
      .after(TestRun.whole))
  }

  /// A payment token that only Worldline can open.
  func sealed(_ units: Int64) async throws -> VerifiedPaymentToken {
    let csr = try await service.certificateRequest(for: "merchant.com.example.shop")
    let recipient = try TokenRecipient(
      certificatePEM: try pki.certificate(.processing, for: "merchant.com.example.shop", csr: csr))
    let request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: "visa-debit")), amount: .eur(units), recipient: recipient)
    let token = try EncryptedPaymentToken(json: PaymentTokenIssuer(pki: pki).issue(request).json)
    return VerifiedPaymentToken(
      token: token, signingTime: WallClock.system.now(), environment: .simulated, use: .sample(1))
  }

  /// Worldline decides what it has accepted; the events that then arrive, as the connector reads them.
  func events() async throws -> [AcquirerEvent] {
    let received = Mutex<[EventBatch]>([])
    let readEvents = try acquirer().readEvents
    try await service.deliverEvents(
      after: .zero,
      by: EventDelivery(
        headers: { _, headers, body in
          let event = InboundEvent(
            headers: headers.map { HTTPField($0.name, $0.value) }, body: body, arrivedAt: WallClock.system.now())
          guard let batch = try? readEvents(event) else { return false }
          received.withLock { $0.append(batch) }
          return true
        }, post: { _, _, _ in false }))
    return received.withLock { $0.flatMap(\.events) }
  }

  /// Worldline sends events from now on. Those of what was done before come first.
  func subscribe() async throws {
    try await manage("PUT", "/worldline-direct/webhook", ["url": "http://localhost/events"])
  }

  func fault(_ kind: String) async throws {
    try await manage("POST", "/worldline-direct/faults", ["next": .string(kind)])
  }

  /// What a person does in the Merchant Portal.
  func portal(_ act: String, _ name: String, _ value: Int64? = nil) async throws {
    try await manage(
      "POST", "/worldline-direct/payments/\(name)/\(act)", ["value": value.map(JSONValue.integer) ?? .null])
  }

  @discardableResult
  func manage(_ method: String, _ path: String, _ body: JSONValue?) async throws -> [UInt8] {
    let request = OutboundRequest(
      method: method, url: origin + path,
      headers: [
        HTTPField("Authorization", Self.account.portalAuthorization), HTTPField("Content-Type", "application/json"),
      ], body: body?.serialized() ?? [])
    let response = try await http.send(request, TestRun.whole)
    try #require(response.status == 200, "\(path): \(String(decoding: response.body, as: UTF8.self))")
    return response.body
  }

  func payments() async throws -> [DirectPayment] {
    try DirectJSON.read([DirectPayment].self, try await manage("GET", "/worldline-direct/payments", nil))
  }

  /// The state of the only payment.
  func state() async throws -> DirectStatus? { try await payments().first?.statusOutput.state }

  /// A signed call, as any client would make it.
  func call(
    _ method: String, _ path: String, _ body: [UInt8] = [], key: String? = nil
  ) async throws -> InboundResponse {
    let target = "/v2/\(Self.account.merchantID)\(path)"
    let date = HTTPDate.text(WallClock.system.now())
    let signed = key.map { [(name: "X-GCS-Idempotence-Key", value: $0)] } ?? []
    let authorization = RequestSigner(apiKeyId: Self.account.apiKeyID, secret: Self.account.secretAPIKey)
      .authorization(
        method: method, contentType: body.isEmpty ? "" : "application/json", date: date, gcsHeaders: signed,
        pathAndQuery: target)
    let headers =
      [HTTPField("Date", date), HTTPField("Authorization", authorization)]
      + signed.map { HTTPField($0.name, $0.value) }
      + (body.isEmpty ? [] : [HTTPField("Content-Type", "application/json")])
    return try await http.send(
      OutboundRequest(method: method, url: origin + target, headers: headers, body: body), TestRun.whole)
  }
}
