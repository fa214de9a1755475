import Storage
import TenderPayments

/// What a merchant's orders gave back of a payment after a restore: money, and not by which operations it moved. Each
/// operation that is named later takes its amount from it, once, until nothing is left.
///
/// The table has a row for what orders gave, and one with a negative amount for each operation that took from it.
enum OrdersPot {
  enum Result {
    /// - Parameter by: what marks it as answered, where an earlier report has taken it.
    case taken(by: [String])
    /// It is more than what is left, or its name has taken another amount, or it cannot be told apart from what is left.
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

  /// An operation that took from it.
  private struct Taking {
    let reference: String
    /// The provider's.
    let name: String?
    let amount: Int64

    init(_ row: Row) throws {
      (reference, name) = (try row.text("reference"), try row.textOrNil("name"))
      amount = -(try row.integer("amount"))
    }

    /// What marks it as answered.
    var mark: String { "orders \(reference)" }

    func isNameless(at now: Timestamp) -> Bool {
      name == nil && BasketMark.time(of: AttemptReference(reference), at: now) == nil
    }
  }

  static func give(_ attempt: Attempt, _ restore: RestoredStore, in store: Transaction) throws {
    try insert(
      attempt.kind, of: attempt.payment, restore.number, attempt.reference.rawValue, name: nil,
      attempt.amount.minorUnits, in: store)
  }

  /// Newer orders say of a payment what the journal has: what was given is what the merchant knows of until now.
  static func renew(_ kind: OperationKind, of payment: PaymentID, in store: Transaction) throws {
    try store.run(
      "UPDATE restored_by_orders SET noted_at = $3 WHERE payment = $1 AND kind = $2 AND amount > 0",
      .text(payment.rawValue), .text(kind.rawValue), .time(store.now))
  }

  /// What an earlier report or listing has taken for what is listed; nil where none has.
  static func findTaken(
    _ listed: ListedOperation, of payment: PaymentID, beside batch: ListedBatch, in store: Transaction
  ) throws -> Result? {
    let line = listed.reference.rawValue
    let names = Set([line, listed.name].compactMap(\.self))
    let takings = try takings(listed.bookedKind, of: payment, in: store)
    let isOurs = listed.isOurs(at: store.now)
    let own = takings.first { $0.reference == line }
    let known =
      own
      ?? takings.first { taking in
        !isOurs && batch.leaves(taking.mark, called: [taking.reference], to: listed)
          && (names.contains(taking.reference) || taking.name.map(names.contains) ?? false)
      }
    guard let known else { return nil }
    guard listed.endsHold || known.amount == listed.amount.minorUnits else { return .exceeded }
    if !isOurs {
      try store.run(
        """
        UPDATE restored_by_orders SET name = $4 WHERE payment = $1 AND kind = $2 AND reference = $3 AND name IS NULL
        """, .text(payment.rawValue), .text(listed.bookedKind.rawValue), .text(known.reference),
        .text(optional: listed.name))
    }
    return .taken(by: [known.mark])
  }

  /// Takes a listed operation's amount. An operation of ours may have been counted only by orders that were brought after
  /// the restore that lost it. Of a person's, whose time is the provider's, the orders do not say whether they count one
  /// that is later than they are.
  static func take(
    _ listed: ListedOperation, of payment: Payment, _ restore: RestoredStore, beside batch: ListedBatch,
    in store: Transaction
  ) throws -> Result {
    let (kind, amount) = (listed.bookedKind, listed.amount.minorUnits)
    guard listed.amount.isPositive, listed.amount.currency == payment.amount.currency else { return .untouched }
    let own = listed.isOurs(at: store.now) ? BasketMark.time(of: listed.reference, at: store.now) : nil
    let isAlike = try takings(kind, of: payment.id, in: store).contains {
      $0.amount == amount && batch.leaves($0.mark, called: [$0.reference], to: listed)
        && ($0.isNameless(at: store.now) || own == nil && listed.name == nil)
    }
    if isAlike { return .exceeded }
    let pots = try all(kind, of: payment.id, in: store).filter { pot in
      guard let own else { return true }
      return pot.restore == restore.number || own < restore.lostFrom
    }
    func isCounted(_ pot: Pot) -> Bool {
      own != nil || listed.time <= pot.givenAt.adding(RestoredStore.clockMargin)
    }
    guard let pot = pots.first(where: { $0.left >= amount && isCounted($0) }) else {
      if listed.endsHold { return .untouched }
      return pots.contains { $0.left >= amount || isCounted($0) } ? .exceeded : .untouched
    }
    let name = try listed.name.flatMap { name in
      try own != nil && Operations.isShared(name, of: payment.id, in: store) ? nil : name
    }
    try insert(kind, of: payment.id, pot.restore, listed.reference.rawValue, name: name, -amount, in: store)
    return .taken(by: [])
  }

  /// What a person's event means, whose time says nothing: `taken` where its operation was named before, `exceeded` where
  /// it may be of what is left, or of what a report has named otherwise.
  static func check(
    _ kind: OperationKind, called name: String, _ amount: Int64, endsHold: Bool, of payment: PaymentID,
    in store: Transaction
  ) throws -> Result {
    let takings = try takings(kind, of: payment, in: store)
    if let taken = takings.first(where: { $0.reference == name || $0.name == name }) {
      return endsHold || taken.amount == amount ? .taken(by: []) : .exceeded
    }
    if takings.contains(where: { $0.amount == amount && $0.isNameless(at: store.now) }) { return .exceeded }
    let most = try all(kind, of: payment, in: store).map(\.left).max() ?? 0
    return most == 0 || endsHold && amount > most ? .untouched : .exceeded
  }

  private static func takings(
    _ kind: OperationKind, of payment: PaymentID, in store: Transaction
  ) throws -> [Taking] {
    try store.rows(
      """
      SELECT reference, name, amount FROM restored_by_orders WHERE payment = $1 AND kind = $2 AND amount < 0
      ORDER BY noted_at, reference
      """, .text(payment.rawValue), .text(kind.rawValue)
    ).map(Taking.init)
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
