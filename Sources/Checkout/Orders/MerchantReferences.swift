package import Ledger
package import Storage
package import TenderPayments

/// The merchants' own references of orders, for operators who look one up.
package enum MerchantReferences {
  /// The orders with this reference, newest first.
  ///
  /// - Parameter merchants: whose orders; nil for every merchant's, because references are unique to none.
  package static func orders(
    with reference: String, of merchants: [MerchantID]?, limit: Int, in store: Transaction
  ) throws -> [OrderID] {
    let merchants = MerchantCondition(merchants, after: 2)
    return try store.rows(
      selection(merchants), [.text(reference), .integer(Int64(limit))] + merchants.values
    ).map { OrderID(try $0.text("id")) }
  }

  /// Reads the index of references from its end, and no other order.
  ///
  /// - Parameter merchants: the condition after two values, the reference and the limit.
  package static func selection(_ merchants: MerchantCondition) -> String {
    "SELECT id FROM orders WHERE merchant_reference = $1 AND \(merchants.sql) ORDER BY id DESC LIMIT $2"
  }

  /// - Returns: nil when there is no such order.
  package static func reference(of order: OrderID, in store: Transaction) throws -> String? {
    try store.row("SELECT merchant_reference FROM orders WHERE id = $1", .text(order.rawValue))?
      .text("merchant_reference")
  }
}
