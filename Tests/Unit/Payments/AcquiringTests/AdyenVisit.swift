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

/// A merchant at the emulated Adyen, over HTTP.
struct AdyenVisit: Sendable {
  let origin: String
  let http: HTTPSender
  let service: AdyenSandboxService
  let pki: SandboxPKI
  let transcripts: Transcripts

  static let hmacKey = String(repeating: "0B", count: 32)
  static let account = AdyenAccount(merchantAccount: "Shop", apiKey: "secret-key", hmacKey: hmacKey)

  /// Keeps what the connector logs.
  final class Transcripts: Sendable {
    private let kept = Mutex<[Transcript]>([])
    func keep(_ transcript: Transcript) { kept.withLock { $0.append(transcript) } }
    var text: String { kept.withLock { $0.map { $0.request + "\n" + $0.response }.joined(separator: "\n") } }
  }

  static func run(_ body: @escaping @Sendable (AdyenVisit) async throws -> Void) async throws {
    let files = try TemporaryStore()
    let pki = try SandboxPKI()
    // A call without an answer ends with a gateway's 504 here: as unknown as a timeout, on a slow machine too.
    let service = try await AdyenSandboxService(
      databasePath: files.path, tokenRootPEM: pki.rootPEM, accounts: [account], silence: .milliseconds(50))
    let router = Router()
    service.addRoutes(to: router)
    let http = try LiveHTTPClient()
    let sender = http.sender
    do {
      try await Application(router: router).test(.live) { client in
        try await body(
          AdyenVisit(
            origin: "http://localhost:\(client.port ?? 0)", http: sender, service: service, pki: pki,
            transcripts: Transcripts()))
      }
    } catch {
      try await http.shutdown()
      throw error
    }
    try await http.shutdown()
    await service.close()
  }

  func acquirer(apiKey: String = account.apiKey, merchantAccount: String = "Shop") throws -> Acquirer {
    let settings = try AdyenSettings(
      host: .simulated(origin: origin), apiKey: try #require(AdyenAPIKey(apiKey)),
      hmacKeys: [try #require(AdyenHMACKey(hex: Self.hmacKey))], merchantAccounts: [merchantAccount],
      returnURL: "https://shop.example/")
    return Acquirer.adyen(settings, http: http) { self.transcripts.keep($0()) }
  }

  func authorize(
    _ reference: String, _ units: Int64 = 1250, card: String = "visa-debit", cryptogram: String? = nil
  ) async throws -> AcquirerAnswer {
    let card = try #require(SandboxCards.card(id: card))
    let token = NetworkToken(
      dpan: card.dpan, expiry: try #require(CardExpiry(applePayDate: card.expirationDate)),
      cryptogram: Cryptogram(base64: cryptogram ?? Base64.encode(RandomBytes.system.next(20))), eci: "7")
    return try await authorize(reference, units, .network(token))
  }

  func authorize(
    _ reference: String, _ units: Int64, _ instrument: PaymentInstrument
  ) async throws -> AcquirerAnswer {
    let request = AuthorizationRequest(
      reference: AttemptReference(reference), merchantReference: "order", amount: .eur(units), instrument: instrument)
    return try await acquirer().authorize(request, .after(TestRun.whole))
  }

  /// Adyen's name of a payment that is authorized now.
  func held(_ reference: String, _ units: Int64 = 1250) async throws -> String {
    let answer = try await authorize(reference, units)
    guard case .approved(let approval) = answer else { throw Unexpected(answer: answer) }
    return approval.acquirerReference
  }

  func capture(_ reference: String, _ name: String, _ units: Int64) async throws -> AcquirerAnswer {
    try await acquirer().capture(followUp(reference, name, units), .after(TestRun.whole))
  }

  func void(_ reference: String, _ name: String, _ units: Int64) async throws -> AcquirerAnswer {
    try await acquirer().void(followUp(reference, name, units), .after(TestRun.whole))
  }

  func refund(_ reference: String, _ name: String, _ units: Int64) async throws -> AcquirerAnswer {
    try await acquirer().refund(followUp(reference, name, units), .after(TestRun.whole))
  }

  private func followUp(_ reference: String, _ name: String, _ units: Int64) -> FollowUpRequest {
    FollowUpRequest(reference: AttemptReference(reference), authorization: name, amount: .eur(units))
  }

  func reverse(_ reference: String) async throws -> Reversal {
    try await acquirer().reverse(
      InquiryRequest(reference: AttemptReference(reference), amount: .eur(1250)), .after(TestRun.whole))
  }

  /// A payment token that only Adyen can open.
  func sealed(_ units: Int64, card: String = "visa-debit") async throws -> PaymentInstrument {
    let csr = try await service.certificateRequest(for: "merchant.com.example.shop")
    let recipient = try TokenRecipient(
      certificatePEM: try pki.certificate(.processing, for: "merchant.com.example.shop", csr: csr))
    let request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: card)), amount: .eur(units), recipient: recipient)
    let token = try EncryptedPaymentToken(json: PaymentTokenIssuer(pki: pki).issue(request).json)
    return .sealed(
      VerifiedPaymentToken(
        token: token, signingTime: WallClock.system.now(), environment: .simulated, use: .sample(1)))
  }

  /// Adyen decides what it has accepted; the events that then arrive, as the connector reads them.
  func events() async throws -> [AcquirerEvent] { try await batches().flatMap(\.events) }

  func batches() async throws -> [EventBatch] {
    let received = Mutex<[EventBatch]>([])
    let readEvents = try acquirer().readEvents
    try await service.deliverEvents(
      after: .zero,
      by: EventDelivery { _, _, body in
        let event = InboundEvent(headers: [], body: body, arrivedAt: WallClock.system.now())
        guard let batch = try? readEvents(event) else { return false }
        received.withLock { $0.append(batch) }
        return true
      })
    return received.withLock { $0 }
  }

  /// Adyen sends events from now on. Those of what was done before come first.
  func subscribe() async throws { try await manage("PUT", "/adyen/webhook", ["url": "http://localhost/events"]) }

  func fault(_ kind: String) async throws { try await manage("POST", "/adyen/faults", ["next": .string(kind)]) }

  /// What a person does in the dashboard.
  func dashboard(_ act: String, _ name: String, _ value: Int64? = nil) async throws {
    try await manage("POST", "/adyen/payments/\(name)/\(act)", ["value": value.map(JSONValue.integer) ?? .null])
  }

  @discardableResult
  func manage(_ method: String, _ path: String, _ body: JSONValue?) async throws -> [UInt8] {
    let request = OutboundRequest(
      method: method, url: origin + path,
      headers: [HTTPField("X-API-Key", Self.account.apiKey), HTTPField("Content-Type", "application/json")],
      body: body?.serialized() ?? [])
    let response = try await http.send(request, TestRun.whole)
    try #require(response.status == 200, "\(path): \(String(decoding: response.body, as: UTF8.self))")
    return response.body
  }

  func payments() async throws -> [JSONValue] {
    try JSONField(JSONReader.read(try await manage("GET", "/adyen/payments", nil))).member("payments").array.map(
      \.value)
  }

  struct Unexpected: Error {
    let answer: AcquirerAnswer
  }
}

extension AcquirerEvent {
  /// The operation that an answer is to, and whether it was done.
  var outcome: (String, Bool)? {
    guard case .operation(let reference) = subject, case .answer(let answer) = content else { return nil }
    if case .approved = answer { return (reference.rawValue, true) }
    return (reference.rawValue, false)
  }
}

extension SaleDetails.Shopper {
  /// Of which providers refuse all but the name.
  static let unfit = SaleDetails.Shopper(
    givenName: "Maud", familyName: "Müller", emailAddress: "maud@example.c", phoneNumber: "+1 780-555-0156 ext. 725",
    countryCode: "JA", postalCode: "-1", addressLines: [String(repeating: "a", count: 256)])
}
