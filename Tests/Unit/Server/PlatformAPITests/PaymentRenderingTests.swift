import DirectWire
import Ledger
import PlatformAPI
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

struct StatusTests {
  /// Reference, §7: every status a payment can have, with Worldline's number, word and category.
  @Test(
    "every status of a payment has Worldline's number, word and category",
    arguments: [
      (PaymentStatus.authorizing, 51, "AUTHORIZATION_REQUESTED", "PENDING_CONNECT_OR_3RD_PARTY"),
      (.pending, 51, "AUTHORIZATION_REQUESTED", "PENDING_CONNECT_OR_3RD_PARTY"),
      (.unknown, 52, "AUTHORIZATION_REQUESTED", "PENDING_CONNECT_OR_3RD_PARTY"),
      (.authorized, 5, "PENDING_CAPTURE", "PENDING_MERCHANT"), (.partiallyCaptured, 9, "CAPTURED", "COMPLETED"),
      (.captured, 9, "CAPTURED", "COMPLETED"), (.partiallyRefunded, 9, "CAPTURED", "COMPLETED"),
      (.refunded, 8, "REFUNDED", "REFUNDED"), (.voided, 6, "CANCELLED", "UNSUCCESSFUL"),
      (.declined, 2, "REJECTED", "UNSUCCESSFUL"), (.failed, 2, "REJECTED", "UNSUCCESSFUL"),
    ])
  func status(_ status: PaymentStatus, _ code: Int64, _ word: String, _ category: String) {
    let wire = DirectStatus(of: .example(status), [])
    #expect((wire.rawValue, wire.word, wire.category) == (code, word, category))
  }

  @Test("every reason of a decline has eight digits")
  func codes() {
    for reason in DeclineReason.allCases {
      #expect(reason.errorCode.utf8.count == 8 && reason.errorCode.allSatisfy { ("0"..."9").contains($0) })
    }
  }
}

struct PaymentRenderingTests {
  @Test("older and newer members of a payment are both set")
  func members() throws {
    let order = RenderedOrder(references: DirectReferences(merchantReference: "order-1"))
    let answer = PaymentRendering(.example(.captured, captured: 2_590, refunded: 590), [], order).answer
    #expect(answer.id == "p1_0" && answer.status == "CAPTURED")
    #expect(answer.paymentOutput.acquiredAmount?.amount == 2_000 && answer.paymentOutput.amountPaid == 2_000)
    #expect(answer.paymentOutput.references?.merchantReference == "order-1")
    #expect(answer.paymentOutput.mobilePaymentMethodSpecificOutput?.paymentData?.dpan == "************0492")
    #expect(answer.statusOutput.isRefundable == true && answer.statusOutput.isCancellable == false)
  }

  @Test("a declined payment says why")
  func decline() {
    let decline = Decline(reason: .insufficientFunds, code: "51")
    let answer = PaymentRendering(.example(.declined, decline: decline), [], RenderedOrder(references: nil)).answer
    #expect(answer.statusOutput.errors?.map(\.errorCode) == ["30511001"])
    #expect(answer.statusOutput.isAuthorized == false)
  }
}

extension Payment {
  /// 25.90 EUR.
  static func example(
    _ status: PaymentStatus, captured: Int64 = 0, refunded: Int64 = 0, decline: Decline? = nil
  ) -> Payment {
    Payment(
      id: PaymentID("p1"), order: OrderID("o1"), merchant: MerchantID("m1"), basket: BasketID("b1"), status: status,
      amount: Amount(minorUnits: 2_590, currency: Currency(code: "EUR")!), authorized: 2_590, captured: captured,
      refunded: refunded,
      authorizationCode: "A1B2C3", decline: decline,
      card: CardSummary(deviceAccountSuffix: "0492", expiry: CardExpiry(yymm: "3112"), hasECI: true),
      createdAt: Timestamp(seconds: 1_800_000_000), updatedAt: Timestamp(seconds: 1_800_000_010))
  }
}
