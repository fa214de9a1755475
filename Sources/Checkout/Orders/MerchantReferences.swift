package import Storage
package import TenderPayments

/// The merchants' own references of orders, for operators who look one up.
package enum MerchantReferences {
  /// The orders with this reference, newest first. References have no index, so every order is read.
  package static func orders(with reference: String, limit: Int, in store: Transaction) throws -> [OrderID] {
    try store.rows(
      "SELECT id FROM orders WHERE merchant_reference = $1 ORDER BY id DESC LIMIT $2", .text(reference),
      .integer(Int64(limit))
    ).map { OrderID(try $0.text("id")) }
  }

  /// - Returns: nil when there is no such order.
  package static func reference(of order: OrderID, in store: Transaction) throws -> String? {
    try store.row("SELECT merchant_reference FROM orders WHERE id = $1", .text(order.rawValue))?
      .text("merchant_reference")
  }
}
