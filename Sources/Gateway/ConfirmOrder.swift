import Acquiring
import ApplePayToken
import Ledger
import TenderPayments

/// What a payment token offers, after it was found to pay exactly this order. Only ``PaymentGateway/confirm(_:pays:)``
/// makes one, and only it can become an authorization request.
struct ConfirmedInstrument: Sendable {
  let use: TokenUse
  private let instrument: PaymentInstrument

  fileprivate init(use: TokenUse, instrument: PaymentInstrument) {
    self.use = use
    self.instrument = instrument
  }

  var summary: CardSummary { instrument.summary }

  /// Whether the amount inside was seen.
  var amountConfirmed: Bool {
    switch instrument {
    case .network: true
    case .sealed: false
    }
  }

  func request(for order: Order, _ attempt: Attempt) -> AuthorizationRequest {
    AuthorizationRequest(
      reference: attempt.reference, merchantReference: order.merchantReference, amount: attempt.amount,
      instrument: instrument)
  }
}

extension PaymentGateway {
  /// Step 6 of Apple's procedure: what the shopper signed is what the order asks for. The merchant is confirmed before,
  /// by opening the token with that merchant's keys alone.
  ///
  /// Where the provider opens the token, signature, signing time and application data are checked as always; the
  /// amount inside cannot be, and the payment says so.
  ///
  /// - Throws: stage `order`, or what made the token unacceptable before.
  func confirm(_ token: EncryptedPaymentToken, pays order: Order) throws -> ConfirmedInstrument {
    guard acquirer.capabilities.exponent(order.amount.currency) != nil else {
      throw GatewayError.currencyNotTaken(order.amount.currency)
    }
    guard acquirer.capabilities.instruments.contains(.network) else {
      let verified = try opener.verifier.verify(token, at: clock.now())
      try confirmBasket(verified.token.applicationDataHash, order)
      return ConfirmedInstrument(use: verified.use, instrument: .sealed(verified))
    }
    let opened = try opener.open(token, for: order.merchant, at: clock.now())
    try confirmBasket(opened.applicationDataHash, order)
    try confirmAmount(opened.paymentData.amount, order.amount)
    return ConfirmedInstrument(
      use: opened.verified.use, instrument: .network(try opened.paymentData.networkToken))
  }
}

/// Without application data a token could be taken from one basket's sheet to another of the same total.
private func confirmBasket(_ applicationDataHash: [UInt8]?, _ order: Order) throws(PaymentTokenError) {
  guard let applicationDataHash else {
    throw PaymentTokenError(
      .applicationDataMissing, "the payment request carried no applicationData", field: "header.applicationData")
  }
  guard applicationDataHash == order.applicationDataHash else {
    throw PaymentTokenError(
      .applicationDataMismatch, "signed for another basket", field: "header.applicationData")
  }
}

private func confirmAmount(_ signed: Amount, _ ordered: Amount) throws(PaymentTokenError) {
  guard signed.currency == ordered.currency else {
    throw PaymentTokenError(
      .currencyMismatch, "signed in \(signed.currency), ordered in \(ordered.currency)", field: "currencyCode")
  }
  guard signed.minorUnits == ordered.minorUnits else {
    let hint = powerOfTen(signed.minorUnits, ordered.minorUnits)
    throw PaymentTokenError(
      .amountMismatch, "signed for \(signed), ordered for \(ordered)\(hint)", field: "transactionAmount")
  }
}

/// Two amounts that differ by a power of ten are one amount, with two ideas of the currency's decimals.
private func powerOfTen(_ left: Int64, _ right: Int64) -> String {
  let (small, large) = (min(left, right), max(left, right))
  guard small > 0, large.isMultiple(of: small), [10, 100, 1_000].contains(large / small) else { return "" }
  return "; they differ by a power of ten: compare the currency's decimals on both sides"
}
