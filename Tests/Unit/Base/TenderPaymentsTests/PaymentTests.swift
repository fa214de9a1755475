import TenderPayments
import Testing

@Suite struct `A payment` {
  private static func payment(_ status: PaymentStatus, reported: ReportedOutcome? = nil, authorized: Int64 = 0) throws
    -> Payment
  {
    let amount = Amount(minorUnits: 450, currency: try #require(Currency(code: "EUR")))
    let moment = Timestamp(seconds: 0)
    return Payment(
      id: PaymentID("p"), order: OrderID("o"), merchant: MerchantID("m"), basket: BasketID("b"), status: status,
      amount: amount, authorized: authorized, captured: 0,
      refunded: 0, authorizationCode: nil, decline: nil,
      card: CardSummary(deviceAccountSuffix: nil, expiry: nil, hasECI: false),
      reportedOutcome: reported, createdAt: moment, updatedAt: moment)
  }

  @Test func `is paid while its money is held or taken, and not all of it went back`() throws {
    let paid = try PaymentStatus.allCases.filter { try Self.payment($0).isPaid }
    #expect(paid == [.authorized, .partiallyCaptured, .captured, .partiallyRefunded, .verified])
  }

  @Test func `whose captures all went back is paid while a part of the hold is left`() throws {
    #expect(try Self.payment(.refunded, authorized: 250).isPaid)
    #expect(try !Self.payment(.refunded, reported: .failure, authorized: 250).isPaid)
  }

  @Test func `that was reported as a failure is not paid, because its late approval is reversed`() throws {
    #expect(try !Self.payment(.authorized, reported: .failure).isPaid)
    #expect(try Self.payment(.authorized, reported: .success).isPaid)
  }
}
