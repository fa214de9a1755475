import TenderPayments
import TokenIssuer

/// The outcome of a request: by its card, and for ordinary cards by its amount.
struct ScriptedResponse: Sendable {
  let outcome: SandboxOutcome
  let delay: Duration

  init(outcome: SandboxOutcome, delay: Duration) {
    self.outcome = outcome
    self.delay = delay
  }

  /// - Parameter refusal: a response code that the request gets whatever its card and amount.
  init(_ request: HoldRequest, refusal: String? = nil) {
    if let refusal {
      self.init(outcome: .decline(responseCode: refusal), delay: .zero)
      return
    }
    self.init(dpan: request.dpan, minorUnits: request.amount.minorUnits)
  }

  init(dpan: DPAN, minorUnits: Int64) {
    let card = SandboxCards.card(dpan: dpan)
    let amount = SandboxAmounts.amount(minorUnits)
    switch (card?.outcome ?? .decline(responseCode: "14"), amount) {
    case (.approve, let amount?): self.init(outcome: amount.outcome, delay: amount.delay)
    case (let cardOutcome, _): self.init(outcome: cardOutcome, delay: .zero)
    }
  }
}
