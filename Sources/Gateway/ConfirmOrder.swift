import Acquiring
import ApplePayToken
import Ledger
import TenderPayments

/// What a payment token offers, after it was found to pay exactly this order. Only ``confirm(_:matches:)`` makes one,
/// and only it can become an authorization request.
struct ConfirmedInstrument: Sendable {
  let use: TokenUse
  private let instrument: PaymentInstrument

  fileprivate init(use: TokenUse, instrument: PaymentInstrument) {
    self.use = use
    self.instrument = instrument
  }

  var summary: CardSummary { instrument.summary }

  func request(for order: Order, _ attempt: Attempt) -> AuthorizationRequest {
    AuthorizationRequest(
      reference: attempt.reference, merchantReference: order.merchantReference, amount: attempt.amount,
      instrument: instrument)
  }
}

/// Step 6 of Apple's procedure: what the shopper signed is what the order asks for. The checks are the payment token
/// library's; what they are held against is the order.
///
/// - Throws: stage `order`.
func confirm(
  _ opened: OpenedPaymentToken, matches order: Order
) throws(PaymentTokenError) -> ConfirmedInstrument {
  try opened.confirm(
    ExpectedPayment(
      merchant: order.merchant, amount: order.amount, applicationDataHash: order.applicationDataHash))
  return ConfirmedInstrument(
    use: opened.verified.use, instrument: .network(try opened.paymentData.networkToken))
}
