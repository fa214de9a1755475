import Acquiring

/// How the bank of a simulation behaves, and what its connector states.
struct BankProfile {
  let capabilities: AcquirerCapabilities
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
    ]
  }

  /// It neither reverses nor repeats its answers: an undoing has to find the hold and void it, once.
  static let withoutReversal = profile(false, repeats: false, inquiry: true, reversal: false, jumps: false)

  private static func profile(
    _ sealed: Bool, repeats: Bool, inquiry: Bool, reversal: Bool, jumps: Bool
  ) -> BankProfile {
    BankProfile(
      capabilities: AcquirerCapabilities(
        name: "simulated", instruments: [sealed ? .sealed : .network],
        idempotency: repeats ? .reference(window: .seconds(86_400 * 30)) : .none,
        inquiry: inquiry, reversal: reversal, settleHorizon: .seconds(120), holdLifetime: .seconds(86_400 * 7)),
      repeatsAnswers: repeats, remembersReversals: reversal, bearsJumps: jumps)
  }
}
