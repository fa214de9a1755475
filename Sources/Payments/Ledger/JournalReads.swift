package import Storage
package import TenderPayments

extension Journal {
  /// The answer that the order, or this payment token for this order, has been given or will be given.
  ///
  /// The order's live payment; without one, the payment that this token made, even if it was declined. Another
  /// payment token after a decline finds nothing here and may pay.
  package func answer(for order: OrderID, spending use: TokenUse) async throws -> Payment? {
    try await database.read { try Self.answer(for: order, spending: use, in: $0) }
  }

  package func payment(_ id: PaymentID) async throws -> Payment? {
    try await database.read { try PaymentRecord.find(id, in: $0)?.payment }
  }

  /// The order's live payment, or its latest.
  package func payment(of order: OrderID) async throws -> Payment? {
    try await database.read { store in
      try store.row(
        "SELECT * FROM payments WHERE order_id = $1 ORDER BY live DESC, id DESC LIMIT 1", .text(order.rawValue)
      ).map { try PaymentRecord($0).payment }
    }
  }

  /// The basket's live payment, or its latest.
  package func payment(of basket: BasketID) async throws -> Payment? {
    try await database.read { try Self.payment(of: basket, in: $0) }
  }

  /// The basket's live payment, or its latest, inside a transaction of the basket's owner.
  package static func payment(of basket: BasketID, in store: Transaction) throws -> Payment? {
    try store.first(paymentQuery(of: basket))
  }

  /// The basket's live payment, or its latest, for a transaction that asks for more beside it.
  package static func paymentQuery(of basket: BasketID) -> Query<Payment> {
    Query(
      SQLStatement(
        "SELECT * FROM payments WHERE basket = $1 ORDER BY live DESC, id DESC LIMIT 1", .text(basket.rawValue))
    ) { try PaymentRecord($0).payment }
  }

  /// Whether an acquirer may have been asked about the basket: from then on it cannot be cancelled. A payment that was
  /// declined or failed does not count.
  ///
  /// For a transaction of the basket's owner, so that cancelling and claiming cannot both win.
  package static func hasAttempt(for basket: BasketID, in store: Transaction) throws -> Bool {
    try store.row("SELECT id FROM payments WHERE basket = $1 AND live = 1 LIMIT 1", .text(basket.rawValue)) != nil
  }

  /// How often somebody has tried to pay the basket. An attempt that did not reach the acquirer does not count.
  package static func attempts(for basket: BasketID, in store: Transaction) throws -> Int64 {
    let row = try store.row(
      "SELECT COUNT(*) AS attempts FROM payments WHERE basket = $1 AND status <> 'failed'", .text(basket.rawValue))
    return try row?.integer("attempts") ?? 0
  }

  /// Payments, newest first.
  package func payments(matching query: PaymentQuery = PaymentQuery()) async throws -> [Payment] {
    try await database.read { store in
      try store.rows(
        """
        SELECT * FROM payments
        WHERE (merchant = $1 OR $1 IS NULL) AND (status = $2 OR $2 IS NULL) AND (id < $3 OR $3 IS NULL)
        ORDER BY id DESC LIMIT $4
        """,
        .text(optional: query.merchant?.rawValue), .text(optional: query.status?.rawValue),
        .text(optional: query.before?.rawValue), .integer(Int64(max(0, query.limit)))
      ).map { try PaymentRecord($0).payment }
    }
  }

  /// The operations of a payment, oldest first.
  package func operations(of payment: PaymentID) async throws -> [OperationRecord] {
    try await database.read { try Operations.all(of: payment, in: $0) }
  }

  /// The operation, the others of its request, and the payment, as they are now.
  package func outcome(of operation: AttemptReference) async throws -> OperationOutcome {
    try await database.read { store in
      try Self.outcome(of: operation, try Self.payment(with: operation, in: store), in: store)
    }
  }

  /// - Parameter operation: the one by which its request is known.
  static func outcome(
    of operation: AttemptReference, _ payment: Payment, in store: Transaction
  ) throws -> OperationOutcome {
    let first = try Operations.require(operation, in: store)
    let isDivided = first.kind == .refund || first.kind == .authorize
    let parts = isDivided ? try Operations.parts(of: operation, in: store) : []
    return OperationOutcome(operation: first, payment: payment, parts: parts)
  }

  private static func payment(with operation: AttemptReference, in store: Transaction) throws -> Payment {
    try PaymentRecord(row(ofPaymentWith: operation, in: store)).payment
  }

  static func row(ofPaymentWith operation: AttemptReference, in store: Transaction) throws -> Row {
    let row = try store.row(
      "SELECT * FROM payments WHERE id = (SELECT payment FROM operations WHERE reference = $1)",
      .text(operation.rawValue))
    guard let row else { throw StorageError.column("payment") }
    return row
  }

  /// Whether this very payment token made the payment.
  package func isPaid(_ payment: PaymentID, by use: TokenUse) async throws -> Bool {
    try await database.read { try TokenUses.payment(using: use, in: $0) == payment }
  }

  /// What is open, for metrics. Read from indexes that hold only open rows, so that it costs the same
  /// with ten million payments in the store; what is finished is counted by the process that finished it.
  package func openOutcomes() async throws -> OpenOutcomes {
    try await database.read { store in
      var outcomes = OpenOutcomes()
      for row in try store.rows(
        """
        SELECT status, count(*) AS n, min(created_at) AS oldest FROM payments
        WHERE status IN ('authorizing', 'pending', 'unknown') GROUP BY status
        """)
      {
        guard let status = PaymentStatus(rawValue: try row.text("status")) else { continue }
        outcomes.payments[status] = OpenOutcomes.Open(
          count: Int(try row.integer("n")), oldest: store.now.since(try row.time("oldest")))
      }
      outcomes.operations = try store.count(
        "SELECT count(*) AS n FROM operations WHERE state IN ('sending', 'pending', 'unknown')")
      for row in try store.rows(
        "SELECT alarm, count(*) AS n FROM payments WHERE alarm IS NOT NULL GROUP BY alarm")
      {
        outcomes.alarmsByReason[try row.text("alarm")] = Int(try row.integer("n"))
      }
      return outcomes
    }
  }

  /// What is not finished at routes other than these: before a route is taken out of the configuration there must be
  /// nothing.
  package func findUnfinished(besides routes: [String]) async throws -> [UnfinishedRoute] {
    try await database.read { store in
      let open = try store.rows(
        "SELECT DISTINCT route FROM operations WHERE state IN ('sending', 'pending', 'unknown')"
      ).map { try $0.text("route") }
      let others = Set(try Self.routesWithHolds(in: store) + open).subtracting(routes)
      return try others.sorted().compactMap { try Self.findUnfinished($0, in: store) }
    }
  }

  /// One look into an index for each: a start does not take longer with many payments.
  private static func routesWithHolds(in store: Transaction) throws -> [String] {
    var found: [String] = []
    while let next = try store.row(
      "SELECT min(route) AS route FROM payments WHERE live = 1 AND authorized > captured AND route > $1",
      .text(found.last ?? ""))?.textOrNil("route")
    {
      found.append(next)
    }
    return found
  }

  private static func findUnfinished(_ route: String, in store: Transaction) throws -> UnfinishedRoute? {
    try store.row(
      """
      SELECT \(SQLSum.of("open")) AS open, \(SQLSum.of("held")) AS held, min(payment) AS payment FROM (
        SELECT 0 AS open, 1 AS held, id AS payment FROM payments
          WHERE live = 1 AND authorized > captured AND route = $1
        UNION ALL
        SELECT 1, 0, payment FROM operations WHERE state IN ('sending', 'pending', 'unknown') AND route = $1
      ) AS unfinished
      """, .text(route)
    ).map {
      UnfinishedRoute(
        route: route, openOperations: Int(try $0.integer("open")), liveHolds: Int(try $0.integer("held")),
        oldestPayment: PaymentID(try $0.text("payment")))
    }
  }

  /// How many of a merchant's payments are held, under way or without an answer, and the oldest; nil where none is.
  package static func countUnfinished(
    of merchant: MerchantID, in store: Transaction
  ) throws -> (count: Int64, first: PaymentID)? {
    let row = try store.row(
      """
      SELECT count(*) AS n, min(id) AS first FROM payments WHERE merchant = $1 AND (live = 1 AND authorized > captured
        OR status IN ('authorizing', 'pending', 'unknown') OR id IN (
          SELECT payment FROM operations WHERE state IN ('sending', 'pending', 'unknown')))
      """, .text(merchant.rawValue))
    guard let row, let first = try row.textOrNil("first") else { return nil }
    return (try row.integer("n"), PaymentID(first))
  }

  /// Payments with an alarm, and its reason, oldest first.
  package func alarms(limit: Int = 50) async throws -> [PaymentAlarm] {
    try await database.read { store in
      try store.rows("SELECT * FROM payments WHERE alarm IS NOT NULL ORDER BY id LIMIT $1", .integer(Int64(limit)))
        .map { PaymentAlarm(payment: try PaymentRecord($0).payment, reason: try $0.text("alarm")) }
    }
  }

  static func answer(
    for order: OrderID, spending use: TokenUse, beside new: PaymentID? = nil, in store: Transaction
  ) throws -> Payment? {
    if let live = try livePayment(of: order, in: store), live.id != new { return live }
    guard let id = try TokenUses.payment(using: use, in: store) else { return nil }
    let payment = try PaymentRecord.find(id, in: store)?.payment
    return payment?.order == order ? payment : nil
  }

  static func livePayment(of order: OrderID, in store: Transaction) throws -> Payment? {
    try store.row("SELECT * FROM payments WHERE order_id = $1 AND live = 1", .text(order.rawValue))
      .map { try PaymentRecord($0).payment }
  }
}

/// Which payments a list shows.
package struct PaymentQuery: Sendable, Hashable {
  package var merchant: MerchantID?
  package var status: PaymentStatus?
  /// Only older ones than this: the last of the page before.
  package var before: PaymentID?
  package var limit: Int

  package init(
    merchant: MerchantID? = nil, status: PaymentStatus? = nil, before: PaymentID? = nil, limit: Int = 50
  ) {
    self.merchant = merchant
    self.status = status
    self.before = before
    self.limit = limit
  }
}

/// What waits for an answer.
package struct OpenOutcomes: Sendable, Hashable {
  package struct Open: Sendable, Hashable {
    package let count: Int
    /// The age of the oldest.
    package let oldest: Duration
  }

  /// By status: authorizing, pending, unknown. None of one is a zero.
  package internal(set) var payments: [PaymentStatus: Open] = [.authorizing, .pending, .unknown].reduce(into: [:]) {
    $0[$1] = Open(count: 0, oldest: .zero)
  }
  /// Operations of any kind.
  package internal(set) var operations = 0
  /// Payments with an alarm.
  package var alarms: Int { alarmsByReason.values.reduce(0, +) }
  /// By their stable reasons.
  package internal(set) var alarmsByReason: [String: Int] = [:]
}

/// What waits at one acquirer.
package struct UnfinishedRoute: Sendable, Hashable {
  /// Connector and account.
  package let route: String
  /// Operations without an answer.
  package let openOperations: Int
  /// Payments with held money that was not captured.
  package let liveHolds: Int
  /// One of the payments, the oldest.
  package let oldestPayment: PaymentID
}

/// A payment with an alarm.
package struct PaymentAlarm: Sendable, Hashable {
  package let payment: Payment
  /// Stable.
  package let reason: String
}

extension Transaction {
  fileprivate func count(_ sql: String) throws -> Int { Int(try row(sql)?.integer("n") ?? 0) }
}
