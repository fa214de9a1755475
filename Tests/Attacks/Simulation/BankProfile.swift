import Acquiring
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
    /// A sealed token in two steps; an error of its own is repeated under the key; refunds may be pending.
    case stripe
    /// A sealed token in two steps; an error is forgotten under its key, whether or not it was done; accepts first.
    case checkoutCom = "checkout-com"
    /// Finds only what a pending answer has named; a repeat under the key within a day is the only other inquiry.
    case worldlineDirect = "worldline-direct"
    /// Network tokens; undoes an authorization by our reference; sends no events.
    case worldlineAcquiring = "worldline-acquiring"
  }

  let conduct: Conduct
  let isSealed: Bool
  /// Whether an authorization of a sealed payment token has a first step.
  let hasFirstStep: Bool
  private let stated: AcquirerCapabilities
  /// Whether the store's clock may jump ahead of the wire: only where late requests do no harm.
  let bearsJumps: Bool

  static let all: [BankProfile] = sandboxes + connectors

  /// For two routes: what may take over from one another. A sealed payment token has one provider only.
  static let network: [BankProfile] = all.filter { !$0.isSealed }

  /// Where network tokens go to a provider that works so.
  static func playing(_ conduct: Conduct) -> BankProfile { BankProfile(conduct, isSealed: false) }

  private static let sandboxes: [BankProfile] = [false, true].flatMap { sealed in
    [
      profile(sealed, repeats: true, inquiry: true, reversal: true, jumps: true),
      profile(sealed, repeats: false, inquiry: true, reversal: true, jumps: false),
      profile(sealed, repeats: false, inquiry: true, reversal: false, jumps: false),
      profile(sealed, repeats: true, inquiry: false, reversal: true, jumps: true),
      profile(sealed, repeats: true, inquiry: true, reversal: true, jumps: false, window: .seconds(90)),
    ]
  }

  /// Adyen and Braintree several times: their protocols differ most from all others.
  private static let connectors: [BankProfile] = [false, true].flatMap { sealed in
    ([.adyen, .adyen] + Conduct.allCases).filter { $0 != .sandbox && (!sealed || $0.takesSealed) }
      .map { BankProfile($0, isSealed: sealed) }
  }

  /// It neither reverses nor repeats its answers: an undoing has to find the hold and void it, once.
  static let withoutReversal = profile(false, repeats: false, inquiry: true, reversal: false, jumps: false)

  private static func profile(
    _ sealed: Bool, repeats: Bool, inquiry: Bool, reversal: Bool, jumps: Bool, window: Duration = .seconds(86_400 * 90)
  ) -> BankProfile {
    let token: AcquirerCapabilities.Instrument = sealed ? .sealed : .network
    var capabilities = AcquirerCapabilities(
      instruments: [token, .stored], idempotency: repeats ? .reference(window: window) : .none,
      inquiry: inquiry, reversal: reversal, settleHorizon: .seconds(120), holdLifetime: .seconds(86_400 * 7))
    capabilities.storesCredentials = [token]
    return BankProfile(.sandbox, isSealed: sealed, bearsJumps: jumps, capabilities)
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
    var stated = stated.called(stated.name, account: "account\(number + 1)")
    // What the provider does for a pre-authorization, here for every hold, so that holds are raised that end in time.
    if conduct.raisesHolds, let hold = stated.hold {
      stated.hold = { .init(hold($0).parts.union(.increment), lifetime: hold($0).lifetime) }
    }
    return stated
  }

  var repeatsAnswers: Bool { stated.idempotency != .none }
  /// Whether an authorization that arrives after its reversal is refused.
  var remembersReversals: Bool { conduct == .sandbox && stated.reversal }
  /// Whether an operation's outcome can come as an event only.
  var isUnaskable: Bool { conduct != .sandbox && !stated.inquiry }

  /// How long the acquirer gives its first answer again; nil for ever.
  var memory: Duration? {
    guard conduct == .sandbox else { return conduct.memory }
    guard case .reference(let window) = stated.idempotency, window < .seconds(86_400) else { return nil }
    // What leaves at the end of the window is on its way for a while, longer than the settle horizon at worst.
    return window + .seconds(400)
  }
}

extension AcquirerCapabilities {
  /// The same under another name.
  func called(_ name: String, account: String? = nil) -> AcquirerCapabilities {
    var called = self
    (called.name, called.account) = (name, account)
    return called
  }
}
