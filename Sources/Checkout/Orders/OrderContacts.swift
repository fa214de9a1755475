package import Storage
package import TenderPayments
import TenderSheet

/// Finds orders by whom they are for.
package enum OrderContacts {
  /// The orders with this e-mail address, without regard to case, newest first.
  package static func orders(ofEmail address: String, limit: Int, in store: Transaction) throws -> [OrderID] {
    try store.rows(selection, .text(searched(address)), .integer(Int64(limit))).map {
      OrderID(try $0.text("order_id"))
    }
  }

  /// Reads the index of addresses from its end.
  private static let selection = """
    SELECT order_id FROM order_contacts WHERE email = $1 ORDER BY order_id DESC LIMIT $2
    """

  /// As the index has it.
  fileprivate static func searched(_ address: String) -> String { address.lowercased() }
}

extension OrderContact {
  /// In clear, as the contact beside it; both go with the row.
  var emailForSearch: String? { emailAddress.map(OrderContacts.searched) }
}
