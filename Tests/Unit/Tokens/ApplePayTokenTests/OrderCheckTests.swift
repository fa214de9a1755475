import ApplePayToken
import Crypto
import TenderPayments
import TenderTesting
import Testing

@Suite(.everyKeyHolder) struct `Whether a payment token pays an order` {
  private let applicationData = Array(SHA256.hash(data: Array("basket 1".utf8)))

  private func opened(_ change: (inout TestTokenBuilder) -> Void = { _ in }) throws -> OpenedPaymentToken {
    var builder = try TestTokenBuilder()
    builder.applicationData = applicationData
    change(&builder)
    return try builder.build().open()
  }

  private func code(
    _ units: Int64 = 1250, _ currency: String = "EUR", of merchant: MerchantID = TestTokenBuilder.merchant,
    for data: [UInt8]? = nil, _ change: (inout TestTokenBuilder) -> Void = { _ in }
  ) throws -> PaymentTokenError.Code? {
    let currency = try #require(Currency(code: currency))
    let expected = ExpectedPayment(
      merchant: merchant, amount: Amount(minorUnits: units, currency: currency),
      applicationDataHash: data ?? applicationData)
    return try refusal { try opened(change).confirm(expected) }
  }

  @Test func `the same amount of the same basket pays`() throws {
    #expect(try code() == nil)
  }

  @Test func `another amount is refused, and one that is a power of ten off is named as such`() throws {
    #expect(try code(1251) == .amountMismatch)
    #expect(try code(0) == .amountMismatch)
    #expect(try code(2500) == .amountMismatch)
    #expect(try code(25_000) == .amountMismatch, "twenty times is no power of ten")
    for units: Int64 in [125, 12_500, 125_000, 1_250_000] { #expect(try code(units) == .amountOffByPowerOfTen) }
  }

  @Test func `another currency is refused, even of the same number of units`() throws {
    #expect(try code(1250, "USD") == .currencyMismatch)
    #expect(try code(1250, "JPY") == .currencyMismatch)
  }

  @Test func `a currency's number keeps its leading zeros`() throws {
    func inDollars(_ builder: inout TestTokenBuilder, _ number: String) {
      builder.plaintext = Array(TestTokenBuilder.payload.replacing("\"978\"", with: "\"\(number)\"").utf8)
    }
    #expect(try code(1250, "AUD") { inDollars(&$0, "036") } == nil)
    #expect(try code(1250, "AUD") { inDollars(&$0, "36") } == .unknownCurrency)
  }

  @Test func `another basket's application data is refused, and so is none`() throws {
    #expect(try code(for: Array(SHA256.hash(data: Array("basket 2".utf8)))) == .applicationDataMismatch)
    #expect(try code { $0.applicationData = nil } == .applicationDataMissing)
    #expect(try code(for: []) == .applicationDataMismatch)
  }

  @Test func `another merchant's order is not paid`() throws {
    #expect(try code(of: MerchantID("M2")) == .merchantMismatch)
  }

  @Test func `a sealed token is bound to its basket and lists the unchecked stages`() throws {
    let sealed = try opened().verified
    #expect(try refusal { try sealed.confirm(applicationDataHash: applicationData) } == nil)
    #expect(try refusal { try sealed.confirm(applicationDataHash: [1]) } == .applicationDataMismatch)
    #expect(VerifiedPaymentToken.unchecked.contains(.payload) && VerifiedPaymentToken.unchecked.contains(.order))
    #expect(VerifiedPaymentToken.checked + VerifiedPaymentToken.unchecked == PaymentTokenError.Stage.allCases)
    #expect(OpenedPaymentToken.checked + OpenedPaymentToken.unchecked == PaymentTokenError.Stage.allCases)
  }
}
