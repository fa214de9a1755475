package import TenderPayments
package import TokenIssuer

/// The outcome of a request: by its card, and for ordinary cards by its amount.
package struct ScriptedResponse: Sendable {
  package let outcome: SandboxOutcome
  package let delay: Duration

  package init(outcome: SandboxOutcome, delay: Duration) {
    self.outcome = outcome
    self.delay = delay
  }

  package init(dpan: DPAN, minorUnits: Int64) {
    let card = SandboxCards.card(dpan: dpan)
    let amount = SandboxAmounts.amount(minorUnits)
    switch (card?.outcome ?? .decline(responseCode: "14"), amount) {
    case (.approve, let amount?): self.init(outcome: amount.outcome, delay: amount.delay)
    case (let cardOutcome, _): self.init(outcome: cardOutcome, delay: .zero)
    }
  }
}
