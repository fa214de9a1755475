import Acquiring
import ApplePayToken
import Crypto
import Gateway
import HTTPTransport
import Ledger
import Storage
import SwiftASN1
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer
import X509

/// A merchant with keys, a ledger and a gateway, and a wallet that issues payment tokens for it.
struct Shop: Sendable {
  static let identifier = "merchant.example.shop"

  let clock: ManualClock
  let fake: FakeAcquirer
  let journal: Journal
  let opener: TokenOpener
  let gateway: PaymentGateway
  private let files: TemporaryStore
  private let issuer: PaymentTokenIssuer
  private let recipient: TokenRecipient

  /// - Parameters:
  ///   - acquirer: nil for ``fake``.
  ///   - capabilities: the fake's.
  ///   - database: nil for a file of its own.
  ///   - csr: whom the wallet seals payment tokens to, if not to the merchant: a provider's signing request.
  init(
    _ acquirer: Acquirer? = nil, capabilities: AcquirerCapabilities = FakeAcquirer.plain,
    policy: GatewayPolicy = GatewayPolicy(), scheduler: Scheduler? = nil, crashes: CrashPoints = .none,
    admission: AdmissionControl? = nil, database: Database? = nil, pki: SandboxPKI? = nil, sealedTo csr: String? = nil,
    clock: ManualClock = ManualClock(WallClock.system.now())
  ) async throws {
    self.clock = clock
    fake = FakeAcquirer(capabilities)
    let pki = try pki ?? SandboxPKI(clock: clock.wall)
    let key = P256.Signing.PrivateKey()
    let certificate = try pki.certificate(
      .processing, for: Self.identifier, csr: Self.request(for: key), clock: clock.wall)
    let keys = ProcessingKeyRing([
      "shop": [try ProcessingKey(privateKeyPEM: key.pemRepresentation, certificatePEM: certificate)]
    ])
    files = try TemporaryStore()
    issuer = PaymentTokenIssuer(pki: pki, clock: clock.wall)
    let sealing =
      if let csr {
        try pki.certificate(.processing, for: Self.identifier, csr: csr, clock: clock.wall)
      } else { certificate }
    recipient = try TokenRecipient(certificatePEM: sealing)
    let own = try await files.open(Journal.migrations, clock: clock.wall)
    journal = Journal(database ?? own)
    opener = TokenOpener(verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)), keys: keys)
    gateway = PaymentGateway(
      opener: opener, journal: journal, acquirer: acquirer ?? fake.acquirer, clock: clock.wall,
      scheduler: scheduler ?? clock.scheduler, policy: policy, crashes: crashes, admission: admission)
  }

  private static func request(for key: P256.Signing.PrivateKey) throws -> String {
    try CertificateSigningRequest(
      version: .v1, subject: DistinguishedName { CommonName("replaced by the portal") },
      privateKey: Certificate.PrivateKey(key), attributes: .init(), signatureAlgorithm: .ecdsaWithSHA256
    ).serializeAsPEM().pemString
  }

  /// The hash that the wallet puts into a payment token for this order.
  static func order(_ id: String = "order-1", _ units: Int64 = 1250, capture: CaptureMode = .manual) -> Order {
    let hash = Array(SHA256.hash(data: Array("basket of \(id)".utf8)))
    return .sample(id, .eur(units), applicationDataHash: hash, capture: capture)
  }

  /// The shopper authorizes the order in the sheet.
  func token(
    for order: Order = order(), card: String = "visa-debit", amount: Amount? = nil, applicationData: String? = nil,
    agreement: Bool = false
  ) throws -> EncryptedPaymentToken {
    var request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: card)), amount: amount ?? order.amount, recipient: recipient,
      applicationData: Array((applicationData ?? order.basket.rawValue).utf8))
    if agreement { request.agreementMerchant = Self.identifier }
    return try EncryptedPaymentToken(json: issuer.issue(request).json)
  }

  func tokenWithoutApplicationData() throws -> EncryptedPaymentToken {
    let request = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: "visa-debit")), amount: .eur(1250), recipient: recipient)
    return try EncryptedPaymentToken(json: issuer.issue(request).json)
  }

  /// The process after this one: the same store, keys and acquirer, and nothing that happens at a named point.
  func reborn() -> PaymentGateway {
    PaymentGateway(
      opener: opener, journal: Journal(journal.database), acquirer: fake.acquirer, clock: clock.wall,
      scheduler: clock.scheduler)
  }

  /// A process over the same store whose configuration names another acquirer.
  func gateway(asking other: FakeAcquirer) -> PaymentGateway {
    PaymentGateway(
      opener: opener, journal: journal, acquirer: other.acquirer, clock: clock.wall, scheduler: clock.scheduler)
  }

  /// A process over the same store with these routes.
  func gateway(through routes: RouteTable) -> PaymentGateway {
    PaymentGateway(
      opener: opener, journal: journal, routes: routes, clock: clock.wall, scheduler: clock.scheduler)
  }

  func diskHolds(_ text: String) throws -> Bool {
    try files.bytesOnDisk().contains { String(decoding: $0, as: UTF8.self).contains(text) }
  }
}

extension HTTPSender {
  /// The same, which waits for an answer without a limit: what a connector may wait for one is no claim here.
  var patient: HTTPSender {
    HTTPSender { request, _ throws(TransportError) in try await self.send(request, TestRun.whole) }
  }
}
