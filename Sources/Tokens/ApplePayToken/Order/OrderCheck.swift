public import TenderPayments

/// What the payment token must contain to pay an order.
public struct ExpectedPayment: Sendable, Hashable {
  public let merchant: MerchantID
  /// What is to be charged; 0 when the sheet's total was pending.
  public let amount: Amount
  /// SHA-256 of the application data that the payment request carried.
  public let applicationDataHash: [UInt8]

  public init(merchant: MerchantID, amount: Amount, applicationDataHash: [UInt8]) {
    self.merchant = merchant
    self.amount = amount
    self.applicationDataHash = applicationDataHash
  }
}

extension OpenedPaymentToken {
  /// Apple's step 6: checks that the shopper agreed to what the order asks for.
  ///
  /// Source: Apple, *Payment token format reference*, "Verify the payment data": currency, amount, application data.
  ///
  /// - Throws: stage `order`.
  public func confirm(_ expected: ExpectedPayment) throws(PaymentTokenError) {
    try confirm(expected, demandingApplicationData: true)
  }

  /// Confirms a payment token that a merchant's server hands in.
  ///
  /// - Parameter isDemanded: whether the token must have application data. What it has is compared in any case.
  package func confirm(
    _ expected: ExpectedPayment, demandingApplicationData isDemanded: Bool
  ) throws(PaymentTokenError) {
    guard merchant == expected.merchant else {
      throw PaymentTokenError(.merchantMismatch, "opened for \(merchant), ordered from \(expected.merchant)")
    }
    if isDemanded || applicationDataHash != nil {
      try verified.confirm(applicationDataHash: expected.applicationDataHash)
    }
    try AmountCheck.confirm(paymentData.amount, pays: expected.amount)
  }
}

extension VerifiedPaymentToken {
  /// The part of step 6 that needs no key. It is all that binds a sealed payment token to its order.
  ///
  /// Without application data, a token made for one basket could pay another basket of the same total.
  ///
  /// - Throws: stage `order`.
  public func confirm(applicationDataHash expected: [UInt8]) throws(PaymentTokenError) {
    guard let found = token.applicationDataHash else {
      throw PaymentTokenError(
        .applicationDataMissing, "the payment request carried no applicationData", field: "header.applicationData")
    }
    guard found == expected else {
      throw PaymentTokenError(.applicationDataMismatch, "signed for another basket", field: "header.applicationData")
    }
  }
}

extension PaymentData {
  /// The part of Apple's step 6 that needs no signature.
  ///
  /// - Throws: stage `order`.
  package func confirm(pays ordered: Amount) throws(PaymentTokenError) {
    try AmountCheck.confirm(amount, pays: ordered)
  }
}

/// Compares the signed and the ordered amount in minor units.
enum AmountCheck {
  static func confirm(_ signed: Amount, pays ordered: Amount) throws(PaymentTokenError) {
    guard signed.currency == ordered.currency else {
      throw PaymentTokenError(
        .currencyMismatch, "signed in \(signed.currency), ordered in \(ordered.currency)", field: "currencyCode")
    }
    guard signed.minorUnits != ordered.minorUnits else { return }
    let reason = "signed for \(signed), ordered for \(ordered)"
    guard differByPowerOfTen(signed.minorUnits, ordered.minorUnits) else {
      throw PaymentTokenError(.amountMismatch, reason, field: "transactionAmount")
    }
    throw PaymentTokenError(
      .amountOffByPowerOfTen, reason + "; they differ by a power of ten", field: "transactionAmount")
  }

  /// Whether the amounts differ by a power of ten, which suggests that the two sides use different decimals for the
  /// currency.
  private static func differByPowerOfTen(_ left: Int64, _ right: Int64) -> Bool {
    let (small, large) = (min(left, right), max(left, right))
    guard small > 0, large.isMultiple(of: small) else { return false }
    var factor = large / small
    while factor.isMultiple(of: 10) { factor /= 10 }
    return factor == 1
  }
}
