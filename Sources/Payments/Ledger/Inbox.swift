import Crypto
import Storage
package import TenderPayments

/// An event that a provider sends, after its connector has authenticated it.
package struct ProviderEvent: Sendable, Hashable {
  package enum Outcome: Sendable, Hashable {
    case approved(Approval)
    case declined(Decline)
    /// The operation was done and has come back: no approval of it counts any more, in whatever order the two arrive.
    case returned(Decline)
    /// No operation of ours asked for it. The reference is that of an operation of the payment.
    ///
    /// - Parameter name: the provider's name of what moved the money.
    case moved(MoneyMovement, name: String?)
  }

  /// The route that it came through: connector and account.
  package let route: String
  /// The provider's name of the event; a second one of this name is the same event.
  package let id: String
  /// Our name of the operation that it reports, or of another one of the same payment.
  package let reference: AttemptReference
  package let amount: Amount
  package let outcome: Outcome

  package init(route: String, id: String, reference: AttemptReference, amount: Amount, outcome: Outcome) {
    self.route = route
    self.id = id
    self.reference = reference
    self.amount = amount
    self.outcome = outcome
  }
}

/// The result of receiving a provider's event. All but ``early(_:)`` are acknowledged, because a repeat would change
/// nothing.
package enum InboxVerdict: Sendable, Hashable {
  /// The event is posted.
  case applied(Payment)
  /// It says what is recorded already, or this very event was received before.
  case known
  /// It contradicts what is recorded, and an alarm is raised; money that is held in vain is being reversed.
  case contradicted(String)
  /// It names no operation of ours.
  case refused(String)
  /// It may be true, but something else must be recorded first. It is neither stored nor acknowledged, so that the
  /// sender repeats it.
  case early(String)

  package var name: String {
    switch self {
    case .applied: "applied"
    case .known: "known"
    case .contradicted: "contradicted"
    case .refused: "refused"
    case .early: "early"
    }
  }

  var reason: String? {
    switch self {
    case .applied, .known: nil
    case .contradicted(let reason), .refused(let reason), .early(let reason): reason
    }
  }
}

extension Journal {
  /// Keeps a provider's event once, compares it with our own amounts, and posts it, in one commit.
  ///
  /// It may arrive before the answer that a call still waits for: the first to record wins, and the other finds it
  /// recorded.
  ///
  /// - Parameter time: what is held again is held from then, if the store's clock is behind it.
  package func receive(_ event: ProviderEvent, notBefore time: Timestamp? = nil) async throws -> InboxVerdict {
    try await database.write { store in
      guard try Inbox.add(event, in: store) else { return .known }
      let verdict = try post(event, notBefore: time, in: store)
      try Inbox.conclude(event, verdict, in: store)
      return verdict
    }
  }

  /// The verdict on an event that names no operation or payment of ours. While the route is closed after a restore it may
  /// be of one that was lost and comes back.
  package func checkUnknownReference(through route: String) async throws -> InboxVerdict {
    try await database.read { try checkUnknownReference(through: route, in: $0) }
  }

  private func checkUnknownReference(through route: String, in store: Transaction) throws -> InboxVerdict {
    let isClosed = try restore?.isClosed(route, in: store) ?? false
    return isClosed ? .early("unknown_reference") : .refused("unknown_reference")
  }

  func post(
    _ event: ProviderEvent, notBefore time: Timestamp?, in store: Transaction
  ) throws -> InboxVerdict {
    guard let payment = try Operations.find(event.reference, in: store)?.attempt.payment else {
      return try checkUnknownReference(through: event.route, in: store)
    }
    // Locks the payment: only from here on its operations stay as they are read.
    let record = try PaymentRecord.lock(payment, in: store)
    guard let (attempt, state) = try Operations.find(event.reference, in: store) else {
      return try checkUnknownReference(through: event.route, in: store)
    }
    guard record.route == event.route, attempt.route == event.route else {
      try raiseOrNote(.anotherConnector, record, in: store)
      return .refused(AlarmReason.anotherConnector.rawValue)
    }
    guard let answer = event.answer else {
      return try book(ProviderMovement(event, attempt), of: record, notBefore: time, in: store)
    }
    guard event.isRefusal(of: attempt) || attempt.amount == event.amount, answer.believed(for: attempt) == answer else {
      return try contradict(.eventAmountMismatch, record, in: store)
    }
    guard state.isOpen else { return try review(event, answer, attempt, state, record, notBefore: time, in: store) }
    let leased = try Operations.acquireLease(attempt.reference, owner: owner, until: store.now, in: store) ?? attempt
    let posted = try post(answer, for: leased, reportedTo: .noCaller, pause: .zero, in: store)
    if event.isReturn { try Operations.noteReturn(of: attempt.reference, in: store) }
    return .applied(posted)
  }

  /// The operation had its answer already, and the provider may have changed it.
  private func review(
    _ event: ProviderEvent, _ answer: AcquirerAnswer, _ attempt: Attempt, _ state: OperationState,
    _ record: PaymentRecord, notBefore time: Timestamp?, in store: Transaction
  ) throws -> InboxVerdict {
    // A late approval may have been returned since; the return is posted after the approval.
    if !event.isApproval, try Operations.awaitsApproval(attempt.reference, in: store) {
      return .early(AlarmReason.approvedLate(attempt.kind).rawValue)
    }
    if event.isReturn { try Operations.noteReturn(of: attempt.reference, in: store) }
    switch (answer, state) {
    case (.approved, .approved) where answer.isForLess:
      return try contradict(.eventAmountMismatch, record, in: store)
    case (.approved, .approved):
      try Operations.learnName(attempt.reference, from: answer, in: store)
      return .known
    case (.declined, .declined), (.declined, .failed), (.declined, .reversed), (.declined, .returned):
      return .known
    case (.declined, .approved) where attempt.kind == .reverse:
      // Another cancel of the same authorization was done before this one.
      return .known
    case (.declined, .approved) where attempt.kind == .capture || attempt.kind == .refund:
      return try postReturn(attempt, record, notBefore: time, in: store)
    case (.declined, .approved) where attempt.kind == .void:
      return try takeBack(void: attempt, record, notBefore: time, in: store)
    case (.approved, .returned) where try Operations.isReturnedUnseen(attempt.reference, in: store):
      return .known
    case (.approved, .declined) where attempt.kind == .reverse:
      return try undoneLate(event, answer, attempt, record, notBefore: time, in: store)
    case (.approved, .declined) where attempt.kind.isFollowUp, (.approved, .failed) where attempt.kind.isFollowUp:
      return try approveLate(event, answer, attempt, state, record, in: store)
    case (.approved, .declined) where answer.isForLess && record.payment.decline?.reason == .approvedForLess:
      return .known
    case (.approved, .failed) where attempt.verifiesCard:
      // Given up before its answer came; nothing is held.
      return .known
    case (.approved, _) where attempt.kind == .authorize && !record.balances.status.isLive:
      return try releaseHold(answer, attempt, record, in: store)
    default:
      return try contradict(.contradicts(state), record, in: store)
    }
  }

  /// *Failure* was reported to the shopper, and money is held: it must be released. The authorization may have arrived only
  /// now, and an inquiry may not find it yet.
  private func releaseHold(
    _ answer: AcquirerAnswer, _ attempt: Attempt, _ record: PaymentRecord, in store: Transaction
  ) throws -> InboxVerdict {
    try Operations.noteArrival(of: attempt.reference, at: store.now, in: store)
    try Operations.learnName(attempt.reference, from: answer, in: store)
    try scheduleReversal(of: attempt, record, in: store)
    return try contradict(.heldAfterEnd, record, in: store)
  }

  func postReturn(
    _ attempt: Attempt, _ before: PaymentRecord, notBefore time: Timestamp?, in store: Transaction
  ) throws -> InboxVerdict {
    let posted = try? Posting.post(.returned, of: attempt.movement, on: before.balances)
    guard var balances = posted, balances.isCovered else { return try tooEarly(before, in: store) }
    try Operations.end(attempt.reference, as: .returned, in: store)
    balances = try closeHold(balances, attempt, in: store)
    var after = before.moved(to: balances, at: store.now)
    after.endAlarm(among: [AlarmReason.returnedAfterRefund.rawValue])
    after.raise(try Operations.isDecided(attempt.reference, in: store) ? .resolvedOtherwise : .returned(attempt.kind))
    // Money that is held again expires too, so that an unused hold is released; not sooner than the authorization's
    // hold did, also if the clock has been set back since.
    if attempt.kind != .refund, balances.free > 0 {
      let from = max(store.now, time ?? store.now, before.payment.createdAt)
      after.holdUntil = before.holdUntil ?? from.adding(Self.usualHold)
    }
    return .applied(
      try save(after, over: before, .meets(attempt.kind, .returned), of: attempt.reference, in: store))
  }

  /// A void was not done that an operator took for done. No acquirer takes back a void that it approved itself.
  private func takeBack(
    void attempt: Attempt, _ before: PaymentRecord, notBefore time: Timestamp?, in store: Transaction
  ) throws -> InboxVerdict {
    guard try Operations.isDecided(attempt.reference, in: store) else {
      return try contradict(.contradicts(.approved), before, in: store)
    }
    guard try before.balances.status.isLive || !before.hasLiveSibling(in: store) else {
      return try contradict(.resolvedOtherwise, before, in: store)
    }
    return try postReturn(attempt, before, notBefore: time, in: store)
  }

  /// More was refunded, or may be, than would be left. A refund in flight may be refused; a capture whose answer is
  /// open may have taken money; the event of a returned refund may be late. An alarm is raised when no operation in
  /// flight could resolve it.
  private func tooEarly(_ before: PaymentRecord, in store: Transaction) throws -> InboxVerdict {
    if before.balances.reservedCapture == 0, before.balances.reservedRefund == 0 {
      try raiseOrNote(.returnedAfterRefund, before, in: store)
    }
    return .early(AlarmReason.returnedAfterRefund.rawValue)
  }

  func contradict(
    _ reason: AlarmReason, _ record: PaymentRecord, in store: Transaction
  ) throws -> InboxVerdict {
    try raiseOrNote(reason, record, in: store)
    return .contradicted(reason.rawValue)
  }

  /// Raises an alarm; beside another one it is noted in the audit chain only.
  func raiseOrNote(_ reason: AlarmReason, _ record: PaymentRecord, in store: Transaction) throws {
    guard try !raise(reason, on: record.payment.id, in: store), record.alarm != reason.rawValue else { return }
    try remark(AuditEntry.alarmed, reason.rawValue, on: record.payment.id, in: store)
  }
}

extension ProviderEvent {
  /// Nil for what answers no operation of ours.
  var answer: AcquirerAnswer? {
    switch outcome {
    case .approved(let approval): .approved(approval)
    case .declined(let decline), .returned(let decline): .declined(decline)
    case .moved: nil
    }
  }

  fileprivate var isApproval: Bool { if case .approved = outcome { true } else { false } }

  fileprivate var isReturn: Bool { if case .returned = outcome { true } else { false } }

  /// Whether it says that a reversal was refused. That moves nothing, and a provider that found no payment names no
  /// amount.
  fileprivate func isRefusal(of attempt: Attempt) -> Bool {
    if case .declined = outcome { attempt.kind == .reverse } else { false }
  }

  /// As the inbox keeps it.
  fileprivate var outcomeName: String {
    switch outcome {
    case .approved: "approved"
    case .declined: "declined"
    case .returned: "returned"
    case .moved(let movement, _): movement.rawValue
    }
  }
}

/// The table `inbox`: an event is kept once, with its result.
enum Inbox {
  /// The longest name that is kept: an index of PostgreSQL takes no more than 2,704 bytes.
  private static let longestName = 1_024

  /// The provider's name of the event, or the hash of a longer one.
  private static func name(of event: ProviderEvent) -> String {
    guard event.id.utf8.count > longestName else { return event.id }
    return "SHA-256 " + Hex.encode(SHA256.hash(data: Array(event.id.utf8)))
  }

  /// False when the event was received before.
  static func add(_ event: ProviderEvent, in store: Transaction) throws -> Bool {
    try store.changes(
      """
      INSERT INTO inbox (route, event, reference, outcome, amount, currency, verdict, received_at)
      VALUES ($1, $2, $3, $4, $5, $6, 'known', $7) ON CONFLICT DO NOTHING
      """,
      .text(event.route), .text(name(of: event)), .text(event.reference.rawValue), .text(event.outcomeName),
      .integer(event.amount.minorUnits), .text(event.amount.currency.code), .time(store.now)) == 1
  }

  static func conclude(_ event: ProviderEvent, _ verdict: InboxVerdict, in store: Transaction) throws {
    if case .early = verdict {
      try store.run(
        "DELETE FROM inbox WHERE route = $1 AND event = $2", .text(event.route), .text(name(of: event)))
      return
    }
    try store.run(
      "UPDATE inbox SET verdict = $3, reason = $4 WHERE route = $1 AND event = $2", .text(event.route),
      .text(name(of: event)), .text(verdict.name), .text(optional: verdict.reason))
  }
}
