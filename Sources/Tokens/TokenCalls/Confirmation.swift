import ApplePayToken
import StrictJSON
import TenderPayments

extension CheckedToken {
  /// Checks that the payment token pays what is expected:
  ///
  ///     {"amount": 1250, "currency": "EUR", "applicationDataHash": "9f86d0…"}
  ///
  /// `amount` is in minor units. `applicationDataHash` is SHA-256 of the application data that the payment request
  /// carried, in hexadecimal; null where it carried none, and then the payment token must have none either. Of a payment
  /// token that was only verified, whose amount nobody here can read, the hash stands alone.
  ///
  /// - Throws: ``TokenCallError``; ``PaymentTokenError`` of stage `order`.
  package func confirm(expected bytes: [UInt8]) throws {
    try confirm(CallFields(bytes, limit: 1 << 16, .malformedRequest))
  }

  func confirm(_ expected: CallFields) throws {
    try expected.allow(paymentData == nil ? ["applicationDataHash"] : ["amount", "currency", "applicationDataHash"])
    // A mistaken call is found before the payment token is blamed.
    let amount = paymentData == nil ? nil : try Self.amount(expected)
    try confirm(hash: expected)
    if let amount { try paymentData?.confirm(pays: amount) }
  }

  private func confirm(hash expected: CallFields) throws {
    switch try expected.read({ try $0.object })["applicationDataHash"] {
    case .string(let text)?:
      guard let hash = Hex.decode(text), hash.count == 32 else {
        throw expected.mistake("applicationDataHash is SHA-256 in 64 hexadecimal digits, or null")
      }
      try verified.confirm(applicationDataHash: hash)
    case .null?:
      guard verified.token.applicationDataHash == nil else {
        throw PaymentTokenError(
          .applicationDataMismatch, "signed with application data, and none is expected",
          field: "header.applicationData")
      }
    default: throw expected.mistake("applicationDataHash is needed: 64 hexadecimal digits, or null where there is none")
    }
  }

  private static func amount(_ expected: CallFields) throws -> Amount {
    let (units, code) = try expected.read { (try $0.member("amount").minorUnits, try $0.member("currency").string) }
    guard let currency = Currency(code: code), currency.isMoney else {
      throw expected.mistake("currency is one of ISO 4217, for example EUR")
    }
    let amount = Amount(minorUnits: units, currency: currency)
    guard !amount.isNegative else {
      throw expected.mistake("amount is a whole number of minor units, for example 1250 for 12.50 euros")
    }
    return amount
  }
}
