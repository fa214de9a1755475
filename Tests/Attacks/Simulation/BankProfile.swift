import Acquiring
import HTTPTransport
import TenderPayments

/// How the bank of a simulation behaves, and what its connector states.
struct BankProfile: Sendable {
  /// By whose rules the bank works.
  enum Conduct: String, Sendable, CaseIterable {
    /// Answers to everything at once as a rule, and may accept a capture, void or refund first.
    case sandbox
    /// Authorizes at once; accepts all else and sends an event. Nothing can be asked.
    case adyen
    /// No idempotency; a sealed token in two steps; inquiries that find by our reference; a refund of one capture.
    case braintree
    /// Nothing can be asked, and an authorization cannot be undone.
    case unaskable
  }

  let conduct: Conduct
  let isSealed: Bool
  /// Whether an authorization of a sealed payment token has a first step.
  let hasFirstStep: Bool
  private let stated: AcquirerCapabilities
  /// Whether the store's clock may jump ahead of the wire: only where late requests do no harm.
  let bearsJumps: Bool

  static let all: [BankProfile] = sandboxes + connectors.flatMap { [$0, $0] }

  /// For two routes: what may take over from one another. A sealed payment token has one provider only.
  static let network: [BankProfile] = all.filter { !$0.isSealed }

  private static let sandboxes: [BankProfile] = [false, true].flatMap { sealed in
    [
      profile(sealed, repeats: true, inquiry: true, reversal: true, jumps: true),
      profile(sealed, repeats: false, inquiry: true, reversal: true, jumps: false),
      profile(sealed, repeats: false, inquiry: true, reversal: false, jumps: false),
      profile(sealed, repeats: true, inquiry: false, reversal: true, jumps: true),
      profile(sealed, repeats: true, inquiry: true, reversal: true, jumps: false, window: .seconds(90)),
    ]
  }

  private static let connectors: [BankProfile] = [false, true].flatMap { sealed in
    [Conduct.adyen, .braintree, .unaskable].map { BankProfile($0, isSealed: sealed) }
  }

  /// It neither reverses nor repeats its answers: an undoing has to find the hold and void it, once.
  static let withoutReversal = profile(false, repeats: false, inquiry: true, reversal: false, jumps: false)

  private static func profile(
    _ sealed: Bool, repeats: Bool, inquiry: Bool, reversal: Bool, jumps: Bool, window: Duration = .seconds(86_400 * 90)
  ) -> BankProfile {
    BankProfile(
      .sandbox, isSealed: sealed, bearsJumps: jumps,
      AcquirerCapabilities(
        instruments: [sealed ? .sealed : .network], idempotency: repeats ? .reference(window: window) : .none,
        inquiry: inquiry, reversal: reversal, settleHorizon: .seconds(120), holdLifetime: .seconds(86_400 * 7)))
  }

  private init(
    _ conduct: Conduct, isSealed: Bool, bearsJumps: Bool = false, _ stated: AcquirerCapabilities,
    hasFirstStep: Bool = false
  ) {
    (self.conduct, self.isSealed, self.bearsJumps) = (conduct, isSealed, bearsJumps)
    (self.stated, self.hasFirstStep) = (stated, hasFirstStep)
  }

  /// As the connector itself states it.
  private init(_ conduct: Conduct, isSealed: Bool) {
    let connector = conduct.connector
    self.init(
      conduct, isSealed: isSealed, connector.capabilities, hasFirstStep: isSealed && connector.prepare != nil)
  }

  /// - Parameter number: which of the accounts; the sandbox's have names of their own.
  func capabilities(_ number: Int) -> AcquirerCapabilities {
    guard conduct != .sandbox else { return stated.called(number == 0 ? "simulated" : "simulated-\(number + 1)") }
    return stated.called(stated.name, account: "account\(number + 1)")
  }

  var repeatsAnswers: Bool { stated.idempotency != .none }
  /// Whether an authorization that arrives after its reversal is refused.
  var remembersReversals: Bool { conduct == .sandbox && stated.reversal }
  /// Whether an operation's outcome can come as an event only.
  var isUnaskable: Bool { conduct != .sandbox && !stated.inquiry }

  /// How long the acquirer gives its first answer again; nil for ever.
  var memory: Duration? {
    if case .reference(let window) = stated.idempotency, window < .seconds(86_400) { window } else { nil }
  }
}

extension BankProfile.Conduct {
  /// The connector, whose statements the simulated bank keeps.
  fileprivate var connector: Acquirer {
    switch self {
    case .adyen: BankProfile.adyen
    case .braintree: BankProfile.braintree
    case .sandbox, .unaskable: BankProfile.unaskable
    }
  }
}

extension BankProfile {
  private static let nowhere = HTTPSender { _, _ throws(TransportError) in throw .notSent("there is no network") }

  fileprivate static let adyen: Acquirer = {
    guard let key = AdyenAPIKey("simulated"), let hmac = AdyenHMACKey(hex: String(repeating: "5a", count: 32)),
      let settings = try? AdyenSettings(
        host: .test, apiKey: key, hmacKeys: [hmac], merchantAccounts: ["Simulated"], returnURL: "https://shop.example/")
    else { preconditionFailure("the settings are constants") }
    return .adyen(settings, http: nowhere)
  }()

  fileprivate static let braintree: Acquirer = {
    let currencies = ["EUR", "JPY"].compactMap { Currency(code: $0) }
    var settings = BraintreeSettings(
      environment: .test, merchantID: "simulated", publicKey: "simulated", privateKey: BraintreePrivateKey("simulated"),
      merchantAccounts: Dictionary(uniqueKeysWithValues: currencies.map { ($0, "simulated-\($0.code)") }))
    settings.capturesInParts = true
    return .braintree(settings, http: nowhere)
  }()

  /// Worldline Direct is like it for operations whose answer was lost. It repeats its first answer to a key.
  fileprivate static let unaskable: Acquirer = {
    let week = AcquirerCapabilities.Idempotency.reference(window: .seconds(86_400 * 7))
    return Acquirer(
      capabilities: AcquirerCapabilities(
        name: "unaskable", instruments: [.network, .sealed], idempotency: week, authorizationIdempotency: week,
        inquiry: false, reversal: false, settleHorizon: .seconds(120), holdLifetime: .seconds(86_400 * 7)),
      authorize: { _, _ in .notSent("") }, capture: { _, _ in .notSent("") }, void: { _, _ in .notSent("") },
      refund: { _, _ in .notSent("") }, inquire: { _, _ in .notFound }, reverse: { _, _ in .nothingFound })
  }()
}

extension AcquirerCapabilities {
  /// The same under another name.
  func called(
    _ name: String, account: String? = nil, authorizationIdempotency: Idempotency? = nil
  ) -> AcquirerCapabilities {
    AcquirerCapabilities(
      name: name, account: account, instruments: instruments, parts: parts, idempotency: idempotency,
      authorizationIdempotency: authorizationIdempotency ?? self.authorizationIdempotency,
      refundsOneCapture: refundsOneCapture, inquiry: inquiry, reversal: reversal, settleHorizon: settleHorizon,
      holdLifetime: holdLifetime, exponent: exponent)
  }
}
