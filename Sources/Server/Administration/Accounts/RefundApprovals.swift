import Ledger
package import Storage
package import TenderPayments

/// A refund that waits for a second person.
package struct RefundApproval: Sendable {
  package enum State: String, Sendable { case waiting, approved, rejected }

  /// Also the idempotency key of the refund.
  package let id: String
  package let payment: PaymentID
  let merchant: MerchantID
  package let amount: Amount
  package let reason: String
  package let requestedBy: String
  package let requestedAt: Timestamp
  package let state: State
  package let decidedBy: String?
  package let decidedAt: Timestamp?
}

package struct RefundApprovals {
  let store: Transaction

  package init(store: Transaction) {
    self.store = store
  }

  /// How many of one person's requests wait at once.
  static let limitOfPerson = 50
  /// How many are shown at once.
  static let page = 100

  /// Once for an id, however often it is sent.
  ///
  /// - Returns: whether it waits now.
  /// - Throws: ``OfficeRefusal`` where too many of the same person wait.
  package func request(_ id: String, _ payment: Payment, _ amount: Amount, reason: String, by user: String) throws
    -> Bool
  {
    if let known = try find(id) { return known.state == .waiting }
    // Two requests of one person are counted one after the other.
    _ = try store.lockedRow("SELECT name FROM office_users WHERE name = $1", .text(user))
    let waiting = try store.row(
      "SELECT count(*) AS n FROM office_approvals WHERE state = 'waiting' AND requested_by = $1", .text(user))
    guard try waiting?.integer("n") ?? 0 < Self.limitOfPerson else {
      throw OfficeRefusal.conflict(
        "\(Self.limitOfPerson) refunds that you asked for wait for a second person. Have one of them decided first.")
    }
    try store.run(
      """
      INSERT INTO office_approvals (id, payment, merchant, amount, currency, reason, requested_by, requested_at, state)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'waiting') ON CONFLICT DO NOTHING
      """, .text(id), .text(payment.id.rawValue), .text(payment.merchant.rawValue), .integer(amount.minorUnits),
      .text(amount.currency.code), .text(reason), .text(user), .time(store.now))
    return try find(id)?.state == .waiting
  }

  package func find(_ id: String) throws -> RefundApproval? {
    try store.row("SELECT * FROM office_approvals WHERE id = $1", .text(id)).map(Self.approval)
  }

  /// The oldest first, of each merchant as many as of another where not all are shown.
  ///
  /// - Parameter merchants: nil for every merchant's.
  /// - Returns: at most ``page``, and whether more wait.
  package func waiting(of merchants: [MerchantID]?) throws -> (shown: [RefundApproval], hasMore: Bool) {
    let merchants = MerchantCondition(merchants)
    let rows = try store.rows(
      """
      SELECT * FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY merchant ORDER BY requested_at, id) AS place FROM office_approvals
        WHERE state = 'waiting' AND \(merchants.sql)
      ) AS waiting ORDER BY place, requested_at, id LIMIT \(Self.page + 1)
      """, merchants.values)
    let shown = try Array(rows.prefix(Self.page)).readable(Self.approval)
      .sorted { ($0.requestedAt, $0.id) < ($1.requestedAt, $1.id) }
    return (shown, rows.count > Self.page)
  }

  package func all(of payment: PaymentID) throws -> [RefundApproval] {
    try store.rows("SELECT * FROM office_approvals WHERE payment = $1 ORDER BY requested_at", .text(payment.rawValue))
      .map(Self.approval)
  }

  /// False when another user has decided already, or this user asked for it.
  package func decide(_ id: String, _ state: RefundApproval.State, by user: String) throws -> Bool {
    try store.changes(
      """
      UPDATE office_approvals SET state = $2, decided_by = $3, decided_at = $4
      WHERE id = $1 AND state = 'waiting' AND (requested_by <> $3 OR $2 = 'rejected')
      """, .text(id), .text(state.rawValue), .text(user), .time(store.now)) == 1
  }

  private static func approval(_ row: Row) throws -> RefundApproval {
    guard let currency = Currency(code: try row.text("currency")),
      let state = RefundApproval.State(rawValue: try row.text("state"))
    else { throw StorageError.column("currency") }
    return RefundApproval(
      id: try row.text("id"), payment: PaymentID(try row.text("payment")),
      merchant: MerchantID(try row.text("merchant")),
      amount: Amount(minorUnits: try row.integer("amount"), currency: currency), reason: try row.text("reason"),
      requestedBy: try row.text("requested_by"), requestedAt: try row.time("requested_at"), state: state,
      decidedBy: try row.textOrNil("decided_by"),
      decidedAt: try row.integerOrNil("decided_at").map(Timestamp.init(microseconds:)))
  }
}
