package import Storage
package import TenderPayments

/// Which payments an operator looks for. Every condition that is set must hold.
package struct PaymentSearch: Sendable {
  /// A payment, or all payments of an order or a basket.
  package enum Subject: Sendable, Hashable {
    case payment(PaymentID)
    case order(OrderID)
    case basket(BasketID)
  }

  package var subject: Subject?
  package var merchant: MerchantID?
  package var status: PaymentStatus?
  /// When the payment began: at this moment or after it.
  package var from: Timestamp?
  /// Before this moment.
  package var until: Timestamp?
  package var isAlarmed = false
  /// What the payment was begun for.
  package var amount: Amount?
  package var limit = 50

  package init(_ subject: Subject? = nil) { self.subject = subject }
}

/// A payment, and why an operator has to look at it.
package struct FoundPayment: Sendable {
  package let payment: Payment
  /// Stable; nil without an alarm.
  package let alarm: String?
}

extension PaymentSearch {
  /// The payments that fit, newest first.
  package func find(in store: Transaction) throws -> [FoundPayment] {
    try store.rows(
      """
      SELECT * FROM payments
      WHERE \(condition.sql) AND (merchant = $2 OR $2 IS NULL) AND (status = $3 OR $3 IS NULL)
        AND (created_at >= $4 OR $4 IS NULL) AND (created_at < $5 OR $5 IS NULL) AND (alarm IS NOT NULL OR $6 = 0)
        AND (amount = $7 OR $7 IS NULL) AND (currency = $8 OR $8 IS NULL)
      ORDER BY id DESC LIMIT $9
      """,
      condition.value, .text(optional: merchant?.rawValue), .text(optional: status?.rawValue), .time(optional: from),
      .time(optional: until), .integer(isAlarmed ? 1 : 0), .integer(optional: amount?.minorUnits),
      .text(optional: amount?.currency.code), .integer(Int64(max(0, limit)))
    ).readable { FoundPayment(payment: try PaymentRecord($0).payment, alarm: try $0.textOrNil("alarm")) }
  }

  /// One text for each subject, so that the index of its column is used.
  private var condition: (sql: String, value: SQLValue) {
    switch subject {
    case .payment(let id): ("id = $1", .text(id.rawValue))
    case .order(let id): ("order_id = $1", .text(id.rawValue))
    case .basket(let id): ("basket = $1", .text(id.rawValue))
    case nil: ("$1 IS NULL", .text(optional: nil))
    }
  }
}
