package import Storage
package import TenderPayments

/// One merchant's payments, newest first, a page at a time. A page goes on below a payment's id and not after a number of
/// payments, so that payments which are made meanwhile neither repeat nor hide one.
package struct MerchantPayments: Sendable {
  /// How many payments a page looks at, however few of them fit.
  package static let window: Int64 = 5_000

  package let merchant: MerchantID
  package var status: PaymentStatus?
  /// Minor units.
  package var amount: Int64?
  package var currency: Currency?
  /// When the payment began: at this moment or after it.
  package var from: Timestamp?
  /// Before this moment.
  package var until: Timestamp?
  package var payment: PaymentID?
  package var order: OrderID?
  /// Only payments before this one.
  package var before: PaymentID?
  package var limit: Int64 = 50

  package init(of merchant: MerchantID) { self.merchant = merchant }

  package struct Page: Sendable {
    package let payments: [Payment]
    /// Below which the next page goes on; nil after the last one. A page may have few payments and not be the last.
    package let next: PaymentID?

    package init(payments: [Payment], next: PaymentID?) { (self.payments, self.next) = (payments, next) }
  }

  package func page(in store: Transaction) throws -> Page {
    let rows = try store.rows(selection, values + [.integer(limit)])
    let found = try rows.readable { try PaymentRecord($0).payment }
    guard rows.count < Int(limit) else {
      return Page(payments: found, next: try rows.last.map { PaymentID(try $0.text("id")) })
    }
    return Page(payments: found, next: try endOfWindow(store))
  }

  /// The last payment that this page has looked at; nil when there are no more. Payments of one order are few.
  private func endOfWindow(_ store: Transaction) throws -> PaymentID? {
    guard payment == nil, order == nil else { return nil }
    return try store.row(
      "SELECT id FROM payments WHERE merchant = $1 AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3",
      .text(merchant.rawValue), .text(start), .integer(Self.window - 1)
    ).map { PaymentID(try $0.text("id")) }
  }

  /// Ids are of letters and digits, which come before this.
  private var start: String { before?.rawValue ?? "~" }

  /// One text for each of the three, so that the index of its column is used.
  private var selection: String {
    let subject =
      switch (payment, order) {
      case (.some, _): "SELECT * FROM payments WHERE id = $3 AND merchant = $1 AND id < $2"
      case (nil, .some): "SELECT * FROM payments WHERE order_id = $3 AND merchant = $1 AND id < $2"
      case (nil, nil):
        "SELECT * FROM payments WHERE merchant = $1 AND id < $2 AND $3 IS NULL ORDER BY id DESC LIMIT \(Self.window)"
      }
    return """
      SELECT * FROM (\(subject)) AS chosen
      WHERE (status = $4 OR $4 IS NULL) AND (amount = $5 OR $5 IS NULL) AND (currency = $6 OR $6 IS NULL)
        AND (created_at >= $7 OR $7 IS NULL) AND (created_at < $8 OR $8 IS NULL)
      ORDER BY id DESC LIMIT $9
      """
  }

  private var values: [SQLValue] {
    [
      .text(merchant.rawValue), .text(start), .text(optional: payment?.rawValue ?? order?.rawValue),
      .text(optional: status?.rawValue), .integer(optional: amount), .text(optional: currency?.code),
      .time(optional: from), .time(optional: until),
    ]
  }
}
