import ApplePayToken
import Crypto
import DirectWire
import Gateway
import Ledger
import Orders
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import TokenIssuer
import Webhooks

/// A merchant on the platform API, with a store, a gateway and an acquirer that a test tells what to answer.
struct Platform: Sendable {
  static let merchant = MerchantID("shop")

  let acquirer: FakeAcquirer
  let journal: Journal
  let clock = ManualClock(WallClock.system.now())
  let payments: PlatformPayments
  let gateway: PaymentGateway
  private let opener: TokenOpener
  private let files: TemporaryStore

  init(takesUnsignedData: Bool = true, _ acquirer: FakeAcquirer = FakeAcquirer()) async throws {
    self.acquirer = acquirer
    files = try TemporaryStore()
    let database = try await files.open(
      Journal.migrations + OrderService.migrations + WebhookDispatcher.migrations + PlatformOrder.migrations,
      clock: clock.wall)
    journal = Journal(database)
    let pki = try SandboxPKI(clock: clock.wall)
    opener = TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)), keys: ProcessingKeyRing([:]))
    gateway = PaymentGateway(
      opener: opener, journal: journal, acquirer: acquirer.acquirer, clock: clock.wall, scheduler: clock.scheduler)
    payments = PlatformPayments(
      gateway: gateway,
      merchants: { id in Self.terms(id, takesUnsignedData) }, applicationData: { _ in nil },
      fingerprintKey: [UInt8](repeating: 7, count: 32), clock: clock.wall)
  }

  func recover() async throws { _ = try await gateway.recover() }

  /// What charges by schedules; of another process over the same store, if that is asked for.
  func scheduler(ofAnother: Bool = false) -> AgreementScheduler {
    ofAnother ? scheduler(over: Journal(journal.database)) : AgreementScheduler(gateway, scheduler: clock.scheduler)
  }

  /// What charges by schedules with this acquirer, in a process of its own.
  func scheduler(over journal: Journal) -> AgreementScheduler {
    AgreementScheduler(
      PaymentGateway(
        opener: opener, journal: journal, acquirer: acquirer.acquirer, clock: clock.wall,
        scheduler: clock.scheduler), scheduler: clock.scheduler)
  }

  /// The same, where the merchant has a basket of this reference.
  func tied(estimate: Amount? = nil, to reference: String = "order-1") -> PlatformPayments {
    let binding = BasketBinding(basket: BasketID("b"), applicationDataHash: [1], estimate: estimate)
    var payments = payments
    payments.binding = { found, merchant in
      found == reference && merchant == Self.merchant ? binding : nil
    }
    return payments
  }

  static func terms(_ id: MerchantID = merchant, _ takesUnsignedData: Bool = true) -> PlatformMerchant {
    PlatformMerchant(
      id: id, displayName: "Shop", countryCode: "IE", currency: .euro, networks: [.visa, .masterCard],
      takesUnsignedData: takesUnsignedData,
      refusalOfWebhook: { $0.hasPrefix("https://") ? nil : "does not begin with https://" })
  }

  /// A call under a key, or under one of its own.
  func call(_ key: String? = nil, by merchant: MerchantID = merchant, body: [UInt8] = []) -> IdempotentCall {
    IdempotentCall(
      merchant: merchant, call: "POST", key: IdempotencyKey(key ?? RandomBytes.system.hex(12)), body: body)
  }

  /// The body of a payment with decrypted data, each with a cryptogram of its own.
  static func body(
    _ amount: Int64 = 1_250, cryptogram: String = Base64.encode(Array(RandomBytes.system.hex(10).utf8)),
    reference: String = "order-1", input: JSONObject = [:], feedbacks: [String]? = nil
  ) -> [UInt8] {
    var mobile: JSONObject = [
      "paymentProductId": 302, "requiresApproval": true,
      "decryptedPaymentData": [
        "dpan": "4761739000000012", "expiryDate": "1231", "cryptogram": .string(cryptogram), "eci": "07",
      ],
    ]
    for (key, value) in input.members { mobile[key] = value }
    var body: JSONObject = [
      "order": [
        "amountOfMoney": ["amount": .integer(amount), "currencyCode": "EUR"],
        "references": ["merchantReference": .string(reference), "merchantParameters": "tea"],
      ], "mobilePaymentMethodSpecificInput": .object(mobile),
    ]
    if let feedbacks { body["feedbacks"] = ["webhooksUrls": .array(feedbacks.map(JSONValue.string))] }
    return JSONValue.object(body).serialized()
  }

  /// The id of a payment that was made.
  func made(_ amount: Int64 = 1_250, input: JSONObject = [:]) async throws -> String {
    let answer = try await payments.create(Self.body(amount, input: input), call())
    return try JSONReader.read(answer.body)["payment"]?["id"]?.text ?? ""
  }
}

extension PlatformAnswer {
  var json: JSONValue { (try? JSONReader.read(body)) ?? .null }
}

extension JSONValue {
  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }
}

extension JSONValue {
  /// The same with another value at a path of members, made where they are not there.
  func setting(_ path: ArraySlice<String>, to new: JSONValue) -> JSONValue {
    guard let name = path.first else { return new }
    var object = if case .object(let object) = self { object } else { JSONObject() }
    object[name] = (object[name] ?? .object([:])).setting(path.dropFirst(), to: new)
    return .object(object)
  }
}
