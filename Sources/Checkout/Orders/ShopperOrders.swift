import Ledger
package import Storage
package import TenderPayments

/// An order as it is found by its shopper.
package struct FoundOrder: Sendable, Hashable {
  package let id: OrderID
  package let merchant: MerchantID
  package let basket: BasketID

  package init(id: OrderID, merchant: MerchantID, basket: BasketID) {
    (self.id, self.merchant, self.basket) = (id, merchant, basket)
  }

  /// By its id; the order of a basket too that nobody has tried to pay.
  package static func find(_ id: String, of merchants: [MerchantID]? = nil, in store: Transaction) throws -> FoundOrder?
  {
    let own = MerchantCondition(merchants, after: 1)
    let row =
      try store.rows(
        "SELECT id, merchant, basket FROM orders WHERE id = $1 AND \(own.sql)", [.text(id)] + own.values
      ).first
      ?? store.rows(
        "SELECT order_id AS id, merchant, id AS basket FROM baskets WHERE order_id = $1 AND \(own.sql)",
        [.text(id)] + own.values
      ).first
    return try row.map(FoundOrder.init)
  }
}

/// Finds what is kept of a shopper.
package enum ShopperOrders {
  /// More orders than one shopper has.
  private static let most = 5_000
  /// How many baskets one read looks at.
  package static let page = 500

  package static func with(email: String, of merchants: [MerchantID]?, in store: Transaction) throws -> [FoundOrder] {
    try OrderContacts.orders(ofEmail: email, of: merchants, limit: most, in: store)
      .compactMap { try FoundOrder.find($0.rawValue, of: merchants, in: store) }
  }

  /// The orders of a signed-in customer, and those that a guest had placed whom the customer claimed.
  package static func with(customer: String, of merchants: [MerchantID]?, in store: Transaction) throws -> [FoundOrder]
  {
    let own = MerchantCondition(merchants, after: 1)
    let claimed = try store.rows(
      "SELECT merchant, id FROM guests WHERE customer = $1 AND \(own.sql)", [.text(customer)] + own.values)
    let asGuest = try claimed.flatMap {
      try store.rows(
        "SELECT id, merchant, basket FROM orders WHERE merchant = $1 AND guest = $2 LIMIT \(most)",
        .text(try $0.text("merchant")), .text(try $0.text("id")))
    }
    let signedIn = try store.rows(
      "SELECT id, merchant, basket FROM orders WHERE customer = $1 AND \(own.sql) LIMIT \(most)",
      [.text(customer)] + own.values)
    return try (signedIn + asGuest).map(FoundOrder.init)
  }

  /// - Parameter name: the order's id, or the merchant's reference of it.
  package static func with(order name: String, of merchants: [MerchantID]?, in store: Transaction) throws
    -> [FoundOrder]
  {
    if let found = try FoundOrder.find(name, of: merchants, in: store) { return [found] }
    return try MerchantReferences.orders(with: name, of: merchants, limit: most, in: store)
      .compactMap { try FoundOrder.find($0.rawValue, of: merchants, in: store) }
  }

  /// Baskets of a customer that nobody tried to pay: no index has them, so they are looked through from one to the
  /// next.
  ///
  /// - Parameter last: the order of the basket that was looked at last.
  /// - Returns: where to go on; nil at the end.
  package static func baskets(
    of customer: String, _ merchants: [MerchantID]?, after last: String, in store: Transaction
  ) throws -> (found: [FoundOrder], next: String?) {
    let own = MerchantCondition(merchants, after: 1)
    let rows = try store.rows(
      """
      SELECT id, order_id, merchant, document FROM baskets WHERE order_id > $1 AND \(own.sql)
        AND NOT EXISTS (SELECT 1 FROM orders WHERE orders.basket = baskets.id)
      ORDER BY order_id LIMIT \(page)
      """, [.text(last)] + own.values)
    let found = try rows.filter {
      try StoredJSON.value(CustomerOfBasket.self, $0.text("document")).customer == customer
    }.map {
      FoundOrder(
        id: OrderID(try $0.text("order_id")), merchant: MerchantID(try $0.text("merchant")),
        basket: BasketID(try $0.text("id")))
    }
    return (found, rows.count < page ? nil : try rows.last?.text("order_id"))
  }

  /// A part of a basket's document, which is not read as a whole.
  private struct CustomerOfBasket: Decodable { let customer: String? }
}

extension FoundOrder {
  fileprivate init(_ row: Row) throws {
    self.init(
      id: OrderID(try row.text("id")), merchant: MerchantID(try row.text("merchant")),
      basket: BasketID(try row.text("basket")))
  }
}
