package import DirectWire
import Ledger
import Storage
package import TenderPayments

/// Shoppers without an account. A guest keeps one id in the same browser: the page sends the guest token of its last
/// order with the next. Once the shopper has an account, the merchant says whose the guest's orders are.
enum Guests {
  /// The guest whose order this was; nil for an order of another merchant, or of a signed-in shopper.
  static func guest(of order: OrderID, at merchant: MerchantID, in store: Transaction) throws -> String? {
    try store.row(
      "SELECT guest FROM orders WHERE id = $1 AND merchant = $2", .text(order.rawValue), .text(merchant.rawValue)
    )?.textOrNil("guest")
  }

  /// The merchant's reference of the customer whose guest this is; nil before a customer claims it.
  static func customer(_ guest: String, at merchant: MerchantID, in store: Transaction) throws -> String? {
    try store.row(
      "SELECT customer FROM guests WHERE merchant = $1 AND id = $2", .text(merchant.rawValue), .text(guest)
    )?.text("customer")
  }

  /// What the guest ordered, newest first.
  static func orders(_ guest: String, at merchant: MerchantID, in store: Transaction) throws -> [GuestAnswer.Order] {
    try store.rows(
      """
      SELECT id, basket, merchant_reference FROM orders WHERE merchant = $1 AND guest = $2 ORDER BY id DESC LIMIT 500
      """, .text(merchant.rawValue), .text(guest)
    ).map { row in
      GuestAnswer.Order(
        orderId: OrderID(try row.text("id")), basketId: BasketID(try row.text("basket")),
        merchantReference: try row.text("merchant_reference"))
    }
  }

  /// - Returns: false when the guest is another customer's already.
  static func claim(
    _ guest: String, for customer: String, at merchant: MerchantID, in store: Transaction
  ) throws -> Bool {
    try store.run(
      """
      INSERT INTO guests (merchant, id, customer, claimed_at) VALUES ($1, $2, $3, $4)
      ON CONFLICT (merchant, id) DO NOTHING
      """, .text(merchant.rawValue), .text(guest), .text(customer), .time(store.now))
    return try Array((self.customer(guest, at: merchant, in: store) ?? "").utf8) == Array(customer.utf8)
  }
}

extension OrderService {
  /// A guest of the merchant's, with the orders.
  package func guest(_ id: String, of merchant: MerchantID) async throws -> GuestAnswer {
    try await database.read { try Self.answer(id, merchant, in: $0) }
  }

  /// Ties a guest to the merchant's customer, for good. The same claim again changes nothing.
  package func claim(_ id: String, of merchant: MerchantID, for customer: String) async throws -> GuestAnswer {
    try BasketRules.checkCustomer(customer, "merchantCustomerId")
    return try await database.write { store in
      _ = try Self.answer(id, merchant, in: store)
      guard try Guests.claim(id, for: customer, at: merchant, in: store) else {
        throw OrderError(.guestClaimed, "the guest is another customer", field: "merchantCustomerId")
      }
      return try Self.answer(id, merchant, in: store)
    }
  }

  private static func answer(_ id: String, _ merchant: MerchantID, in store: Transaction) throws -> GuestAnswer {
    let orders = try Guests.orders(id, at: merchant, in: store)
    guard !orders.isEmpty else { throw OrderError(.guestUnknown, "no such guest", field: "guestId") }
    return GuestAnswer(
      guestId: id, merchantCustomerId: try Guests.customer(id, at: merchant, in: store), orders: orders)
  }

  /// The id of the shopper who orders without an account: of the earlier order whose guest token came along, or a new
  /// one. A token that is not ours, or of another merchant's order, counts as none. Whether it has expired does not
  /// matter here: it shows nothing.
  func guestID(_ token: String?, at merchant: MerchantID) async throws -> String {
    if let token, let order = await guestTokens?.order(in: token),
      let known = try await database.read({ try Guests.guest(of: order, at: merchant, in: $0) })
    {
      return known
    }
    return random.hex(16)
  }
}
