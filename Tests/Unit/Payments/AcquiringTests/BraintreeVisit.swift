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

/// A merchant at the emulated Braintree, over HTTP.
struct BraintreeVisit: Sendable {
  let files: TemporaryStore
  let sandbox: BraintreeSandbox
  let settings: BraintreeSettings
  let http: HTTPSender
  let pki: SandboxPKI
  let recipient: TokenRecipient
  let clock: ManualClock
  private let log = Transcripts()

  static let identifier = "merchant.example.shop"

  /// - Parameters:
  ///   - parts: whether the account and the connector capture in parts.
  ///   - duplicates: how long the account rejects another transaction like one that it has.
  static func run(
    parts: Bool = true, duplicates: Duration = .zero, _ body: @escaping @Sendable (BraintreeVisit) async throws -> Void
  ) async throws {
    let files = try TemporaryStore()
    let clock = ManualClock(WallClock.system.now())
    let pki = try SandboxPKI(clock: clock.wall)
    var account = BraintreeAccount.sandbox
    (account.duplicateWindow, account.settlesInParts) = (duplicates, parts)
    let sandbox = try await BraintreeSandbox(
      databasePath: files.path, tokenRootPEM: pki.rootPEM, accounts: [account], clock: clock.wall,
      silence: .milliseconds(50))
    let csr = try await sandbox.certificateRequest(for: identifier)
    let certificate = try pki.certificate(.processing, for: identifier, csr: csr, clock: clock.wall)
    let recipient = try TokenRecipient(certificatePEM: certificate)
    let router = Router()
    sandbox.addRoutes(to: router)
    let client = try LiveHTTPClient(maximumResponseBytes: 1_048_576)
    let sender = client.sender
    do {
      try await Application(router: router).test(.live) { test in
        let settings = BraintreeSettings.visit("http://localhost:\(test.port ?? 0)", parts: parts)
        try await body(
          BraintreeVisit(
            files: files, sandbox: sandbox, settings: settings, http: sender, pki: pki, recipient: recipient,
            clock: clock))
      }
    } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
    await sandbox.close()
  }

  var acquirer: Acquirer { acquirer(settings) }

  func acquirer(_ settings: BraintreeSettings) -> Acquirer {
    .braintree(settings, http: http) { [log] in log.note($0()) }.convertingAmounts()
  }

  /// Every exchange so far, as it would stand in a log.
  var transcripts: String { log.text }
}

private final class Transcripts: Sendable {
  private let lines = Mutex<[String]>([])
  func note(_ transcript: Transcript) { lines.withLock { $0.append(transcript.request + "\n" + transcript.response) } }
  var text: String { lines.withLock { $0.joined(separator: "\n") } }
}

extension BraintreeSettings {
  static func visit(_ origin: String, parts: Bool = true) -> BraintreeSettings {
    var settings = BraintreeSettings(
      environment: .simulated(origin: origin), merchantID: "tender_sandbox", publicKey: "sandbox_public_key",
      privateKey: BraintreePrivateKey("sandbox_private_key"),
      merchantAccounts: Dictionary(
        uniqueKeysWithValues: ["EUR", "USD", "JPY", "KWD"].compactMap { code in
          Currency(code: code).map { ($0, "tender_\(code.lowercased())") }
        }))
    settings.capturesInParts = parts
    return settings
  }
}

extension BraintreeVisit {
  static let cryptogram = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="

  func request(
    _ reference: String, _ amount: Amount, _ instrument: PaymentInstrument, prepared: String? = nil
  ) -> AuthorizationRequest {
    AuthorizationRequest(
      reference: AttemptReference(reference), merchantReference: "order 1", amount: amount, instrument: instrument,
      sale: SaleDetails(
        shopper: .init(givenName: "Zoë", emailAddress: "z@example.com", countryCode: "DE", postalCode: "50667"),
        cardName: "Visa 0492", cardNetwork: .visa), prepared: prepared)
  }

  func hold(
    _ reference: String, _ amount: Amount, card: String = "visa-debit", cryptogram: String? = nil
  ) async throws -> AcquirerAnswer {
    let card = try #require(SandboxCards.card(id: card))
    let token = NetworkToken(
      dpan: card.dpan, expiry: try #require(CardExpiry(applePayDate: card.expirationDate)),
      cryptogram: Cryptogram(base64: cryptogram ?? Base64.encode(RandomBytes.system.next(20))), eci: "07")
    return await acquirer.authorize(request(reference, amount, .network(token)), .after(TestRun.whole))
  }

  /// Holds, and returns Braintree's name of the transaction.
  func held(_ reference: String, _ units: Int64) async throws -> String {
    guard case .approved(let approval) = try await hold(reference, .eur(units)) else { throw NotApproved() }
    return approval.acquirerReference
  }

  struct NotApproved: Error {}

  /// A payment token that is encrypted to Braintree's key.
  func sealed(_ amount: Amount, card: String = "visa-debit", to other: TokenRecipient? = nil) throws
    -> PaymentInstrument
  {
    let request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: card)), amount: amount, recipient: other ?? recipient)
    let issued = try PaymentTokenIssuer(pki: pki, clock: clock.wall).issue(request)
    let verifier = TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM))
    return .sealed(try verifier.verify(try EncryptedPaymentToken(json: issued.json), at: clock.now))
  }

  func capture(
    _ reference: String, _ sale: String, _ units: Int64, isFinal: Bool = false, isWhole: Bool = false
  ) async -> AcquirerAnswer {
    await acquirer.capture(
      FollowUpRequest(
        reference: AttemptReference(reference), authorization: sale, amount: .eur(units), isFinal: isFinal,
        isWhole: isWhole), .after(TestRun.whole))
  }

  func void(_ reference: String, _ sale: String, _ units: Int64) async -> AcquirerAnswer {
    await acquirer.void(
      FollowUpRequest(
        reference: AttemptReference(reference), authorization: sale, amount: .eur(units), isWhole: true),
      .after(TestRun.whole))
  }

  func refund(_ reference: String, _ sale: String, of capture: String?, _ units: Int64) async -> AcquirerAnswer {
    await acquirer.refund(
      FollowUpRequest(
        reference: AttemptReference(reference), authorization: sale, amount: .eur(units), capture: capture),
      .after(TestRun.whole))
  }

  func inquire(
    _ kind: InquiredOperation, _ reference: String, _ amount: Amount, of sale: String? = nil, capture: String? = nil
  ) async -> Inquiry {
    await acquirer.inquire(
      InquiryRequest(
        reference: AttemptReference(reference), amount: amount, kind: kind, authorization: sale, capture: capture),
      .after(TestRun.whole))
  }

  /// A call of Braintree's own or of the sandbox's management.
  func call(
    _ method: String, _ path: String, _ body: String = "", headers: [HTTPField] = []
  ) async throws -> InboundResponse {
    guard case .simulated(let origin) = settings.environment else { throw NotApproved() }
    let type = body.hasPrefix("{") ? "application/json" : "application/xml"
    let keys = Base64.encode(Array("sandbox_public_key:sandbox_private_key".utf8))
    let fields = [
      HTTPField("Authorization", "Basic \(keys)"), HTTPField("X-ApiVersion", "6"), HTTPField("Content-Type", type),
    ]
    return try await http.send(
      OutboundRequest(method: method, url: origin + path, headers: fields + headers, body: Array(body.utf8)),
      TestRun.whole)
  }

  func settle(_ transaction: String) async throws {
    let answer = try await call("PUT", "/merchants/tender_sandbox/transactions/\(transaction)/settle")
    #expect(answer.status == 200)
  }

  /// The next call meets the fault.
  func misbehave(_ fault: String) async throws {
    #expect(try await call("POST", "/braintree/faults", #"{"next":"\#(fault)"}"#).status == 200)
  }

  func diskHolds(_ text: String) throws -> Bool {
    try files.bytesOnDisk().contains { String(decoding: $0, as: UTF8.self).contains(text) }
  }

  /// What the webhooks that are due say, read by the connector.
  func events() async throws -> [AcquirerEvent] {
    _ = try await call("PUT", "/braintree/event-endpoint", #"{"url":"http://localhost/events"}"#)
    let events = Mutex<[AcquirerEvent]>([])
    let (acquirer, now) = (acquirer, clock.now)
    try await sandbox.deliverEvents(
      after: .seconds(86_400),
      by: EventDelivery(
        form: { _, body in
          guard let batch = try? acquirer.readEvents(InboundEvent(headers: [], body: body, arrivedAt: now)) else {
            return false
          }
          events.withLock { $0 += batch.events }
          return true
        }, post: { _, _, _ in false }))
    return events.withLock { $0 }
  }
}

extension AcquirerAnswer {
  /// Braintree's name of what was approved.
  var name: String? { if case .approved(let approval) = self { approval.acquirerReference } else { nil } }
  var isUnknown: Bool { if case .unknown = self { true } else { false } }
  /// The code of a decline.
  var code: String? { if case .declined(let decline) = self { decline.code } else { nil } }
  var reason: DeclineReason? { if case .declined(let decline) = self { decline.reason } else { nil } }
}

extension Inquiry {
  var name: String? { if case .answer(let answer) = self { answer.name } else { nil } }
  var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}
