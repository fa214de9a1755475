import Storage
import TenderPayments
import TenderSheet

extension Quote {
  static func find(_ id: QuoteID, in store: Transaction) throws -> Quote? {
    try store.first(query(id))
  }

  static func query(_ id: QuoteID) -> Query<Quote> {
    Query(SQLStatement("SELECT * FROM quotes WHERE id = $1", .text(id.rawValue)), read: Quote.init)
  }

  /// Writes the quote and makes it the one that was shown last.
  func save(in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO quotes (id, basket, total, currency, pending, payable, sheet_state, lines, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      """,
      .text(id.rawValue), .text(basket.rawValue), .integer(total.minorUnits), .text(total.currency.code),
      .integer(isPending ? 1 : 0), .integer(isPayable ? 1 : 0), .text(try StoredJSON.text(state)),
      .text(try StoredJSON.text(StoredLines(self))), .time(createdAt))
    try store.run(
      "UPDATE baskets SET current_quote = $2 WHERE id = $1", .text(basket.rawValue), .text(id.rawValue))
    try deleteOlder(in: store)
  }

  /// A shopper who knows a basket's id can change the sheet without limit, so only the last few quotes stay: enough to
  /// tell a page that its quote is stale. The one that an order was placed with stays too.
  private func deleteOlder(in store: Transaction) throws {
    try store.run(
      """
      DELETE FROM quotes WHERE basket = $1 AND id <> $2
        AND id NOT IN (SELECT quote FROM orders WHERE basket = $1)
        AND id NOT IN (SELECT id FROM quotes WHERE basket = $1 ORDER BY id DESC LIMIT $3)
      """,
      .text(basket.rawValue), .text(id.rawValue), .integer(Self.kept))
  }

  private static let kept: Int64 = 16

  init(_ row: Row) throws {
    guard let currency = Currency(code: try row.text("currency")) else { throw StorageError.column("currency") }
    let shown = try StoredJSON.value(StoredLines.self, row.text("lines"))
    self.init(
      id: QuoteID(try row.text("id")), basket: BasketID(try row.text("basket")),
      state: try StoredJSON.value(SheetState.self, row.text("sheet_state")),
      total: Amount(minorUnits: try row.integer("total"), currency: currency),
      isPending: try row.integer("pending") == 1, lines: shown.items(currency), unavailableItems: shown.unavailable,
      isPayable: try row.integer("payable") == 1, createdAt: try row.time("created_at"))
  }
}
