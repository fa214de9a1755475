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
    let merchants = MerchantCondition(merchants, after: 3)
    return try store.rows(
      """
      SELECT order_id FROM order_contacts JOIN orders ON orders.id = order_contacts.order_id
      WHERE (email = $1 OR email = $2) AND \(merchants.sql) ORDER BY order_id DESC LIMIT $3
      """,
      [.text(mark(address, in: store)), .text(address.lowercased()), .integer(Int64(limit))] + merchants.values
    ).map { OrderID(try $0.text("order_id")) }
  }

  /// How many orders are searched for a part of an address: the address of each is opened for it.
  private static let reach = 1_000

  /// The orders of whose e-mail address the text is a part, among the newest ones of the merchant, newest first.
  ///
  /// - Parameter part: in lowercase.
  static func orders(
    withEmailContaining part: String, of merchant: MerchantCondition, in store: Transaction
  ) throws -> [OrderID] {
    try store.rows(
      """
      SELECT order_id, contact, sealed FROM order_contacts JOIN (
        SELECT id FROM orders WHERE \(merchant.sql) ORDER BY id DESC LIMIT \(reach)
      ) AS newest ON newest.id = order_contacts.order_id WHERE email IS NOT NULL ORDER BY order_id DESC
      """, merchant.values
    ).compactMap { row in
      let order = OrderID(try row.text("order_id"))
      let address = try OrderContact(row, of: order, in: store)?.emailAddress
      return address?.lowercased().contains(part) == true ? order : nil
    }
  }

  /// The e-mail address as it was given; nil where there is none, or the contact was deleted.
  package static func email(of order: OrderID, in store: Transaction) throws -> String? {
    try OrderContact.find(of: order, in: store)?.emailAddress
  }

  /// By what the order is found where its contact opens no more: its e-mail address, as the index has it. Nil where it has
  /// none.
  package static func mark(of order: OrderID, in store: Transaction) throws -> String? {
    try store.row("SELECT email FROM order_contacts WHERE order_id = $1", .text(order.rawValue))?.textOrNil("email")
  }

  /// Whether any contact is sealed.
  package static func hasSealed(in store: Transaction) throws -> Bool {
    try store.row("SELECT order_id FROM order_contacts WHERE sealed IS NOT NULL LIMIT 1") != nil
  }

  /// Holds up who erases the order until the transaction ends: what the transaction writes is found then.
  package static func hold(_ order: OrderID, in store: Transaction) throws {
    _ = try store.lockedRow("SELECT order_id FROM order_contacts WHERE order_id = $1", .text(order.rawValue))
  }

  /// As the index has it.
  package static func mark(_ address: String, in store: Transaction) -> String {
    store.rowKeys?.mark(of: address.lowercased()) ?? address.lowercased()
  }
}
