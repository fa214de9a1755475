package import TokenIssuer

/// A total with a scripted outcome.
package struct SandboxAmount: Sendable, Hashable {
  /// Minor units of any currency: 2051 is 20.51 EUR and 2051 JPY.
  package let minorUnits: Int64
  package let outcome: SandboxOutcome
  /// How long the answer takes.
  package let delay: Duration

  package init(_ minorUnits: Int64, _ outcome: SandboxOutcome, delay: Duration = .zero) {
    self.minorUnits = minorUnits
    self.outcome = outcome
    self.delay = delay
  }

  /// The outcome, for people.
  package var explanation: String {
    delay > .zero ? "Approved after \(delay.components.seconds) seconds." : outcome.explanation
  }
}

/// Totals with scripted outcomes. They are exact totals, so that an ordinary basket rarely meets one.
///
/// They apply to the ordinary cards; a card with an outcome of its own keeps it.
package enum SandboxAmounts {
  package static let all: [SandboxAmount] = [
    SandboxAmount(2005, .decline(responseCode: "05")),
    SandboxAmount(2010, .approveForLess),
    SandboxAmount(2041, .decline(responseCode: "41")),
    SandboxAmount(2051, .decline(responseCode: "51")),
    SandboxAmount(2054, .decline(responseCode: "54")),
    SandboxAmount(2068, .noAnswerAfterApproval),
    SandboxAmount(2069, .noAnswer),
    SandboxAmount(2070, .approve, delay: .seconds(5)),
    SandboxAmount(2091, .decline(responseCode: "91")),
    SandboxAmount(2099, .pending),
  ]

  /// Whether a capture or refund of this amount that a provider leaves pending is declined later.
  package static func failsLate(_ minorUnits: Int64) -> Bool { minorUnits == 2093 }

  package static func amount(_ minorUnits: Int64) -> SandboxAmount? { all.first { $0.minorUnits == minorUnits } }
}
