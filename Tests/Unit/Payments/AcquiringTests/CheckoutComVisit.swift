import AcquirerSandbox
import Acquiring
import Connectors
import ApplePayToken
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

/// A merchant at the emulated Checkout.com, over HTTP.
struct CheckoutComVisit: Sendable {
  let files: TemporaryStore
  let origin: String
  let http: HTTPSender
  let service: CheckoutComSandbox
  let pki: SandboxPKI
  let clock: ManualClock
  let transcripts: Transcripts

  static let account = CheckoutComAccount.sandbox

  /// Keeps what the connector logs.
  final class Transcripts: Sendable {
    private let kept = Mutex<[Transcript]>([])
    func keep(_ transcript: Transcript) { kept.withLock { $0.append(transcript) } }
    var text: String { kept.withLock { $0.map { $0.request + "\n" + $0.response }.joined(separator: "\n") } }
  }

  static func run(_ body: @escaping @Sendable (CheckoutComVisit) async throws -> Void) async throws {
    let files = try TemporaryStore()
    let clock = ManualClock(WallClock.system.now())
    let pki = try SandboxPKI(clock: clock.wall)
    // A call without an answer ends with a gateway's 504 here: as unknown as a timeout, on a slow machine too.
    let service = try await CheckoutComSandbox(
      databasePath: files.path, tokenRootPEM: pki.rootPEM, clock: clock.wall, silence: .milliseconds(50))
    let router = Router()
    service.addRoutes(to: router)
    let http = try LiveHTTPClient(maximumResponseBytes: 1_048_576)
    let sender = http.sender
    do {
      try await Application(router: router).test(.live) { client in
        try await body(
          CheckoutComVisit(
            files: files, origin: "http://localhost:\(client.port ?? 0)", http: sender, service: service, pki: pki,
            clock: clock, transcripts: Transcripts()))
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await service.close()
  }

  func acquirer(
    secretKey: String = account.secretKey, publicKey: String = account.publicKey
  ) throws -> Acquirer {
    let settings = try CheckoutComSettings(
      host: .simulated(origin: origin), secretKey: try #require(CheckoutComSecretKey(secretKey)),
      publicKey: try #require(CheckoutComPublicKey(publicKey)),
      workflow: try #require(
        CheckoutComWorkflow(signatureKeys: [Self.account.signatureKey])),
      processingChannels: [Self.account.processingChannel], descriptorCity: "London")
    return Acquirer.checkoutCom(settings, http: http) { self.transcripts.keep($0()) }.convertingAmounts()
  }

  static func card(_ id: String = "visa-debit", cryptogram: String? = nil) throws -> PaymentInstrument {
    let card = try #require(SandboxCards.card(id: id))
    return .network(
      NetworkToken(
        dpan: card.dpan, expiry: try #require(CardExpiry(applePayDate: card.expirationDate)),
        cryptogram: Cryptogram(base64: cryptogram ?? Base64.encode(RandomBytes.system.next(20))), eci: "7"))
  }

  func request(
    _ reference: String, _ amount: Amount, _ instrument: PaymentInstrument, prepared: String? = nil
  ) -> AuthorizationRequest {
    AuthorizationRequest(
      reference: AttemptReference(reference), merchantReference: "order 1", amount: amount, instrument: instrument,
      sale: SaleDetails(
        order: "O1", statementDescriptor: "HARBOUR*KITCHEN",
        shopper: .init(givenName: "Zoë", emailAddress: "z@example.com", countryCode: "de", postalCode: "50667")),
      prepared: prepared)
  }

  func authorize(
    _ reference: String, _ amount: Amount = .eur(1250), card: String = "visa-debit", cryptogram: String? = nil
  ) async throws -> AcquirerAnswer {
    let request = request(reference, amount, try Self.card(card, cryptogram: cryptogram))
    return try await acquirer().authorize(request, .after(TestRun.whole))
  }

  /// Checkout.com's name of a payment that is authorized now.
  func held(_ reference: String, _ units: Int64 = 1250) async throws -> String {
    try #require(try await authorize(reference, .eur(units)).name)
  }

  func capture(
    _ reference: String, _ name: String, _ units: Int64, isFinal: Bool = false
  ) async throws -> AcquirerAnswer {
    try await acquirer().capture(followUp(reference, name, units, isFinal), .after(TestRun.whole))
  }

  func void(_ reference: String, _ name: String, _ units: Int64) async throws -> AcquirerAnswer {
    try await acquirer().void(followUp(reference, name, units), .after(TestRun.whole))
  }

  func refund(_ reference: String, _ name: String, _ units: Int64) async throws -> AcquirerAnswer {
    try await acquirer().refund(followUp(reference, name, units), .after(TestRun.whole))
  }

  private func followUp(_ reference: String, _ name: String, _ units: Int64, _ isFinal: Bool = false) -> FollowUpRequest
  {
    FollowUpRequest(
      reference: AttemptReference(reference), authorization: name, amount: .eur(units), isFinal: isFinal)
  }

  func inquire(
    _ kind: InquiredOperation, _ reference: String, _ units: Int64 = 1250, of name: String? = nil
  ) async throws -> Inquiry {
    try await acquirer().inquire(
      InquiryRequest(reference: AttemptReference(reference), amount: .eur(units), kind: kind, authorization: name),
      .after(TestRun.whole))
  }

  /// A payment token that only Checkout.com can open.
  func sealed(_ units: Int64, card: String = "visa-debit") async throws -> PaymentInstrument {
    let csr = try await service.certificateRequest(for: "merchant.com.example.shop")
    let certificate = try pki.certificate(.processing, for: "merchant.com.example.shop", csr: csr, clock: clock.wall)
    let request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: card)), amount: .eur(units),
      recipient: try TokenRecipient(certificatePEM: certificate))
    let token = try EncryptedPaymentToken(json: PaymentTokenIssuer(pki: pki, clock: clock.wall).issue(request).json)
    return .sealed(
      VerifiedPaymentToken(token: token, signingTime: clock.now, environment: .simulated, use: .sample(1)))
  }

  func prepare(_ request: AuthorizationRequest) async throws -> Preparation {
    let prepare = try #require(try acquirer().prepare)
    return await prepare(request, .after(TestRun.whole))
  }

  /// Checkout.com processes what it has accepted; the events that then arrive, as the connector reads them.
  func events(tampering: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }) async throws -> [AcquirerEvent] {
    let received = Mutex<[AcquirerEvent]>([])
    let (readEvents, now) = (try acquirer().readEvents, clock.now)
    try await service.deliverEvents(
      after: .zero,
      by: EventDelivery(
        headers: { _, headers, body in
          let event = InboundEvent(
            headers: headers.map { HTTPField($0.name, $0.value) }, body: tampering(body), arrivedAt: now)
          guard let batch = try? readEvents(event) else { return false }
          received.withLock { $0 += batch.events }
          return true
        }, post: { _, _, _ in false }))
    return received.withLock { $0 }
  }

  /// Checkout.com processes what it has accepted, and nobody hears of it.
  func process() async throws { try await service.deliverEvents(after: .zero, by: .unavailable) }

  /// Checkout.com sends events from now on. Those of what was done before come first.
  func subscribe() async throws {
    try await manage("PUT", "/checkout-com/webhook", ["url": "http://localhost/events"])
  }

  func fault(_ kind: String) async throws { try await manage("POST", "/checkout-com/faults", ["next": .string(kind)]) }

  /// What a person does in the dashboard.
  func dashboard(_ act: String, _ name: String, _ value: Int64? = nil) async throws {
    let body: JSONValue = ["value": value.map(JSONValue.integer) ?? .null]
    try await manage("POST", "/checkout-com/payments/\(name)/\(act)", body)
  }

  @discardableResult
  func manage(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
    let request = OutboundRequest(
      method: method, url: origin + path,
      headers: [
        HTTPField("Authorization", "Bearer \(Self.account.secretKey)"), HTTPField("Content-Type", "application/json"),
      ],
      body: body?.serialized() ?? [])
    let response = try await http.send(request, TestRun.whole)
    try #require(response.status == 200, "\(path): \(String(decoding: response.body, as: UTF8.self))")
    return try JSONReader.read(response.body)
  }

  func payment(_ name: String) async throws -> JSONValue { try await manage("GET", "/payments/\(name)") }

  /// How many payments have this reference.
  func count(_ reference: String) async throws -> JSONValue? {
    try await manage("GET", "/payments?reference=\(reference)")["total_count"]
  }

  func diskHolds(_ text: String) throws -> Bool {
    try files.bytesOnDisk().contains { String(decoding: $0, as: UTF8.self).contains(text) }
  }
}

extension AcquirerAnswer {
  /// Checkout.com's name of what is accepted and not decided.
  var pendingName: String? { if case .pending(let pending) = self { pending.acquirerReference } else { nil } }
}
