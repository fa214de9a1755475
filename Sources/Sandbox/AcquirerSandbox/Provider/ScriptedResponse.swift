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
    self.init(card: SandboxCards.card(dpan: dpan), minorUnits: minorUnits)
  }

  /// What a bank answers about a stored credential; a card that was typed is approved.
  package init(storedCard card: SandboxCard?, minorUnits: Int64) {
    let amount = SandboxAmounts.amount(minorUnits)
    guard card == nil else {
      self.init(card: card, minorUnits: minorUnits)
      return
    }
    self.init(outcome: amount?.outcome ?? .approve, delay: amount?.delay ?? .zero)
  }

  private init(card: SandboxCard?, minorUnits: Int64) {
    let amount = SandboxAmounts.amount(minorUnits)
    switch (card?.outcome ?? .decline(responseCode: "14"), amount) {
    case (.approve, let amount?): self.init(outcome: amount.outcome, delay: amount.delay)
    case (let cardOutcome, _): self.init(outcome: cardOutcome, delay: .zero)
    }
  }
}
