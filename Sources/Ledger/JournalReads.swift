public import Storage
public import TenderPayments

extension Journal {
  /// The answer that the order, or this payment token for this order, has been given or will be given.
  ///
  /// The order's live payment; without one, the payment that this very token made, declined as it may be. Another
  /// payment token after a decline finds nothing here and may pay.
  public func answer(for order: OrderID, spending use: TokenUse) async throws -> Payment? {
    try await database.read { try Self.answer(for: order, spending: use, in: $0) }
  }

  public func payment(_ id: PaymentID) async throws -> Payment? {
    try await database.read { try PaymentRecord.find(id, in: $0)?.payment }
  }

  /// The order's live payment, or its latest.
  public func payment(of order: OrderID) async throws -> Payment? {
    try await database.read { store in
      try store.row(
        "SELECT * FROM payments WHERE order_id = $1 ORDER BY live DESC, id DESC LIMIT 1", .text(order.rawValue)
      ).map { try PaymentRecord($0).payment }
    }
  }

  /// The basket's live payment, or its latest.
  public func payment(of basket: BasketID) async throws -> Payment? {
    try await database.read { try Self.payment(of: basket, in: $0) }
  }

  /// The same, inside a transaction of the basket's owner.
  public static func payment(of basket: BasketID, in store: Transaction) throws -> Payment? {
    try store.row(
      "SELECT * FROM payments WHERE basket = $1 ORDER BY live DESC, id DESC LIMIT 1", .text(basket.rawValue)
    ).map { try PaymentRecord($0).payment }
  }

  /// Whether an acquirer may have heard of the basket: from then on it cannot be cancelled. A payment that was
  /// declined or failed does not count, because nothing came of it.
  ///
  /// For a transaction of the basket's owner, so that cancelling and claiming cannot both win.
  public static func hasAttempt(for basket: BasketID, in store: Transaction) throws -> Bool {
    try store.row("SELECT id FROM payments WHERE basket = $1 AND live = 1 LIMIT 1", .text(basket.rawValue)) != nil
  }

  /// Payments, newest first.
  public func payments(matching query: PaymentQuery = PaymentQuery()) async throws -> [Payment] {
    try await database.read { store in
      try store.rows(
        """
        SELECT * FROM payments
        WHERE ($1 IS NULL OR merchant = $1) AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR id < $3)
        ORDER BY id DESC LIMIT $4
        """,
        .text(optional: query.merchant?.rawValue), .text(optional: query.status?.rawValue),
        .text(optional: query.before?.rawValue), .integer(Int64(max(0, query.limit)))
      ).map { try PaymentRecord($0).payment }
    }
  }

  /// The operations of a payment, oldest first.
  public func operations(of payment: PaymentID) async throws -> [OperationRecord] {
    try await database.read { try Operations.all(of: payment, in: $0) }
  }

  /// What the shopper was told last; nil when the process died before it could say anything.
  public func told(_ payment: PaymentID) async throws -> Telling? {
    try await database.read { try PaymentRecord.find(payment, in: $0)?.told }
  }

  /// How many payments wait for an answer, by status. Read from an index that holds only these, so that it costs
  /// the same with ten million payments in the store; what is finished is counted by the process that finished it.
  public func unsettled() async throws -> [PaymentStatus: Int] {
    try await database.read { store in
      let rows = try store.rows(
        """
        SELECT status, count(*) AS n FROM payments WHERE status IN ('authorizing', 'pending', 'unknown')
        GROUP BY status
        """)
      return try rows.reduce(into: [.authorizing: 0, .pending: 0, .unknown: 0]) { counts, row in
        guard let status = PaymentStatus(rawValue: try row.text("status")) else { return }
        counts[status] = Int(try row.integer("n"))
      }
    }
  }

  static func answer(for order: OrderID, spending use: TokenUse, in store: Transaction) throws -> Payment? {
    let row = try store.row(
      "SELECT * FROM payments WHERE order_id = $1 AND live = 1", .text(order.rawValue))
    if let row { return try PaymentRecord(row).payment }
    guard let id = try TokenUses.payment(using: use, in: store) else { return nil }
    let payment = try PaymentRecord.find(id, in: store)?.payment
    return payment?.order == order ? payment : nil
  }
}

/// Which payments a list shows.
public struct PaymentQuery: Sendable, Hashable {
  public var merchant: MerchantID?
  public var status: PaymentStatus?
  /// Only older ones than this: the last of the page before.
  public var before: PaymentID?
  public var limit: Int

  public init(
    merchant: MerchantID? = nil, status: PaymentStatus? = nil, before: PaymentID? = nil, limit: Int = 50
  ) {
    self.merchant = merchant
    self.status = status
    self.before = before
    self.limit = limit
  }
}
