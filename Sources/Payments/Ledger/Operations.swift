import Storage
import TenderPayments

/// The table `operations`: rows are added and answered, never removed.
enum Operations {
  /// For operations that are found by their reference or payment. Not `state IN (…)`: SQLite makes a table of a list for
  /// each statement, and PostgreSQL would look through the index of all open operations beside the payment's.
  static let isOpen =
    "(" + OperationState.allCases.filter { !$0.isOpen }.map { "state <> '\($0.rawValue)'" }.joined(separator: " AND ")
    + ")"

  static func insert(
    _ attempt: Attempt, owner: String, lease: Timestamp, firstTry: Timestamp, in store: Transaction
  ) throws {
    try store.run(
      """
      INSERT INTO operations (reference, payment, kind, target, amount, released_amount, is_final, cause, state, tries,
        next_try, lease_owner, lease_until, fence, sent_at, sent_until, route, is_whole, part_of, number)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'sending', 0, $9, $10, $11, $12, $13, $14, $15, $16, $17,
        (SELECT count(*) FROM operations WHERE payment = $2))
      """,
      .text(attempt.reference.rawValue), .text(attempt.payment.rawValue), .text(attempt.kind.rawValue),
      .text(optional: attempt.target?.rawValue), .integer(attempt.amount.minorUnits), .integer(attempt.releases),
      .integer(attempt.isFinal ? 1 : 0), .text(attempt.cause.stored), .time(firstTry), .text(owner), .time(lease),
      .integer(attempt.fence), .time(store.now), .time(optional: lease > Timestamp(seconds: 0) ? lease : nil),
      .text(attempt.route), .integer(attempt.isWhole ? 1 : 0), .text(optional: attempt.partOf?.rawValue))
  }

  /// Writes the merchant's own name of the operation.
  static func save(_ merchantReference: String, of reference: AttemptReference, in store: Transaction) throws {
    try store.run(
      "UPDATE operations SET merchant_reference = $2 WHERE reference = $1", .text(reference.rawValue),
      .text(merchantReference))
  }

  /// Writes the answer.
  ///
  /// - Returns: the operation as it is then; nil when it had an answer already or another process holds its lease.
  static func close(
    _ attempt: Attempt, with answer: AcquirerAnswer, in store: Transaction
  ) throws -> OperationRecord? {
    try store.first(closing(attempt, with: answer))
  }

  /// The statement of ``close(_:with:in:)``.
  static func closing(
    _ attempt: Attempt, with answer: AcquirerAnswer, nextTryAfter pause: Duration = .zero
  ) -> Query<OperationRecord> {
    let note = OperationNote(answer)
    let statement = SQLStatement(
      """
      UPDATE operations SET state = $3, acquirer_reference = COALESCE($4, acquirer_reference),
        network_transaction_id = COALESCE($5, network_transaction_id), network_link_id = COALESCE($13, network_link_id),
        stored_reference = COALESCE($14, stored_reference), code = $6, detail = $7, answered_at = $8, sent_until = $8,
        lease_until = 0, next_try = $9, tries = tries + $10, decline_reason = $11
      WHERE reference = $1 AND fence = $2 AND \(isOpen)
      RETURNING *, CAST($12 AS TEXT) AS currency
      """,
      .text(attempt.reference.rawValue), .integer(attempt.fence), .text(note.state.rawValue),
      .text(optional: note.acquirerReference), .text(optional: note.networkTransactionID), .text(optional: note.code),
      .text(optional: note.detail), .integer(0), .integer(pause.microseconds), .integer(attempt.past == nil ? 0 : 1),
      .text(optional: note.declineReason?.rawValue), .text(attempt.amount.currency.code),
      .text(optional: note.networkLinkID), .text(optional: note.storedReference)
    ).fromNow(8, 9)
    return Query(statement) { try OperationRecord($0) }
  }

  /// Ends an operation that another one decided: an authorization that was reversed.
  static func end(_ reference: AttemptReference, as state: OperationState, in store: Transaction) throws {
    try store.run(
      """
      UPDATE operations SET state = $2, answered_at = $3, lease_until = 0, fence = fence + 1
      WHERE reference = $1 AND state <> 'declined'
      """, .text(reference.rawValue), .text(state.rawValue), .time(store.now))
  }

  /// The provider says that an operation has come back whose approval has not arrived: no approval changes that.
  static func noteReturn(of reference: AttemptReference, in store: Transaction) throws {
    try store.run(
      "UPDATE operations SET state = 'returned' WHERE reference = $1 AND state IN ('declined', 'failed')",
      .text(reference.rawValue))
  }

  /// Whether a returned operation was never seen approved. Its decline does not tell: it stays after a late approval.
  static func isReturnedUnseen(_ reference: AttemptReference, in store: Transaction) throws -> Bool {
    try store.row(
      """
      SELECT reference FROM operations WHERE reference = $1 AND state = 'returned' AND NOT EXISTS (
        SELECT 1 FROM audit WHERE audit.payment = operations.payment AND audit.operation = operations.reference
          AND (audit.event = operations.kind || ' approved' OR audit.event LIKE operations.kind || ' approved:%'
            OR audit.event LIKE 'resolved approved:%'))
      """, .text(reference.rawValue)) != nil
  }

  /// Ends the open operations of a payment by an operator's decision, and returns the authorization. An answer that a
  /// lease holder brings later is dropped.
  static func end(
    _ payment: PaymentID, as resolution: Resolution, in store: Transaction
  ) throws -> AttemptReference {
    let authorization = try store.row(
      "SELECT reference FROM operations WHERE payment = $1 AND kind = 'authorize' ORDER BY number DESC LIMIT 1",
      .text(payment.rawValue))
    guard let authorization else { throw JournalError.noSuchPayment(payment) }
    let reference: AttemptReference = try authorization.value("reference")
    try end(reference, as: resolution == .voided ? .reversed : .failed, in: store)
    try store.run(
      """
      UPDATE operations SET state = 'failed', answered_at = $2, lease_until = 0, fence = fence + 1
      WHERE payment = $1 AND \(isOpen)
      """, .text(payment.rawValue), .time(store.now))
    return reference
  }

  /// Whether a process may be asking the acquirer about the payment at this moment.
  static func isHeld(_ payment: PaymentID, in store: Transaction) throws -> Bool {
    try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND \(isOpen) AND lease_until > $2
      """, .text(payment.rawValue), .time(store.now)) != nil
  }

  /// Recovery leaves it alone until the moment. The holder releases its lease, and has sent nothing.
  static func postpone(_ attempt: Attempt, until next: Timestamp, in store: Transaction) throws {
    try store.run(
      """
      UPDATE operations SET lease_until = 0, sent_until = $4, next_try = $3, tries = tries + 1
      WHERE reference = $1 AND fence = $2
      """, .text(attempt.reference.rawValue), .integer(attempt.fence), .time(next),
      .time(optional: attempt.past?.sentUntil))
  }

  static func postpone(_ reference: AttemptReference, until next: Timestamp, in store: Transaction) throws {
    try store.run(
      "UPDATE operations SET lease_until = 0, next_try = $2 WHERE reference = $1", .text(reference.rawValue),
      .time(next))
  }

  /// How many operations of a kind were begun for a cause.
  static func count(
    _ kind: OperationKind, cause: OperationCause, of payment: PaymentID, in store: Transaction
  ) throws -> Int {
    let row = try store.row(
      "SELECT count(*) AS n FROM operations WHERE payment = $1 AND kind = $2 AND cause = $3", .text(payment.rawValue),
      .text(kind.rawValue), .text(cause.rawValue))
    return Int(try row?.integer("n") ?? 0)
  }

  /// How many captures of the payment were begun, whatever became of them.
  ///
  /// - Parameter capture: the number of the operation before which they are counted.
  static func captures(
    of payment: PaymentID, before capture: Int64 = .max, in store: Transaction
  ) throws -> Int {
    let row = try store.row(
      "SELECT count(*) AS n FROM operations WHERE payment = $1 AND kind = 'capture' AND number < $2",
      .text(payment.rawValue), .integer(capture))
    return Int(try row?.integer("n") ?? 0)
  }

  /// The acquirer's name of the payment's authorization; nil as long as it is not approved.
  static func authorization(of payment: PaymentID, in store: Transaction) throws -> String? {
    try store.row(
      """
      SELECT acquirer_reference FROM operations
      WHERE payment = $1 AND kind = 'authorize' AND acquirer_reference IS NOT NULL
      """, .text(payment.rawValue))?.text("acquirer_reference")
  }

  /// The acquirer's name of an operation; nil as long as no answer gave one.
  static func acquirerReference(of reference: AttemptReference, in store: Transaction) throws -> String? {
    try store.row("SELECT acquirer_reference FROM operations WHERE reference = $1", .text(reference.rawValue))?
      .textOrNil("acquirer_reference")
  }

  /// The operation that an acquirer calls by this name, on this route.
  static func reference(
    called name: String, through route: String, in store: Transaction
  ) throws -> AttemptReference? {
    try store.row(
      "SELECT reference FROM operations WHERE acquirer_reference = $1 AND route = $2 ORDER BY number DESC LIMIT 1",
      .text(name), .text(route))?.value("reference")
  }

  /// Whether an operation of the route waits for an answer that may give it its name at the acquirer.
  static func awaitsName(through route: String, in store: Transaction) throws -> Bool {
    try store.row(
      """
      SELECT reference FROM operations
      WHERE state IN ('sending', 'pending', 'unknown') AND acquirer_reference IS NULL AND route = $1 LIMIT 1
      """, .text(route)) != nil
  }

  static func newestReversal(of authorization: AttemptReference, in store: Transaction) throws -> AttemptReference? {
    try store.row(
      "SELECT reference FROM operations WHERE target = $1 AND kind = 'reverse' ORDER BY number DESC LIMIT 1",
      .text(authorization.rawValue))?.value("reference")
  }

  static func hasOpenReversal(of payment: PaymentID, in store: Transaction) throws -> Bool {
    try store.first(openReversalQuery(of: payment)) != nil
  }

  static func openReversalQuery(of payment: PaymentID) -> Query<Row> {
    Query(
      SQLStatement(
        """
        SELECT reference FROM operations
        WHERE payment = $1 AND kind = 'reverse' AND \(isOpen)
        """, .text(payment.rawValue)))
  }

  /// Whether a capture, a void or an increment is under way. The acquirer may not have received it yet, or have decided
  /// already.
  static func hasOpenMove(of payment: PaymentID, in store: Transaction) throws -> Bool {
    try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND kind IN ('capture', 'void', 'increment') AND \(isOpen)
      """, .text(payment.rawValue)) != nil
  }

  static func hasOpenIncrement(of payment: PaymentID, in store: Transaction) throws -> Bool {
    try store.row(
      "SELECT reference FROM operations WHERE payment = $1 AND kind = 'increment' AND \(isOpen)",
      .text(payment.rawValue)) != nil
  }

  /// The approved final capture; nil when there was none, or it failed or was returned.
  static func finalCapture(of payment: PaymentID, in store: Transaction) throws -> AttemptReference? {
    try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND kind = 'capture' AND is_final = 1 AND state = 'approved'
      """, .text(payment.rawValue))?.value("reference")
  }

  static func release(_ amount: Int64, with final: AttemptReference, in store: Transaction) throws {
    try store.run(
      "UPDATE operations SET released_amount = released_amount + $2 WHERE reference = $1", .text(final.rawValue),
      .integer(amount))
  }

  static func all(of payment: PaymentID, in store: Transaction) throws -> [OperationRecord] {
    try rows(of: payment, in: store).map { try OperationRecord($0) }
  }

  /// The rows of a payment's operations, oldest first.
  static func rows(of payment: PaymentID, in store: Transaction) throws -> [Row] {
    try store.rows(select + " WHERE payment = $1 ORDER BY number", .text(payment.rawValue))
  }

  static func require(_ reference: AttemptReference, in store: Transaction) throws -> OperationRecord {
    let row = try store.row(select + " WHERE reference = $1", .text(reference.rawValue))
    guard let row else { throw StorageError.column("reference") }
    return try OperationRecord(row)
  }

  /// The other operations of a request that is known by this one.
  static func parts(of first: AttemptReference, in store: Transaction) throws -> [OperationRecord] {
    try store.rows(select + " WHERE part_of = $1 ORDER BY number", .text(first.rawValue)).map {
      try OperationRecord($0)
    }
  }
}

// Acquiring leases.
extension Operations {
  /// The open operation of the payment that comes first, with a new fence; nil when none may be leased. A reversal
  /// comes before the authorization that it undoes.
  static func lease(
    _ payment: PaymentID, dueOnly: Bool, except inFlight: Set<AttemptReference>, owner: String, until: Timestamp,
    in store: Transaction
  ) throws -> Attempt? {
    let open = try store.unclaimedRows(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND \(isOpen) AND lease_until <= $2 AND next_try <= $3
      ORDER BY CASE kind WHEN 'reverse' THEN 0 ELSE 1 END, reference
      """, .text(payment.rawValue), .time(store.now), dueOnly ? .time(store.now) : .integer(.max - 1))
    let free = try open.map { AttemptReference(try $0.text("reference")) }.first { !inFlight.contains($0) }
    return try free.flatMap { try acquireLease($0, owner: owner, until: until, in: store) }
  }

  /// Open operations whose time has come and that are not leased, oldest first, each with a new fence.
  static func leaseDue(
    _ limit: Int, except inFlight: Set<AttemptReference>, owner: String, until: Timestamp, in store: Transaction
  ) throws -> [Attempt] {
    let due = try store.unclaimedRows(
      """
      SELECT reference FROM operations
      WHERE state IN ('sending', 'pending', 'unknown') AND next_try <= $1 AND lease_until <= $1
      ORDER BY next_try LIMIT $2
      """, .time(store.now), .integer(Int64(limit + inFlight.count)))
    let free = try due.map { AttemptReference(try $0.text("reference")) }.filter { !inFlight.contains($0) }
    return try free.prefix(limit).compactMap { try acquireLease($0, owner: owner, until: until, in: store) }
  }

  /// Acquires the lease of an open operation. An answer under an earlier fence is dropped from now on. The attempt's
  /// past is what was before: from now on the new holder may send.
  static func acquireLease(
    _ reference: AttemptReference, owner: String, until: Timestamp, in store: Transaction
  ) throws -> Attempt? {
    let taken = try store.changes(
      """
      UPDATE operations SET fence = fence + 1, lease_owner = $2, lease_until = $3
      WHERE reference = $1 AND \(isOpen)
      """, .text(reference.rawValue), .text(owner), .time(until))
    guard taken == 1, let attempt = try find(reference, in: store)?.attempt else { return nil }
    try noteArrival(of: reference, at: until, in: store)
    return attempt
  }

  /// Notes until when a request of the operation may have arrived at the acquirer, at the latest.
  static func noteArrival(of reference: AttemptReference, at time: Timestamp, in store: Transaction) throws {
    try store.run(
      "UPDATE operations SET sent_until = $2 WHERE reference = $1", .text(reference.rawValue), .time(time))
  }

  /// An operation as it is, whichever process holds its lease.
  static func find(
    _ reference: AttemptReference, in store: Transaction
  ) throws -> (attempt: Attempt, state: OperationState)? {
    guard let row = try store.row(select + " WHERE reference = $1", .text(reference.rawValue)) else { return nil }
    let (kind, payment): (OperationKind, PaymentID) = (try row.value("kind"), try row.value("payment"))
    let target = try row.textOrNil("target").map { AttemptReference($0) }
    let attempt = Attempt(
      reference: reference, payment: payment, route: try row.text("route"),
      merchantAccount: try row.textOrNil("merchant_account"),
      authorizationType: try row.valueOrNil("authorization_type"), kind: kind,
      amount: try row.amount("amount"),
      isFinal: try row.integer("is_final") == 1, isWhole: try row.integer("is_whole") == 1,
      authorization: kind == .authorize ? nil : try authorization(of: payment, in: store),
      acquirerReference: try row.textOrNil("acquirer_reference"), target: target,
      capture: try kind == .refund ? target.flatMap { try acquirerReference(of: $0, in: store) } : nil,
      partOf: try row.textOrNil("part_of").map { AttemptReference($0) },
      captureNumber: try kind == .capture ? captures(of: payment, before: row.integer("number"), in: store) + 1 : nil,
      undoneAmount: try row.amount(kind == .reverse ? "authorization_amount" : "amount"),
      cause: try row.cause(), past: try past(row, kind == .reverse ? target : nil, in: store),
      releases: try row.integer("released_amount"), fence: try row.integer("fence"))
    return (attempt, try row.value("state"))
  }

  private static func past(_ row: Row, _ target: AttemptReference?, in store: Transaction) throws -> Attempt.Past {
    let undone = try target.flatMap { try store.row(select + " WHERE reference = $1", .text($0.rawValue)) }
    let sentAt = try row.time("sent_at")
    return Attempt.Past(
      state: try row.value("state"), sentAt: sentAt, sentUntil: try row.timeOrNil("sent_until"),
      quietSince: try (undone ?? row).timeOrNil("sent_until") ?? sentAt.adding(Journal.lease),
      undoneSentAt: try (undone ?? row).time("sent_at"),
      undoneName: try undone?.textOrNil("acquirer_reference"), prepared: try row.textOrNil("prepared_reference"),
      isSealed: try row.integer("amount_confirmed") == 0,
      tries: Int(try row.integer("tries")), reportedOutcome: try row.valueOrNil("reported_outcome"), leasedAt: store.now
    )
  }

  private static let select = """
    SELECT operations.*, payments.currency, payments.reported_outcome,
      payments.amount_confirmed, payments.merchant_account, payments.authorization_type,
      payments.amount AS authorization_amount
    FROM operations JOIN payments ON payments.id = operations.payment
    """
}
