import Ledger
package import Storage
package import TenderPayments
import TenderSheet

/// Finds orders by whom they are for.
package enum OrderContacts {
  /// The orders with this e-mail address, without regard to case, newest first.
  ///
  /// - Parameter merchants: whose orders; nil for every merchant's.
  package static func orders(
    ofEmail address: String, of merchants: [MerchantID]?, limit: Int, in store: Transaction
  ) throws -> [OrderID] {
    let merchants = MerchantCondition(merchants, after: 2)
    // Reads the index of addresses from its end.
    return try store.rows(
      """
      SELECT order_id FROM order_contacts JOIN orders ON orders.id = order_contacts.order_id
      WHERE email = $1 AND \(merchants.sql) ORDER BY order_id DESC LIMIT $2
      """, [.text(searched(address)), .integer(Int64(limit))] + merchants.values
    ).map { OrderID(try $0.text("order_id")) }
  }

  /// The e-mail address as it was given; nil where there is none, or the contact was deleted.
  package static func email(of order: OrderID, in store: Transaction) throws -> String? {
    try OrderContact.find(of: order, in: store)?.emailAddress
  }

  /// As the index has it.
  fileprivate static func searched(_ address: String) -> String { address.lowercased() }
}

extension OrderContact {
  /// In clear, as the contact beside it; both go with the row.
  var emailForSearch: String? { emailAddress.map(OrderContacts.searched) }
}
