import Acquiring
import ApplePayToken
import Ledger
import TenderPayments

/// An order with the payment token that was found to pay exactly it. Only ``PaymentGateway/confirm(_:pays:)`` makes
/// one, and only it can become an authorization request.
package struct ConfirmedOrder: Sendable {
  let order: Order
  let use: TokenUse
  private let instrument: PaymentInstrument

  fileprivate init(_ order: Order, use: TokenUse, instrument: PaymentInstrument) {
    self.order = order
    self.use = use
    self.instrument = instrument
  }

  var card: CardSummary { instrument.summary }

  /// Whether the amount inside was seen.
  var amountConfirmed: Bool {
    switch instrument {
    case .network: true
    case .sealed: false
    }
  }

  func request(_ attempt: Attempt) -> AuthorizationRequest {
    AuthorizationRequest(
      reference: attempt.reference, merchantReference: order.merchantReference, amount: attempt.amount,
      instrument: instrument)
  }
}

extension PaymentGateway {
  /// Before anything is written: an amount that the acquirer cannot count is not rounded.
  func refuseTooFine(_ amount: Amount) throws(GatewayError) {
    guard acquirer.capabilities.toAcquirer(amount) != nil else { throw .amountTooFine(amount) }
  }

  /// Step 6 of Apple's procedure: what the shopper signed is what the order asks for. The payment token library
  /// checks; the expected values are the order's.
  ///
  /// Where the provider opens the token, signature, signing time and application data are checked as always; the
  /// amount inside cannot be, and the payment says so.
  ///
  /// - Throws: stage `order`, or what made the token unacceptable before.
  func confirm(_ token: EncryptedPaymentToken, pays order: Order) async throws -> ConfirmedOrder {
    guard acquirer.capabilities.exponent(order.amount.currency) != nil else {
      throw GatewayError.currencyNotTaken(order.amount.currency)
    }
    try refuseTooFine(order.amount)
    guard acquirer.capabilities.instruments.contains(.network) else {
      let verified = try opener.verifier.verify(token, at: clock.now())
      try verified.confirm(applicationDataHash: order.applicationDataHash)
      return ConfirmedOrder(order, use: verified.use, instrument: .sealed(verified))
    }
    let opened = try await opener.opening(token, for: order.merchant, at: clock.now())
    try opened.confirm(
      ExpectedPayment(
        merchant: order.merchant, amount: order.amount, applicationDataHash: order.applicationDataHash))
    return ConfirmedOrder(
      order, use: opened.verified.use, instrument: .network(try opened.paymentData.networkToken))
  }
}
