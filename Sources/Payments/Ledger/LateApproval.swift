import Storage
package import TenderPayments

// What the acquirer did although it is recorded as declined or failed: a provider approves later what it declined, or a
// request arrives after it was taken for lost. The ledger follows where the balances allow it.
extension Journal {
  /// Posts an event's approval of a capture, void or refund that is recorded as declined or failed.
  ///
  /// While another operation of the payment has reserved the money that it moved, the sender has to repeat the event.
  /// If the balances do not allow it at all, an alarm is raised.
  func approveLate(
    _ event: ProviderEvent, _ answer: AcquirerAnswer, _ attempt: Attempt, _ state: OperationState,
    _ before: PaymentRecord, in store: Transaction
  ) throws -> InboxVerdict {
    let reason = AlarmReason.approvedLate(attempt.kind)
    try Operations.setAwaited(nil, of: attempt.reference, in: store)
    // The money is released already, by this void or another.
    if attempt.kind == .void, before.balances.authorized == before.balances.captured { return .known }
    do {
      return .applied(
        try post(
          late: attempt, answer, .meets(attempt.kind, .approved), on: before, over: before,
          saying: "it was recorded as \(state.rawValue)", in: store))
    } catch JournalError.inFlight {
      try Operations.setAwaited(event.id, of: attempt.reference, in: store)
      return .early(reason.rawValue)
    } catch is JournalError {
      return try contradict(reason, before, in: store)
    }
  }

  /// Posts an event that an authorization is undone whose reversal is recorded as declined: the acquirer refuses later
  /// cancels because an earlier one has released the money. It is the answer to another reversal.
  ///
  /// If the authorization was adopted since, the acquirer has released what is recorded as held: that is booked as the
  /// provider's void.
  func undoneLate(
    _ event: ProviderEvent, _ answer: AcquirerAnswer, _ declined: Attempt, _ before: PaymentRecord,
    notBefore time: Timestamp?, in store: Transaction
  ) throws -> InboxVerdict {
    guard case .approved(let approval) = answer,
      let (authorization, state) = try declined.target.flatMap({ try Operations.find($0, in: store) })
    else { return try contradict(.contradicts(.declined), before, in: store) }
    guard state != .reversed else { return .known }
    guard PaymentState.allows(.reverse, in: before.balances.status) else {
      let void = ProviderMovement(
        kind: .void, amount: event.amount, name: approval.acquirerReference, subject: authorization)
      var record = before
      record.endAlarm(among: AlarmReason.ended(by: .reverse))
      let verdict = try book(void, of: record, notBefore: time, in: store)
      if case .applied = verdict, before.captureMode == .immediate {
        try raise(.uncapturedHoldEnded, on: before.payment.id, in: store)
      }
      return verdict
    }
    try scheduleReversal(of: authorization, before, in: store)
    guard let reversal = try Operations.newestReversal(of: authorization.reference, in: store),
      let attempt = try Operations.acquireLease(reversal, owner: owner, until: store.now, in: store)
    else { return try contradict(.contradicts(.declined), before, in: store) }
    return .applied(try post(answer, for: attempt, reportedTo: .noCaller, pause: .zero, in: store))
  }

  /// Records that the acquirer did a capture, void or refund that is recorded as declined or failed, as an operator has
  /// found out: operation, balances, alarm, event and audit entry with their note in one commit.
  ///
  /// Money that a capture took may be recorded as released by now: then it counts as held again, within the amount of
  /// the payment, and only while the order has no other live payment.
  ///
  /// - Throws: `JournalError` for an operation of another payment or state, and when the balances do not allow it.
  package func recordApproval(
    of operation: AttemptReference, in payment: PaymentID, note: String
  ) async throws -> Payment {
    try await database.write { store in
      let before = try PaymentRecord.lock(payment, in: store)
      guard let (attempt, state) = try Operations.find(operation, in: store), attempt.payment == payment,
        attempt.kind.isFollowUp, state == .declined || state == .failed
      else { throw JournalError.noSuchOperation(operation) }
      guard PaymentState.destination(from: before.balances.status, .resolved(.approved)) != nil else {
        throw JournalError.notPossible(attempt.kind, before.balances.status)
      }
      var held = before
      if attempt.kind == .capture { try held.holdAgain(attempt.amount.minorUnits, in: store) }
      return try post(
        late: attempt, .approved(Approval(acquirerReference: "")), .resolved(.approved), on: held, over: before,
        saying: note, in: store)
    }
  }

  /// - Parameter held: the payment with what the operation moves, in the balances of which it is posted.
  private func post(
    late attempt: Attempt, _ answer: AcquirerAnswer, _ event: PaymentEvent, on held: PaymentRecord,
    over before: PaymentRecord, saying words: String, in store: Transaction
  ) throws -> Payment {
    guard attempt.kind != .capture || before.payment.reportedOutcome != .failure else {
      throw JournalError.notPossible(.capture, before.balances.status)
    }
    _ = try held.validated(attempt.amount, for: attempt.kind)
    let movement = Movement(attempt.kind, attempt.amount.minorUnits)
    let posted = try Posting.post(.approved, of: movement, on: Posting.reserve(movement, on: held.balances))
    try Operations.approve(attempt.reference, answer, in: store)
    var after = held.moved(to: try closeHold(posted, attempt, in: store), at: store.now)
    if attempt.kind == .capture { after.captureDue = nil }
    after.endAlarm(among: AlarmReason.ended(by: attempt.kind))
    if case .resolved = event {
      after.endAlarm()
    } else {
      try scheduleExpiry(&after, attempt, .approved, in: store)
      if try Operations.isDecided(attempt.reference, in: store) { after.raise(.resolvedOtherwise) }
    }
    return try save(after, over: before, event, of: attempt.reference, saying: words, in: store)
  }
}

extension PaymentRecord {
  /// Counts released money as held again, as much as a capture of this amount lacks.
  fileprivate mutating func holdAgain(_ amount: Int64, in store: Transaction) throws {
    let missing = max(0, amount.subtractingClamped(balances.free))
    guard missing > 0 else { return }
    let taken = [balances.captured, balances.reservedCapture, balances.reservedVoid]
    let most = taken.reduce(payment.amount.minorUnits) { $0.subtractingClamped($1) }.addingClamped(balances.incremented)
    guard amount <= most else {
      throw JournalError.exceeds(available: Amount(minorUnits: max(0, most), currency: payment.amount.currency))
    }
    guard try balances.status.isLive || !hasLiveSibling(in: store) else {
      throw JournalError.notPossible(.capture, balances.status)
    }
    balances.authorized = balances.authorized.addingClamped(missing)
    switch balances.status {
    case .voided: balances.status = .authorized
    case .captured: balances.status = .partiallyCaptured
    default: break
    }
  }

  /// Whether another payment reserves the order.
  func hasLiveSibling(in store: Transaction) throws -> Bool {
    try store.row(
      "SELECT id FROM payments WHERE order_id = $1 AND live = 1", .text(payment.order.rawValue)) != nil
  }
}

extension Operations {
  /// - Parameter event: the event of a late approval that the sender has to repeat; nil when there is none.
  fileprivate static func setAwaited(_ event: String?, of reference: AttemptReference, in store: Transaction) throws {
    try store.run(
      "UPDATE operations SET awaited_event = $2 WHERE reference = $1", .text(reference.rawValue), .text(optional: event)
    )
  }

  /// Whether the sender has to repeat a late approval of the operation.
  static func awaitsApproval(_ reference: AttemptReference, in store: Transaction) throws -> Bool {
    try store.row(
      "SELECT reference FROM operations WHERE reference = $1 AND awaited_event IS NOT NULL", .text(reference.rawValue)
    ) != nil
  }

  /// Turns a declined or failed operation into an approved one. Why it was declined stays in its row, for a repeat of the
  /// call that was answered so. What a final capture releases is added by the caller that closes the hold.
  fileprivate static func approve(
    _ reference: AttemptReference, _ answer: AcquirerAnswer, in store: Transaction
  ) throws {
    guard case .approved(let approval) = answer else { return }
    try store.run(
      """
      UPDATE operations SET state = 'approved', acquirer_reference = COALESCE($2, acquirer_reference),
        released_amount = 0, answered_at = $3, lease_until = 0, fence = fence + 1,
        awaited_event = NULL
      WHERE reference = $1 AND state IN ('declined', 'failed')
      """, .text(reference.rawValue),
      .text(optional: approval.acquirerReference.isEmpty ? nil : approval.acquirerReference), .time(store.now))
  }
}
