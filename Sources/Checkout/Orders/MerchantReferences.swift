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

  /// How many orders of a merchant, or of all where none is named, are looked at for a part of a reference.
  private static let reach = 5_000

  /// The orders of whose reference or e-mail address the text is a part, without regard to case, newest first.
  ///
  /// - Parameter merchants: whose orders; nil for every merchant's.
  package static func orders(
    containing text: String, of merchants: [MerchantID]?, limit: Int, in store: Transaction
  ) throws -> [OrderID] {
    let part = text.lowercased().escaped(["!": "!!", "%": "!%", "_": "!_"])
    // An index of its own has the newest orders of one merchant.
    let each: [[MerchantID]?] = merchants.map { Set($0).map { [$0] } } ?? [nil]
    let found = try each.flatMap { merchant in
      let condition = MerchantCondition(merchant, after: 1)
      return try store.rows(
        """
        SELECT id FROM (
          SELECT id, merchant_reference FROM orders WHERE \(condition.sql) ORDER BY id DESC LIMIT \(reach)
        ) AS newest
        WHERE lower(merchant_reference) LIKE $1 ESCAPE '!' ORDER BY id DESC LIMIT \(limit)
        """, [.text("%\(part)%")] + condition.values
      ).map { OrderID(try $0.text("id")) }
        + OrderContacts.orders(
          withEmailContaining: text.lowercased(), of: MerchantCondition(merchant, after: 0), in: store)
    }
    return Set(found).sorted { $0.rawValue > $1.rawValue }.prefix(limit).map(\.self)
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
