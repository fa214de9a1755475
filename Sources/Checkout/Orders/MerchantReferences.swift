package import Storage
package import TenderPayments

/// The merchants' own references of orders, for operators who look one up.
package enum MerchantReferences {
  /// The orders with this reference, newest first.
  ///
  /// - Parameter merchant: whose orders; nil for every merchant's, because references are unique to none.
  package static func orders(
    with reference: String, of merchant: MerchantID? = nil, limit: Int, in store: Transaction
  ) throws -> [OrderID] {
    try store.rows(
      selection, .text(reference), .text(optional: merchant?.rawValue), .integer(Int64(limit))
    ).map { OrderID(try $0.text("id")) }
  }

  /// Reads the index of references from its end, and no other order.
  package static let selection = """
    SELECT id FROM orders WHERE merchant_reference = $1 AND (merchant = $2 OR $2 IS NULL) ORDER BY id DESC LIMIT $3
    """

  /// - Returns: nil when there is no such order.
  package static func reference(of order: OrderID, in store: Transaction) throws -> String? {
    try store.row("SELECT merchant_reference FROM orders WHERE id = $1", .text(order.rawValue))?
      .text("merchant_reference")
  }
}
