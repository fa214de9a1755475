import AcquirerSandbox
import Acquiring
import Connectors
import ApplePayToken
import Crypto
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

/// A merchant at the emulated Stripe, over HTTP.
struct StripeVisit: Sendable {
  let origin: String
  let http: HTTPSender
  let service: StripeSandboxService
  let pki: SandboxPKI
  let files: TemporaryStore
  let transcripts: AdyenVisit.Transcripts

  static let secret = "whsec_shop"
  static let account = StripeAccount(
    id: "acct_shop", secretKey: "sk_test_shop", publishableKey: "pk_test_shop", restrictedKey: "rk_test_shop",
    signingSecret: secret, nextSigningSecret: "whsec_shopnext", connected: ["acct_other"])

  static func run(
    searchLag: Duration = TestRun.whole, _ body: @escaping @Sendable (StripeVisit) async throws -> Void
  ) async throws {
    let files = try TemporaryStore()
    let pki = try SandboxPKI()
    // A call without an answer ends with a gateway's 504 here: as unknown as a timeout, on a slow machine too.
    let service = try await StripeSandboxService(
      databasePath: files.path, tokenRootPEM: pki.rootPEM, accounts: [account], silence: .milliseconds(50),
      searchLag: searchLag)
    let router = Router()
    service.addRoutes(to: router)
    let http = try LiveHTTPClient()
    let sender = http.sender
    do {
      try await Application(router: router).test(.live) { client in
        try await body(
          StripeVisit(
            origin: "http://localhost:\(client.port ?? 0)", http: sender, service: service, pki: pki, files: files,
            transcripts: AdyenVisit.Transcripts()))
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await service.close()
  }

  func acquirer(
    key: String = account.secretKey, secrets: [String] = [secret], connected: [String] = [], multicapture: Bool = true
  ) throws -> Acquirer {
    let settings = try StripeSettings(
      host: .simulated(origin: origin), secretKey: try #require(StripeSecretKey(key)),
      signingSecrets: try secrets.map { try #require(StripeSigningSecret($0)) }, connectedAccounts: connected,
      multicapture: multicapture)
    return Acquirer.stripe(settings, http: http) { self.transcripts.keep($0()) }.convertingAmounts()
  }

  func network(card: String = "visa-debit", cryptogram: String? = nil) throws -> PaymentInstrument {
    let card = try #require(SandboxCards.card(id: card))
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
        order: "O1", shopper: .init(givenName: "Zoë", familyName: "Müller & Co"), cardName: "Visa 0492",
        cardNetwork: .visa), prepared: prepared)
  }

  func authorize(
    _ reference: String, _ units: Int64 = 1250, card: String = "visa-debit", cryptogram: String? = nil
  ) async throws -> AcquirerAnswer {
    let request = request(reference, .eur(units), try network(card: card, cryptogram: cryptogram))
    return try await acquirer().authorize(request, .after(TestRun.whole))
  }

  /// Pays with one of Stripe's test tokens.
  func authorize(_ reference: String, token: String) async throws -> AcquirerAnswer {
    let request = request(reference, .eur(1250), try await sealed(.eur(1250)), prepared: token)
    return try await acquirer().authorize(request, .after(TestRun.whole))
  }

  /// Stripe's name of a payment that is authorized now.
  func held(_ reference: String, _ units: Int64 = 1250) async throws -> String {
    try #require(try await authorize(reference, units).name)
  }

  func capture(
    _ reference: String, _ name: String, _ units: Int64, isFinal: Bool = false, isWhole: Bool = false
  ) async throws -> AcquirerAnswer {
    let request = FollowUpRequest(
      reference: AttemptReference(reference), authorization: name, amount: .eur(units), isFinal: isFinal,
      isWhole: isWhole)
    return try await acquirer().capture(request, .after(TestRun.whole))
  }

  func void(_ reference: String, _ name: String, _ units: Int64 = 1250) async throws -> AcquirerAnswer {
    try await acquirer().void(followUp(reference, name, units), .after(TestRun.whole))
  }

  func refund(_ reference: String, _ name: String, _ units: Int64) async throws -> AcquirerAnswer {
    try await acquirer().refund(followUp(reference, name, units), .after(TestRun.whole))
  }

  func followUp(_ reference: String, _ name: String, _ units: Int64) -> FollowUpRequest {
    FollowUpRequest(reference: AttemptReference(reference), authorization: name, amount: .eur(units))
  }

  /// - Parameter sentAgo: in seconds; nil when it is not known. The connector looks through the five minutes before it
  ///   and the fifteen minutes after it.
  func inquire(
    _ kind: InquiredOperation, _ reference: String, _ units: Int64 = 1250, of name: String? = nil,
    called own: String? = nil, sentAgo: Int? = 600
  ) async throws -> Inquiry {
    let sentAt = sentAgo.map { WallClock.system.now().adding(.seconds(-$0)) }
    return try await acquirer().inquire(
      InquiryRequest(
        reference: AttemptReference(reference), amount: .eur(units), kind: kind, authorization: name,
        acquirerReference: own, sentAt: sentAt), .after(TestRun.whole))
  }

  /// A payment token that only Stripe can open.
  ///
  /// - Parameter toOtherKey: and not even Stripe can.
  func sealed(
    _ amount: Amount, card: String = "visa-debit", toOtherKey: Bool = false
  ) async throws -> PaymentInstrument {
    let csr = try await service.certificateRequest(for: "merchant.com.example.shop")
    let recipient = try TokenRecipient(
      certificatePEM: try pki.certificate(.processing, for: "merchant.com.example.shop", csr: csr))
    let other = try TokenRecipient(
      publicKeyPEM: P256.Signing.PrivateKey().publicKey.pemRepresentation,
      merchantIdentifier: "merchant.com.example.shop")
    let request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: card)), amount: amount, recipient: toOtherKey ? other : recipient)
    let token = try EncryptedPaymentToken(json: PaymentTokenIssuer(pki: pki).issue(request).json)
    return .sealed(
      VerifiedPaymentToken(
        token: token, signingTime: WallClock.system.now(), environment: .simulated, use: .sample(1)))
  }

  /// Stripe decides what is pending; the events that then arrive, as the connector reads them.
  func events(connected: [String] = []) async throws -> [AcquirerEvent] {
    let received = Mutex<[AcquirerEvent]>([])
    let readEvents = try acquirer(connected: connected).readEvents
    try await service.deliverEvents(
      after: .zero,
      by: EventDelivery(
        headers: { _, headers, body in
          let event = InboundEvent(
            headers: headers.map { HTTPField($0.name, $0.value) }, body: body, arrivedAt: WallClock.system.now())
          guard let batch = try? readEvents(event) else { return false }
          received.withLock { $0 += batch.events }
          return true
        }, post: { _, _, _ in false }))
    return received.withLock { $0 }
  }

  /// Stripe sends events from now on. Those of what was done before come first.
  func subscribe(rolling: Bool = false, as account: String? = nil) async throws {
    try await manage(
      "PUT", "/stripe/webhook", ["url": "http://localhost/events", "rolling": .bool(rolling)], as: account)
  }

  func fault(_ kind: String) async throws { try await manage("POST", "/stripe/faults", ["next": .string(kind)]) }

  /// What a person does in the dashboard.
  func dashboard(_ act: String, _ name: String, _ value: Int64? = nil) async throws {
    try await manage(
      "POST", "/stripe/payment_intents/\(name)/\(act)", ["value": value.map(JSONValue.integer) ?? .null])
  }

  @discardableResult
  func manage(
    _ method: String, _ path: String, _ body: JSONValue?, as account: String? = nil
  ) async throws -> [UInt8] {
    let request = OutboundRequest(
      method: method, url: origin + path,
      headers: [HTTPField("Authorization", "Bearer \(Self.account.secretKey)")]
        + (account.map { [HTTPField("Stripe-Account", $0)] } ?? []),
      body: body?.serialized() ?? [])
    let response = try await http.send(request, TestRun.whole)
    try #require(response.status == 200, "\(path): \(String(decoding: response.body, as: UTF8.self))")
    return response.body
  }

  /// A call of another program on the account.
  func form(_ path: String, _ form: String) async throws {
    let headers = [
      HTTPField("Authorization", "Bearer \(Self.account.secretKey)"),
      HTTPField("Content-Type", "application/x-www-form-urlencoded"),
    ]
    let request = OutboundRequest(method: "POST", url: origin + path, headers: headers, body: Array(form.utf8))
    let response = try await http.send(request, TestRun.whole)
    try #require(response.status == 200, "\(path): \(String(decoding: response.body, as: UTF8.self))")
  }

  func payments() async throws -> [JSONValue] {
    try JSONField(JSONReader.read(try await manage("GET", "/stripe/payments", nil))).member("payments").array.map(
      \.value)
  }
}
