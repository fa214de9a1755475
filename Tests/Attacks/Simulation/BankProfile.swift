import Acquiring

/// How the bank of a simulation behaves, and what its connector states.
struct BankProfile {
  let isSealed: Bool
  private let inquiry: Bool
  private let window: Duration
  let repeatsAnswers: Bool
  let remembersReversals: Bool
  /// Whether the store's clock may jump ahead of the wire: only where late requests do no harm.
  let bearsJumps: Bool

  static let all: [BankProfile] = [false, true].flatMap { sealed in
    [
      profile(sealed, repeats: true, inquiry: true, reversal: true, jumps: true),
      profile(sealed, repeats: false, inquiry: true, reversal: true, jumps: false),
      profile(sealed, repeats: false, inquiry: true, reversal: false, jumps: false),
      profile(sealed, repeats: true, inquiry: false, reversal: true, jumps: true),
      profile(sealed, repeats: true, inquiry: true, reversal: true, jumps: false, window: .seconds(90)),
    ]
  }

  /// It neither reverses nor repeats its answers: an undoing has to find the hold and void it, once.
  static let withoutReversal = profile(false, repeats: false, inquiry: true, reversal: false, jumps: false)

  private static func profile(
    _ sealed: Bool, repeats: Bool, inquiry: Bool, reversal: Bool, jumps: Bool, window: Duration = .seconds(86_400 * 90)
  ) -> BankProfile {
    BankProfile(
      isSealed: sealed, inquiry: inquiry, window: window, repeatsAnswers: repeats, remembersReversals: reversal,
      bearsJumps: jumps)
  }

  func capabilities(named name: String) -> AcquirerCapabilities {
    AcquirerCapabilities(
      name: name, instruments: [isSealed ? .sealed : .network],
      idempotency: repeatsAnswers ? .reference(window: window) : .none, inquiry: inquiry, reversal: remembersReversals,
      settleHorizon: .seconds(120), holdLifetime: .seconds(86_400 * 7))
  }

  /// How long the acquirer gives its first answer again; nil for ever.
  var memory: Duration? { repeatsAnswers && window < .seconds(86_400) ? window : nil }
}
