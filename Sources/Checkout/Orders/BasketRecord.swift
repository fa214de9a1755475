import DirectWire
import Ledger
import Storage
import TenderPayments
import TenderSheet

/// A basket as it is stored, with what the shopper prepared and which quote was shown last.
struct BasketRecord: Sendable, Hashable {
  let basket: Basket
  /// Fixed with the basket, so that every attempt to pay it is for one order.
  let order: OrderID
  var service: ServiceType
  var destination: Destination
  var requestedFor: String?
  var note: String?
  let isCancelled: Bool
  let currentQuote: QuoteID?
  let expiresAt: Timestamp
  /// Nil for any number.
  let attemptsAllowed: Int64?

  /// What the sheet opens with.
  var opening: SheetState {
    SheetState(service: service, destination: destination, couponCode: basket.document.couponCode)
  }
}

extension BasketRecord {
  static func find(_ id: BasketID, in store: Transaction) throws -> BasketRecord? {
    try store.first(query(id))
  }

  static func query(_ id: BasketID) -> Query<BasketRecord> {
    Query(SQLStatement("SELECT * FROM baskets WHERE id = $1", .text(id.rawValue)), read: BasketRecord.init)
  }

  /// The basket, locked until the transaction ends. What is written because of what was read of a basket is written
  /// under this lock: a claim, a cancellation, new content and a quote follow one another on every engine.
  static func findLocking(_ id: BasketID, in store: Transaction) throws -> BasketRecord? {
    try store.lockedRow("SELECT * FROM baskets WHERE id = $1", .text(id.rawValue)).map(BasketRecord.init)
  }

  /// Locks the basket's row, if there is one.
  static func lock(_ id: BasketID, in store: Transaction) throws {
    _ = try store.lockedRow("SELECT id FROM baskets WHERE id = $1", .text(id.rawValue))
  }

  /// The merchant's basket, or any basket if the merchant is nil. Another merchant's is unknown.
  static func require(_ id: BasketID, of merchant: MerchantID?, in store: Transaction) throws -> BasketRecord {
    try find(id, in: store).checked(isOf: merchant)
  }

  /// Whose basket it is, without reading what is in it.
  static func merchant(of id: BasketID, in store: Transaction) throws -> MerchantID? {
    try store.row("SELECT merchant FROM baskets WHERE id = $1", .text(id.rawValue)).map {
      MerchantID(try $0.text("merchant"))
    }
  }

  /// The merchant's newest basket of this reference that a page or app of the merchant's shows; nil where there is none.
  static func newest(
    ofReference reference: String, of merchant: MerchantID, in store: Transaction
  ) throws -> BasketRecord? {
    try store.row(
      """
      SELECT * FROM baskets WHERE merchant = $1 AND merchant_reference = $2 AND hosted = 0
      ORDER BY order_id DESC LIMIT 1
      """, .text(merchant.rawValue), .text(reference)
    ).map(BasketRecord.init)
  }

  init(_ row: Row) throws {
    let document = try StoredJSON.value(BasketDocument.self, row.text("document"))
    basket = try Basket(
      stored: document, id: BasketID(try row.text("id")), merchant: MerchantID(try row.text("merchant")),
      isHosted: try row.integer("hosted") == 1)
    order = OrderID(try row.text("order_id"))
    service = ServiceType(rawValue: try row.text("service")) ?? basket.service
    destination = try StoredJSON.value(Destination.self, row.text("destination"))
    requestedFor = try row.textOrNil("requested_for")
    note = try row.textOrNil("note")
    isCancelled = try row.integer("cancelled") == 1
    currentQuote = try row.textOrNil("current_quote").map { QuoteID($0) }
    expiresAt = try row.time("expires_at")
    attemptsAllowed = try row.integerOrNil("attempts_allowed")
  }

  /// Inserts the basket.
  ///
  /// - Returns: false when the id is in use; by then its row is committed.
  static func insert(
    _ basket: Basket, order: OrderID, expires: Timestamp, attempts: Int64?, in store: Transaction
  ) throws -> Bool {
    let added = try store.changes(
      """
      INSERT INTO baskets (id, merchant, document, order_id, service, destination, requested_for, note, cancelled,
        current_quote, hosted, attempts_allowed, created_at, expires_at, merchant_reference)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, NULL, $11, $12, $9, $10, $13) ON CONFLICT (id) DO NOTHING
      """,
      .text(basket.id.rawValue), .text(basket.merchant.rawValue), .text(try StoredJSON.text(basket.document)),
      .text(order.rawValue),
      .text(basket.service.rawValue), .text(try StoredJSON.text(Destination.unknown)),
      .text(optional: basket.document.requestedFor), .text(optional: basket.document.note), .time(store.now),
      .time(expires), .integer(basket.isHosted ? 1 : 0), .integer(optional: attempts),
      .text(basket.document.merchantReference))
    return added == 1
  }

  /// Gives the basket new content. What was shown of the old content is stale then.
  static func replace(_ basket: Basket, expires: Timestamp, in store: Transaction) throws {
    try store.run(
      """
      UPDATE baskets SET document = $2, service = $3, destination = $4, requested_for = $5, note = $6,
        current_quote = NULL, expires_at = $7, merchant_reference = $8
      WHERE id = $1
      """,
      .text(basket.id.rawValue), .text(try StoredJSON.text(basket.document)), .text(basket.service.rawValue),
      .text(try StoredJSON.text(Destination.unknown)), .text(optional: basket.document.requestedFor),
      .text(optional: basket.document.note), .time(expires), .text(basket.document.merchantReference))
  }

  /// Writes what the shopper prepared; the sheet that is open shows something else from now on.
  func savePrepared(in store: Transaction) throws {
    try store.run(
      """
      UPDATE baskets SET service = $2, destination = $3, requested_for = $4, note = $5, current_quote = NULL
      WHERE id = $1
      """,
      .text(basket.id.rawValue), .text(service.rawValue), .text(try StoredJSON.text(destination)),
      .text(optional: requestedFor), .text(optional: note))
  }

  /// Makes what the open sheet shows stale; the next sheet shows the same anew.
  func withdrawQuote(in store: Transaction) throws {
    try store.run("UPDATE baskets SET current_quote = NULL WHERE id = $1", .text(basket.id.rawValue))
  }

  func cancel(in store: Transaction) throws {
    try store.run("UPDATE baskets SET cancelled = 1 WHERE id = $1", .text(basket.id.rawValue))
  }
}

/// A merchant's basket that is being claimed, locked until the commit. That commit blocks other writes, so it reads no
/// more than it has to.
struct ClaimedBasket {
  private let id: BasketID
  private let asked: PendingQueries<Row, OrderRecord>

  init(locking id: BasketID, of merchant: MerchantID, in store: Transaction) throws {
    self.id = id
    asked = try store.ask(Self.lockingQuery(id, merchant), OrderRecord.query(of: id))
  }

  /// As an earlier card made it; nil for the first card.
  func order(in store: Transaction) throws -> OrderRecord? {
    let (_, order) = try store.answers(to: asked)
    return order
  }

  private static func lockingQuery(_ id: BasketID, _ merchant: MerchantID) -> Query<Row> {
    Query(
      SQLStatement(
        "SELECT cancelled, current_quote, attempts_allowed FROM baskets WHERE id = $1 AND merchant = $2",
        .text(id.rawValue), .text(merchant.rawValue), locking: .waiting))
  }

  /// Throws unless the basket exists, is not cancelled and shows the quote.
  func check(shows quote: QuoteID, in store: Transaction) throws {
    let (row, _) = try store.answers(to: asked)
    guard let row else {
      throw OrderError(.basketUnknown, "no such basket", field: "basketId")
    }
    guard try row.integer("cancelled") == 0 else { throw OrderError(.basketCancelled, "the basket was cancelled") }
    guard try row.textOrNil("current_quote") == quote.rawValue else {
      throw OrderError(.quoteStale, "another quote was shown since")
    }
    guard let allowed = try row.integerOrNil("attempts_allowed") else { return }
    // The attempt that is being claimed counts.
    guard try Journal.attempts(for: id, in: store) <= allowed else {
      throw OrderError(.attemptsUsedUp, "the basket may be tried \(allowed) times")
    }
  }
}

extension BasketRecord? {
  /// The basket, unless it is unknown or another merchant's. Nil for any merchant's.
  func checked(isOf merchant: MerchantID?) throws -> BasketRecord {
    guard let self, merchant == nil || self.basket.merchant == merchant else {
      throw OrderError(.basketUnknown, "no such basket", field: "basketId")
    }
    return self
  }
}
