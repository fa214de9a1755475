package import Ledger
package import TenderPayments

/// Why the gateway did nothing, or nothing more. Beside it the gateway throws `PaymentTokenError`, when the payment
/// token cannot be opened or does not pay the order, and `StorageError`.
package enum GatewayError: Error, Sendable, Hashable {
  /// The order has a payment whose outcome is not known yet. Ask for it again; do not pay again.
  case paymentInProgress(Payment)
  /// The payment token has paid another order.
  case tokenReused
  /// The first call with this idempotency key is being worked on.
  case callInProgress
  /// More payments are under way than this process takes on. Nothing was written.
  case overloaded
  /// Too little is left of the time in which the shopper waits. Nothing was written.
  case outOfTime
  /// The acquirer does not take the currency.
  case currencyNotTaken(Currency)
  /// The acquirer counts the currency with fewer decimals than the amount has.
  case amountTooFine(Amount)
  /// The payment's acquirer does this operation for the whole amount only.
  case partNotPossible(OperationKind, String)
  /// None of the merchant's routes takes this payment. Nothing was written.
  case noRoute(MerchantID)
  /// The payment begins an agreement, and no route keeps what later payments of such a credential need. Nothing was written.
  case agreementNotOffered(MerchantID)
  /// The agreement's status or calendar allows no such charge or change. Nothing was written.
  case agreementRefused(AgreementError)
  /// Nothing is kept with which the agreement's route could charge the card again. Nothing was written.
  case agreementNotChargeable(AgreementID)
  /// The acquirer may still report what became of the operation, or recovery find it out.
  case answerMayCome(AttemptReference)
  /// The payment's route is not configured, and only its acquirer can be asked.
  case acquirerNotConfigured(String)
  /// The acquirer was asked, and the store could neither keep its answer nor be read. The outcome is open.
  case outcomeNotRecorded(PaymentID)
  /// The store was restored from a backup, and what the route's provider has done since is not known yet.
  case routeNotReconciled(String)
  /// The payment token was signed before the store was restored, and may have been used.
  case tokenBeforeRestore
  /// The basket was paid before the store was restored.
  case paidBeforeRestore(PaymentID)
  /// The call may be the repeat of one that was done before the store was restored, and lost.
  case callMayBeLost(OperationKind)
  /// The route's provider gives no listing, or the store was not restored.
  case noListing(String)
  /// The payment cannot take the operation.
  case operationRefused(JournalError)

  /// Stable; what a program may rely on.
  package var code: String {
    switch self {
    case .paymentInProgress: "payment_in_progress"
    case .tokenReused: "token_reused"
    case .callInProgress: "idempotency_key_in_use"
    case .overloaded: "overloaded"
    case .outOfTime: "out_of_time"
    case .currencyNotTaken: "currency_not_supported"
    case .amountTooFine: "amount_too_fine_for_acquirer"
    case .outcomeNotRecorded: "outcome_not_recorded"
    case .acquirerNotConfigured: "acquirer_not_configured"
    case .noRoute: "no_route"
    case .agreementNotOffered: "agreement_not_offered"
    case .agreementNotChargeable: "agreement_not_chargeable"
    case .agreementRefused(let reason):
      switch reason {
      case .unknown: "agreement_not_found"
      case .notPossible: "agreement_change_not_possible"
      case .notChargeable: "agreement_not_active"
      case .noSuchPeriod: "agreement_period_unknown"
      case .notDue: "agreement_not_due"
      case .charged: "agreement_period_charged"
      case .stopped: "agreement_stopped"
      case .tooManyDeclines: "agreement_retry_too_early"
      case .noPrice, .priceFromPast: "agreement_price_not_possible"
      case .conflict: "agreement_in_progress"
      }
    case .answerMayCome: "answer_may_come"
    case .partNotPossible: "part_not_possible"
    case .routeNotReconciled: "route_not_reconciled"
    case .tokenBeforeRestore: "token_before_restore"
    case .paidBeforeRestore: "paid_before_restore"
    case .callMayBeLost: "call_may_be_lost"
    case .noListing: "no_listing"
    case .operationRefused(let reason):
      switch reason {
      case .noSuchPayment: "payment_not_found"
      case .noSuchOperation: "operation_not_found"
      case .notPossible, .alreadyResolved, .alreadyAnswered: "operation_not_possible"
      case .exceeds: "amount_exceeds_available"
      case .invalidAmount: "invalid_amount"
      case .conflict, .inFlight, .mustWait: "operation_in_progress"
      }
    }
  }

  /// For the operator; never card data.
  package var reason: String {
    switch self {
    case .paymentInProgress(let payment): "payment \(payment.id) of the order is \(payment.status.rawValue)"
    case .tokenReused: "the payment token has paid another order"
    case .callInProgress: "the first call with this idempotency key is being worked on"
    case .overloaded: "more payments are under way than this server takes on"
    case .outOfTime: "too little was left of the shopper's time to ask the acquirer"
    case .amountTooFine(let amount): "the acquirer counts \(amount.currency) in larger units than \(amount) needs"
    case .currencyNotTaken(let currency): "the acquirer does not take \(currency)"
    case .outcomeNotRecorded(let payment): "the acquirer was asked about payment \(payment), and the store failed"
    case .acquirerNotConfigured(let route): "the payment was authorized at \(route), which is not configured"
    case .partNotPossible(.increment, let route): "\(route) raises no hold"
    case .partNotPossible(let kind, let route): "\(route) does a \(kind.rawValue) for the whole amount only"
    case .agreementNotChargeable(let id): "the route of agreement \(id) cannot charge its card again"
    case .agreementRefused(let reason): reason.text
    case .answerMayCome(let operation): "the acquirer may still report what became of \(operation)"
    case .noRoute(let merchant): "none of the routes of merchant \(merchant) takes this payment"
    case .agreementNotOffered(let merchant):
      "none of the routes of merchant \(merchant) begins an agreement with this card"
    case .routeNotReconciled(let route):
      "the store was restored, and what \(route) has done since the backup is not known yet"
    case .tokenBeforeRestore: "the payment token was signed before the store was restored"
    case .paidBeforeRestore(let payment): "payment \(payment) paid this basket before the store was restored"
    case .callMayBeLost(let kind):
      "this \(kind.rawValue) may be the repeat of one that was done before the store was restored"
    case .noListing(let route): "no listing can be asked for at \(route)"
    case .operationRefused(let reason): reason.text
    }
  }

  /// For the integrator.
  package var advice: String {
    switch self {
    case .paymentInProgress: "Ask for the payment's outcome until it is known. A second payment could charge twice."
    case .tokenReused: "Show the payment sheet again: every payment takes a payment token of its own."
    case .callInProgress: "Repeat the call with the same key in a moment: it gets the first one's answer."
    case .overloaded, .outOfTime: "This call changed nothing. Try again after the time in Retry-After."
    case .outcomeNotRecorded: "Ask for the payment until it is known what became of this call, before you repeat it."
    case .acquirerNotConfigured: "Configure the acquirer that holds the money, or do it in that acquirer's own portal."
    case .partNotPossible(.increment, _): "Authorize the rest as another payment."
    case .partNotPossible: "Leave the amount out, or do a part in another way, such as a capture of less."
    case .answerMayCome:
      "Wait for the time in which the acquirer reports, and while recovery repeats the operation; then decide."
    case .noRoute: "Run tender route explain with this payment's network, amount and currency, and correct the rules."
    case .agreementNotOffered: "Give the merchant a route whose connector begins agreements: see docs/agreements.md."
    case .agreementNotChargeable:
      "Ask the shopper to pay again with a route that charges agreements: see docs/agreements.md."
    case .agreementRefused(.stopped):
      "Do not try this card again: let the shopper agree again with another, and end this agreement."
    case .agreementRefused(.tooManyDeclines): "Wait until then. Until the cause is gone each try is a decline more."
    case .agreementRefused(.unknown): "`tender agreement list` has the ids, and GET /v2/{merchantId}/agreements."
    case .agreementRefused(.noPrice): "Name the amount in the charge."
    case .agreementRefused(.priceFromPast): "Name a time that is not over, or none for now."
    case .agreementRefused(.charged), .agreementRefused(.conflict): "Read the agreement: its charges say what was paid."
    case .agreementRefused: "Read the agreement: its status, calendar and charges say what can be charged."
    case .amountTooFine: "Use an amount without the last decimals."
    case .currencyNotTaken: "Price the basket in a currency that the acquirer's contract names."
    case .routeNotReconciled: "This call changed nothing. Try again later; the operator runs tender restore status."
    case .tokenBeforeRestore: "Show the payment sheet again: a new payment token is taken."
    case .paidBeforeRestore: "Do not charge again. The operator finds the payment among the alarms."
    case .callMayBeLost(.authorize):
      "Look at what was charged. If this was not done before, let an operator do it. A reload may be asked for with the "
        + "period of the agreement that comes next."
    case .callMayBeLost: "Look at the payment. If this was not done before, let an operator do it."
    case .noListing: "Name the provider's report by --report, or the merchant's orders by --orders."
    case .operationRefused(.mustWait(_, isFinal: true)):
      "Ask again when the operation in flight has its answer; or leave isFinal out, and capture the amount now."
    case .operationRefused(.conflict), .operationRefused(.inFlight), .operationRefused(.mustWait):
      "Read the payment again, and repeat if the operation is still wanted."
    case .operationRefused: "Read the payment: its status and balances say which operations it can take."
    }
  }
}

extension GatewayError: CustomStringConvertible {
  /// For a terminal or a log; never card data.
  package var description: String { "\(reason). \(advice)" }
}

extension JournalError {
  fileprivate var text: String {
    switch self {
    case .noSuchPayment(let id): "there is no payment \(id)"
    case .noSuchOperation(let reference):
      "the payment has no capture, void or refund \(reference) that could be resolved so"
    case .notPossible(let kind, let status):
      "a payment that is \(status.rawValue) takes no \(kind.rawValue)\(PaymentState.others(in: status))"
    case .alreadyAnswered(let state): "the operation has its answer: it is \(state.rawValue)"
    case .alreadyResolved(let status): "a payment that is \(status.rawValue) is resolved already"
    case .inFlight(let available): "no more than \(available) is free while another operation is in flight"
    case .mustWait(_, isFinal: true):
      "a final capture releases the rest, which is unknown while another operation on the hold is in flight"
    case .mustWait(let kind, isFinal: false):
      "a \(kind.rawValue) has to wait while another operation on the hold is in flight"
    case .exceeds(let available):
      available.isPositive ? "no more than \(available) is left" : "nothing is left of the payment for this"
    case .invalidAmount(let amount): "\(amount) is not an amount of this payment's currency above zero"
    case .conflict: "the payment changed in between"
    }
  }
}

extension AgreementError {
  fileprivate var text: String {
    switch self {
    case .unknown(let id): "there is no agreement \(id)"
    case .notPossible(let event, let status): "an agreement that is \(status.rawValue) cannot be \(event.rawValue)"
    case .notChargeable(let status): "an agreement that is \(status.rawValue) cannot be charged"
    case .noSuchPeriod(let period): "the agreement has no period \(period)"
    case .notDue(let period, let due): "period \(period) begins at \(due)"
    case .charged(let period, let payment): "period \(period) has payment \(payment)"
    case .stopped(let reason): "a charge was declined for good: \(reason.rawValue)"
    case .tooManyDeclines(let next): "the card schemes allow no charge after so many declines before \(next)"
    case .noPrice(let kind):
      "an agreement that is \(kind.rawValue) takes no price: it has the amount that the shopper saw"
    case .priceFromPast(let time): "\(time) is over, and what was due then has its price"
    case .conflict: "another call charges the same period"
    }
  }
}

extension PaymentState {
  /// The end of a sentence: what it takes instead.
  fileprivate static func others(in status: PaymentStatus) -> String {
    let kinds = allowed(in: status).map(\.rawValue)
    return kinds.isEmpty ? "" : "; where something is left, it takes: \(kinds.joined(separator: ", "))"
  }
}
