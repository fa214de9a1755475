import Storage
import TenderPayments

/// What a merchant's orders gave back of a payment after a restore: money, and not by which operations it moved. Each
/// operation that is named later takes its amount from it, once, until nothing is left.
///
/// The table has a row for what orders gave, and one with a negative amount for each operation that took from it.
enum OrdersPot {
  enum Result {
    case taken
    /// It is more than what is left, or its name has taken another amount.
    case exceeded
    /// Nothing is left that it may be of.
    case untouched
  }

  /// What is left of what orders gave back after one restore.
  private struct Pot {
    let restore: Int64
    var left: Int64 = 0
    var givenAt = Timestamp(seconds: 0)
  }

  static func give(_ attempt: Attempt, _ restore: RestoredStore, in store: Transaction) throws {
    try insert(
      attempt.kind, of: attempt.payment, restore.number, attempt.reference.rawValue, name: nil,
      attempt.amount.minorUnits, in: store)
  }

  /// Takes a listed operation's amount. An operation of ours may have been counted only by orders that were brought after
  /// the restore that lost it, and a person's only by orders that are not older than it.
  static func take(
    _ listed: ListedOperation, of payment: Payment, _ restore: RestoredStore, in store: Transaction
  ) throws -> Result {
    let (kind, amount) = (listed.bookedKind, listed.amount.minorUnits)
    guard listed.amount.isPositive, listed.amount.currency == payment.amount.currency else { return .untouched }
    let own = listed.isOurs(at: store.now) ? BasketMark.time(of: listed.reference, at: store.now) : nil
    let names = [listed.reference.rawValue] + (own == nil ? listed.name.map { [$0] } ?? [] : [])
    if let taken = try findTaken(by: names, kind, of: payment.id, in: store) {
      return listed.endsHold || taken == amount ? .taken : .exceeded
    }
    let pots = try all(kind, of: payment.id, in: store).filter { pot in
      guard let own else { return listed.time <= pot.givenAt.adding(RestoredStore.clockMargin) }
      return pot.restore == restore.number || own < restore.lostFrom
    }
    guard let pot = pots.first(where: { $0.left >= amount }) else {
      return pots.isEmpty || listed.endsHold ? .untouched : .exceeded
    }
    try insert(
      kind, of: payment.id, pot.restore, listed.reference.rawValue, name: own == nil ? listed.name : nil, -amount,
      in: store)
    return .taken
  }

  /// What a person's event means, whose time says nothing: `taken` where its operation was named before, `exceeded` where
  /// it may be of what is left.
  static func check(
    _ kind: OperationKind, called name: String, _ amount: Int64, endsHold: Bool, of payment: PaymentID,
    in store: Transaction
  ) throws -> Result {
    if let taken = try findTaken(by: [name], kind, of: payment, in: store) {
      return endsHold || taken == amount ? .taken : .exceeded
    }
    let most = try all(kind, of: payment, in: store).map(\.left).max() ?? 0
    return most == 0 || endsHold && amount > most ? .untouched : .exceeded
  }

  /// What the operation of one of these names has taken.
  private static func findTaken(
    by names: [String], _ kind: OperationKind, of payment: PaymentID, in store: Transaction
  ) throws -> Int64? {
    for name in names {
      let row = try store.row(
        """
        SELECT amount FROM restored_by_orders
        WHERE payment = $1 AND kind = $2 AND amount < 0 AND (reference = $3 OR name = $3) LIMIT 1
        """, .text(payment.rawValue), .text(kind.rawValue), .text(name))
      if let row { return -(try row.integer("amount")) }
    }
    return nil
  }

  /// Those of which something is left, the newest first.
  private static func all(_ kind: OperationKind, of payment: PaymentID, in store: Transaction) throws -> [Pot] {
    let rows = try store.rows(
      """
      SELECT restore, amount, noted_at FROM restored_by_orders WHERE payment = $1 AND kind = $2 ORDER BY restore DESC
      """, .text(payment.rawValue), .text(kind.rawValue))
    var pots: [Pot] = []
    for row in rows {
      let (restore, amount) = (try row.integer("restore"), try row.integer("amount"))
      if pots.last?.restore != restore { pots.append(Pot(restore: restore)) }
      pots[pots.count - 1].left = pots[pots.count - 1].left.addingClamped(amount)
      if amount > 0 { pots[pots.count - 1].givenAt = max(pots[pots.count - 1].givenAt, try row.time("noted_at")) }
    }
    return pots.filter { $0.left > 0 }
  }

  private static func insert(
    _ kind: OperationKind, of payment: PaymentID, _ restore: Int64, _ reference: String, name: String?,
    _ amount: Int64, in store: Transaction
  ) throws {
    try store.run(
      """
      INSERT INTO restored_by_orders (payment, kind, restore, reference, name, amount, noted_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      """, .text(payment.rawValue), .text(kind.rawValue), .integer(restore), .text(reference), .text(optional: name),
      .integer(amount), .time(store.now))
  }
}
