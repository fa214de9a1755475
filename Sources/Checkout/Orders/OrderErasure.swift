import DirectWire
package import Storage
package import TenderPayments

/// The orders of which nothing is kept that names the shopper.
package enum OrderErasure {
  /// Takes out of an order, its basket and its quotes what names the shopper, or may: contact, customer, guest, note,
  /// time. What was sold, when and for how much stays. The basket can be paid no more.
  ///
  /// - Parameter order: of a basket too that nobody has tried to pay.
  /// - Returns: whether anything of the order is kept.
  @discardableResult
  package static func strip(_ order: OrderID, in store: Transaction) throws -> Bool {
    let basket = try store.lockedRow("SELECT * FROM baskets WHERE order_id = $1", .text(order.rawValue))
    if let basket { try strip(try BasketRecord(basket), in: store) }
    try store.run("DELETE FROM order_contacts WHERE order_id = $1", .text(order.rawValue))
    let row = try store.row("SELECT merchant, guest FROM orders WHERE id = $1", .text(order.rawValue))
    guard let row else { return basket != nil }
    try store.run(
      """
      UPDATE orders SET customer = NULL, guest = NULL, guest_token = NULL, requested_for = NULL, note = NULL,
        updated_at = $2
      WHERE id = $1
      """, .text(order.rawValue), .time(store.now))
    if let guest = try row.textOrNil("guest") {
      try store.run(
        """
        DELETE FROM guests WHERE merchant = $1 AND id = $2
          AND NOT EXISTS (SELECT 1 FROM orders WHERE merchant = $1 AND guest = $2)
        """, .text(try row.text("merchant")), .text(guest))
    }
    return true
  }

  /// By what a shopper may be looked for, beside the e-mail address: customer and reference of an order, or of a basket
  /// that nobody has tried to pay.
  package static func findNames(of order: OrderID, in store: Transaction) throws -> [String] {
    let row = try store.row(
      "SELECT merchant, guest, customer, merchant_reference FROM orders WHERE id = $1", .text(order.rawValue))
    let basket = try store.row("SELECT * FROM baskets WHERE order_id = $1", .text(order.rawValue))
    let document = try basket.map { try BasketRecord($0).basket.document }
    var names = [document?.customer, document?.merchantReference]
    if let row {
      let claimant = try row.textOrNil("guest").flatMap {
        try Guests.customer($0, at: MerchantID(row.text("merchant")), in: store)
      }
      names += [try row.textOrNil("customer"), claimant, try row.text("merchant_reference")]
    }
    return Set(names.compactMap(\.self)).sorted()
  }

  private static func strip(_ record: BasketRecord, in store: Transaction) throws {
    var document = record.basket.document
    (document.customer, document.note, document.requestedFor, document.orderURL) = (nil, nil, nil, nil)
    try store.run(
      """
      UPDATE baskets SET document = $2, destination = $3, requested_for = NULL, note = NULL, cancelled = 1
      WHERE id = $1
      """, .text(record.basket.id.rawValue), .text(try StoredJSON.text(document)),
      .text(try StoredJSON.text(Destination.unknown)))
    let quotes = try store.rows("SELECT * FROM quotes WHERE basket = $1", .text(record.basket.id.rawValue))
    for quote in try quotes.map(Quote.init) {
      var state = quote.state
      (state.couponCode, state.merchantContext) = (nil, nil)
      try store.run(
        "UPDATE quotes SET sheet_state = $2 WHERE id = $1", .text(quote.id.rawValue), .text(try StoredJSON.text(state)))
    }
  }

  /// Notes an order as erased, once.
  package static func note(_ order: OrderID, in store: Transaction) throws {
    try store.run(
      "INSERT INTO erased_orders (order_id, erased_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(order.rawValue),
      .time(store.now))
  }

  /// All that were erased, by their ids.
  package static func findErased(in store: Transaction) throws -> Set<String> {
    Set(try store.rows("SELECT order_id FROM erased_orders").map { try $0.text("order_id") })
  }
}
