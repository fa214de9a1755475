package import Storage
package import TenderPayments

// How recovery continues operations that other processes left open, one commit each. An operation belongs to the
// process that holds its lease. Every acquired lease raises the fence, and an answer under an old fence is dropped. The
// time is the database's.
extension Journal {
  /// Acquires the lease of a payment's first operation whose answer is missing.
  ///
  /// Nil when there is none, or while the process that began it may still be waiting for its answer.
  ///
  /// - Parameters:
  ///   - dueOnly: whether to leave alone what was asked about a moment ago.
  ///   - inFlight: what this process is working on itself.
  package func leaseOpenOperation(
    of payment: PaymentID, dueOnly: Bool = false, except inFlight: Set<AttemptReference> = [], in store: Transaction
  ) throws -> Attempt? {
    try Operations.lease(
      payment, dueOnly: dueOnly, except: inFlight, owner: owner, until: store.now.adding(Self.lease), in: store)
  }

  /// Acquires the leases of operations whose answer is missing and whose time has come, the longest overdue first.
  package func leaseDueOperations(
    _ limit: Int, except inFlight: Set<AttemptReference> = [], in store: Transaction
  ) throws -> [Attempt] {
    try Operations.leaseDue(
      limit, except: inFlight, owner: owner, until: store.now.adding(Self.lease), in: store)
  }

  /// Leases in a transaction of its own.
  package func leaseOpenOperation(of payment: PaymentID) async throws -> Attempt? {
    try await database.write { try leaseOpenOperation(of: payment, in: $0) }
  }

  /// Leases in a transaction of its own.
  package func leaseDueOperations(_ limit: Int) async throws -> [Attempt] {
    try await database.write { try leaseDueOperations(limit, in: $0) }
  }

  /// Releases the lease of an operation whose outcome is still open; the next try is after the pause.
  package func release(_ attempt: Attempt, pause: Duration = .zero) async throws {
    try await database.write { try Operations.postpone(attempt, until: $0.now.adding(pause), in: $0) }
  }

  /// Begins to undo an authorization whose lease was acquired: the reversal is an operation of its own, and recovery
  /// leaves the authorization alone until it is answered.
  ///
  /// Nil when another process holds the lease of the authorization.
  package func beginReversal(of authorization: Attempt) async throws -> Attempt? {
    try await database.write { store in
      let before = try PaymentRecord.lock(authorization.payment, in: store)
      guard PaymentState.allows(.reverse, in: before.balances.status),
        try Operations.holds(authorization, in: store),
        try !Operations.hasOpenReversal(of: authorization.payment, in: store)
      else { return nil }
      let attempt = newAttempt(
        .reverse, authorization.amount, of: before, cause: .recovery, undoing: authorization.reference,
        past: authorization.past?.neverSent, store)
      try insert(attempt, in: store)
      try Operations.postpone(authorization, until: Timestamp(microseconds: .max - 1), in: store)
      try note("\(PaymentEvent.begins(.reverse))", of: attempt.reference, from: before, to: before, in: store)
      return attempt
    }
  }

  /// Payments with immediate capture that are not captured: the process died in between, or the last try failed.
  ///
  /// - Parameter routes: only those that were authorized there.
  package func capturesDue(_ limit: Int, through routes: [String]) async throws -> [PaymentID] {
    try await ids("\(Self.captureIsDue) AND \(routes.isAmong) ORDER BY capture_due LIMIT $2", limit, routes)
  }

  /// Payments whose hold has ended with money in it that was not captured.
  ///
  /// - Parameters:
  ///   - routes: only those that were authorized there.
  ///   - end: the moment by which the hold has ended; nil, or a later one, for the store's own time.
  package func expiredHolds(
    _ limit: Int, through routes: [String], by end: Timestamp? = nil
  ) async throws -> [PaymentID] {
    try await ids("\(Self.holdHasEnded) AND \(routes.isAmong) ORDER BY hold_until LIMIT $2", limit, routes, by: end)
  }

  /// Payments of other routes for which a capture or the end of a hold is due, and that have no alarm yet.
  package func paymentsWithoutRoute(_ limit: Int, besides routes: [String]) async throws -> [PaymentID] {
    let others = "AND NOT (\(routes.isAmong)) AND alarm IS NULL"
    return try await ids("\(Self.captureIsDue) \(others) UNION \(Self.holdHasEnded) \(others) LIMIT $2", limit, routes)
  }

  /// Takes what is due, in the transaction that reserves it: one process does it, and the others find that it is not due
  /// any more.
  ///
  /// - Returns: false as well while another transaction holds the payment.
  package func take(_ due: DueWork, of payment: PaymentID, in store: Transaction) throws -> Bool {
    let (condition, end) =
      switch due {
      case .capture: (Self.captureIsDue, store.now)
      case .endOfHold(let end): (Self.holdHasEnded, min(end, store.now))
      }
    return try !store.unclaimedRows("\(condition) AND id = $2", .time(end), .text(payment.rawValue)).isEmpty
  }

  private static let captureIsDue = """
    SELECT id FROM payments
    WHERE capture_due <= $1 AND status = 'authorized' AND (reported_outcome IS NULL OR reported_outcome <> 'failure')
      AND authorized - captured - reserved_capture - reserved_void > 0
    """

  private static let holdHasEnded = """
    SELECT id FROM payments
    WHERE hold_until <= $1 AND status IN ('authorized', 'partially_captured', 'partially_refunded', 'refunded')
      AND authorized - captured - reserved_capture - reserved_void > 0
    """

  /// Raises an alarm on a payment for an operator. It shows the first reason until that is acknowledged.
  ///
  /// - Returns: whether the reason was not raised already.
  @discardableResult
  package func raise(_ reason: AlarmReason, on payment: PaymentID) async throws -> Bool {
    try await database.write { try raise(reason, on: payment, in: $0) }
  }

  /// A payment shows the first reason; the audit chain has each. Any other reason takes the place of
  /// ``AlarmReason/acquirerNotConfigured``: it is known because the acquirer could be asked again.
  ///
  /// - Returns: whether it was not raised already.
  @discardableResult
  func raise(_ reason: AlarmReason, on payment: PaymentID, in store: Transaction) throws -> Bool {
    let raised =
      try store.changes(
        """
        UPDATE payments SET alarm = $2
        WHERE id = $1 AND (alarm IS NULL OR alarm = 'acquirer_not_configured' AND alarm <> $2)
        """, .text(payment.rawValue), .text(reason.rawValue)) == 1
    guard try raised || !isRaised(reason, on: payment, in: store) else { return false }
    try remark(AuditEntry.alarmed, reason.rawValue, on: payment, in: store)
    return true
  }

  /// Whether the reason was raised and has not ended since, beside the one that the payment shows.
  private func isRaised(_ reason: AlarmReason, on payment: PaymentID, in store: Transaction) throws -> Bool {
    let raised = AuditEntry.text(AuditEntry.alarmed, reason.rawValue)
    let last = try store.row(
      """
      SELECT event FROM audit WHERE payment = $1 AND event IN ($2, $3)
      ORDER BY version DESC, recorded_at DESC, seq DESC LIMIT 1
      """,
      .text(payment.rawValue), .text(raised), .text(AuditEntry.text(AuditEntry.ended, reason.rawValue)))
    return try last?.text("event") == raised
  }

  /// Ends the alarm, because an operator has looked.
  package func acknowledge(_ payment: PaymentID) async throws {
    try await database.write { store in
      let ended =
        try store.changes(
          "UPDATE payments SET alarm = NULL WHERE id = $1 AND alarm IS NOT NULL", .text(payment.rawValue)) == 1
      if ended { try remark(AuditEntry.acknowledged, on: payment, in: store) }
    }
  }

  private func ids(
    _ sql: String, _ limit: Int, _ routes: [String], by end: Timestamp? = nil
  ) async throws -> [PaymentID] {
    try await database.read { store in
      let values =
        [SQLValue.time(min(store.now, end ?? store.now)), .integer(Int64(limit))] + routes.map(SQLValue.text)
      return try store.rows(sql, values).map { PaymentID(try $0.text("id")) }
    }
  }
}

/// What recovery begins by itself when its time has come.
package enum DueWork: Sendable, Hashable {
  case capture
  /// The end of a hold that has ended by this moment.
  case endOfHold(by: Timestamp)
}

extension [String] {
  /// The condition that `route` is one of these, which are the values from the third on.
  fileprivate var isAmong: String {
    isEmpty ? "1 = 0" : "route IN (\(indices.map { "$\($0 + 3)" }.joined(separator: ", ")))"
  }
}

extension Attempt.Past {
  /// The past of a reversal that begins: nothing was sent under its reference yet.
  fileprivate var neverSent: Attempt.Past {
    Attempt.Past(
      state: state, sentAt: sentAt, sentUntil: nil, quietSince: quietSince,
      undoneSentAt: undoneSentAt, undoneName: undoneName, prepared: nil, isSealed: isSealed, tries: tries,
      reportedOutcome: reportedOutcome,
      leasedAt: leasedAt)
  }
}

extension Operations {
  static func holds(_ attempt: Attempt, in store: Transaction) throws -> Bool {
    try store.lockedRow(
      """
      SELECT reference FROM operations
      WHERE reference = $1 AND fence = $2 AND \(isOpen)
      """, .text(attempt.reference.rawValue), .integer(attempt.fence)) != nil
  }
}
