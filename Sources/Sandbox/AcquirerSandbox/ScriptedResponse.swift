import TenderPayments
import TokenIssuer

/// The outcome of a request: by its card, and for ordinary cards by its amount.
struct ScriptedResponse: Sendable {
  let outcome: SandboxOutcome
  let delay: Duration

  /// - Parameter refusal: a response code that the request gets whatever its card and amount.
  init(_ request: HoldRequest, refusal: String? = nil) {
    if let refusal {
      (outcome, delay) = (.decline(responseCode: refusal), .zero)
      return
    }
    let card = SandboxCards.card(dpan: request.dpan)
    let amount = SandboxAmounts.amount(request.amount.minorUnits)
    switch (card?.outcome ?? .decline(responseCode: "14"), amount) {
    case (.approve, let amount?): (outcome, delay) = (amount.outcome, amount.delay)
    case (let cardOutcome, _): (outcome, delay) = (cardOutcome, .zero)
    }
  }
}
