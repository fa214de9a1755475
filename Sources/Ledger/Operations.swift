import Storage
import TenderPayments

/// The table `operations`: rows are added and answered, never removed.
enum Operations {
  static func insert(_ attempt: Attempt, owner: String, until: Timestamp, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO operations (reference, payment, kind, amount, state, lease_owner, lease_until, fence, sent_at)
      VALUES ($1, $2, $3, $4, 'sending', $5, $6, $7, $8)
      """,
      .text(attempt.reference.rawValue), .text(attempt.payment.rawValue), .text(attempt.kind.rawValue),
      .integer(attempt.amount.minorUnits), .text(owner), .time(until), .integer(attempt.fence), .time(store.now))
  }

  /// Writes the answer; false when the operation has one already or is in other hands.
  static func close(_ attempt: Attempt, with answer: AcquirerAnswer, in store: Transaction) throws -> Bool {
    let note = Note(answer)
    let closed = try store.run(
      """
      UPDATE operations SET state = $3, acquirer_reference = COALESCE($4, acquirer_reference),
        network_transaction_id = COALESCE($5, network_transaction_id), code = $6, detail = $7, answered_at = $8,
        lease_until = 0
      WHERE reference = $1 AND fence = $2 AND state IN ('sending', 'pending', 'unknown')
      """,
      .text(attempt.reference.rawValue), .integer(attempt.fence), .text(note.state.rawValue),
      .text(optional: note.acquirerReference), .text(optional: note.networkTransactionID), .text(optional: note.code),
      .text(optional: note.detail), .time(store.now))
    return closed == 1
  }

  /// The oldest open operation of the payment, with a new fence; nil when nobody may touch one.
  static func takeOver(
    _ payment: PaymentID, owner: String, until: Timestamp, in store: Transaction
  ) throws -> Attempt? {
    let open = try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND state IN ('sending', 'pending', 'unknown') AND lease_until <= $2
      ORDER BY reference LIMIT 1
      """, .text(payment.rawValue), .time(store.now))
    guard let reference = try open?.text("reference") else { return nil }
    let taken = try store.run(
      """
      UPDATE operations SET fence = fence + 1, lease_owner = $3, lease_until = $4
      WHERE reference = $1 AND lease_until <= $2 AND state IN ('sending', 'pending', 'unknown')
      """, .text(reference), .time(store.now), .text(owner), .time(until))
    return taken == 1 ? try attempt(reference, in: store) : nil
  }

  static func release(_ attempt: Attempt, in store: Transaction) throws {
    try store.run(
      "UPDATE operations SET lease_until = 0 WHERE reference = $1 AND fence = $2",
      .text(attempt.reference.rawValue), .integer(attempt.fence))
  }

  /// The acquirer's name of the payment's authorization.
  static func authorization(of payment: PaymentID, in store: Transaction) throws -> String {
    let row = try store.row(
      """
      SELECT acquirer_reference FROM operations
      WHERE payment = $1 AND kind = 'authorize' AND state = 'approved'
      """, .text(payment.rawValue))
    guard let row else { throw StorageError.column("acquirer_reference") }
    return try row.text("acquirer_reference")
  }

  static func all(of payment: PaymentID, in store: Transaction) throws -> [OperationRecord] {
    try store.rows(select + " WHERE payment = $1 ORDER BY sent_at, reference", .text(payment.rawValue)).map { row in
      OperationRecord(
        reference: try row.value("reference"), kind: try row.value("kind"), amount: try row.amount("amount"),
        state: try row.value("state"), acquirerReference: try row.textOrNil("acquirer_reference"),
        code: try row.textOrNil("code"), sentAt: try row.time("sent_at"),
        answeredAt: try row.integerOrNil("answered_at").map { Timestamp(microseconds: $0) })
    }
  }

  private static let select = """
    SELECT operations.*, payments.currency FROM operations JOIN payments ON payments.id = operations.payment
    """

  private static func attempt(_ reference: String, in store: Transaction) throws -> Attempt {
    guard let row = try store.row(select + " WHERE reference = $1", .text(reference)) else {
      throw StorageError.column("reference")
    }
    let (payment, kind): (PaymentID, OperationKind) = (try row.value("payment"), try row.value("kind"))
    return Attempt(
      reference: AttemptReference(reference), payment: payment, kind: kind, amount: try row.amount("amount"),
      authorization: kind == .authorize || kind == .reverse ? nil : try authorization(of: payment, in: store),
      fence: try row.integer("fence"))
  }
}

/// What an operation's row keeps of an answer.
private struct Note {
  let state: OperationState
  var acquirerReference: String?
  var networkTransactionID: String?
  var code: String?
  var detail: String?

  init(_ answer: AcquirerAnswer) {
    switch answer {
    case .approved(let approval):
      state = .approved
      acquirerReference = approval.acquirerReference
      networkTransactionID = approval.networkTransactionID
    case .declined(let decline):
      state = .declined
      code = decline.code
    case .pending(let pending):
      state = .pending
      acquirerReference = pending.acquirerReference
    case .unknown(let interruption):
      state = .unknown
      code = interruption.kind.rawValue
      detail = interruption.detail
    case .notSent(let reason):
      state = .failed
      detail = reason
    }
  }
}
