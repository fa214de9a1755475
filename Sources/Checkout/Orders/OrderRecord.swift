import Storage
package import TenderPayments
package import TenderSheet

/// An order as it was placed. Its payment is in the ledger, under the same order id.
package struct OrderRecord: Sendable, Hashable {
  package let id: OrderID
  package let merchant: MerchantID
  package let basket: BasketID
  package let quote: QuoteID
  package let merchantReference: String
  package let amount: Amount
  package let service: ServiceType
  /// The merchant's reference of a signed-in shopper; nil for a guest.
  package let customer: String?
  /// Names the browser of a shopper without an account, for all of its orders; nil for a signed-in shopper.
  package let guest: String?
  package let requestedFor: String?
  package let note: String?
  package let createdAt: Timestamp
  /// Kept with the order because a signature is made with chance: only so is a repeated answer the same bytes.
  let guestToken: String?
}

extension OrderRecord {
  static func find(of basket: BasketID, in store: Transaction) throws -> OrderRecord? {
    try store.first(query(of: basket))
  }

  static func query(of basket: BasketID) -> Query<OrderRecord> {
    Query(SQLStatement("SELECT * FROM orders WHERE basket = $1", .text(basket.rawValue)), read: OrderRecord.init)
  }

  /// Writes the order with its contact. Another card after a decline pays the same order, perhaps at another quote.
  func save(_ contact: OrderContact, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, customer,
        requested_for, note, guest_token, created_at, updated_at, guest)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14)
      ON CONFLICT (id) DO UPDATE SET quote = $4, amount = $6, currency = $7, service = $8, requested_for = $10,
        note = $11, updated_at = $13
      """,
      .text(id.rawValue), .text(merchant.rawValue), .text(basket.rawValue), .text(quote.rawValue),
      .text(merchantReference), .integer(amount.minorUnits), .text(amount.currency.code), .text(service.rawValue),
      .text(optional: customer), .text(optional: requestedFor), .text(optional: note), .text(optional: guestToken),
      .time(store.now), .text(optional: guest))
    try contact.save(of: id, in: store)
  }

  /// The order as it is stored: it has been an order since the first card.
  ///
  /// - Parameter first: as the first card made it; nil for the first card.
  func stored(over first: OrderRecord?, at now: Timestamp) -> OrderRecord {
    let origin = first ?? self
    return OrderRecord(
      id: id, merchant: merchant, basket: basket, quote: quote, merchantReference: origin.merchantReference,
      amount: amount, service: service, customer: origin.customer, guest: origin.guest, requestedFor: requestedFor,
      note: note, createdAt: first?.createdAt ?? now, guestToken: origin.guestToken)
  }

  init(_ row: Row) throws {
    guard let currency = Currency(code: try row.text("currency")) else { throw StorageError.column("currency") }
    guard let service = ServiceType(rawValue: try row.text("service")) else { throw StorageError.column("service") }
    self.init(
      id: OrderID(try row.text("id")), merchant: MerchantID(try row.text("merchant")),
      basket: BasketID(try row.text("basket")), quote: QuoteID(try row.text("quote")),
      merchantReference: try row.text("merchant_reference"),
      amount: Amount(minorUnits: try row.integer("amount"), currency: currency), service: service,
      customer: try row.textOrNil("customer"), guest: try row.textOrNil("guest"),
      requestedFor: try row.textOrNil("requested_for"), note: try row.textOrNil("note"),
      createdAt: try row.time("created_at"), guestToken: try row.textOrNil("guest_token"))
  }
}

extension OrderContact {
  static func find(of order: OrderID, in store: Transaction) throws -> OrderContact? {
    try store.row("SELECT contact, sealed FROM order_contacts WHERE order_id = $1", .text(order.rawValue))
      .flatMap { try OrderContact($0, of: order, in: store) }
  }

  /// Reads a row with the columns `contact` and `sealed`; nil where its key is destroyed, or is not here.
  init?(_ row: Row, of order: OrderID, in store: Transaction) throws {
    guard let sealed = try row.blobOrNil("sealed") else {
      self = try StoredJSON.value(OrderContact.self, row.text("contact"))
      return
    }
    guard let text = try store.rowKeys?.open(sealed, of: order.rawValue) else { return nil }
    self = try StoredJSON.value(OrderContact.self, text)
  }

  /// Writes it, sealed where the store has keys. An order whose key is destroyed gets none.
  func save(of order: OrderID, in store: Transaction) throws {
    let text = try StoredJSON.text(self)
    let sealed = try store.rowKeys?.seal(text, of: order.rawValue)
    guard sealed != nil || store.rowKeys == nil else { return }
    try store.run(
      """
      INSERT INTO order_contacts (order_id, contact, updated_at, email, sealed) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (order_id) DO UPDATE SET contact = $2, updated_at = $3, email = $4, sealed = $5
      """,
      .text(order.rawValue), .text(sealed == nil ? text : "{}"), .time(store.now),
      .text(optional: emailAddress.map { OrderContacts.mark($0, in: store) }), .blob(optional: sealed))
  }
}
