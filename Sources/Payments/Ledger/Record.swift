import Storage
import TenderPayments

// How an answer changes operation and payment, inside the caller's transaction: the call that waited for the answer,
// recovery, or the handler of a provider's event.
extension Journal {
  func post(
    _ answer: AcquirerAnswer, for attempt: Attempt, reportedTo recipient: Recipient, pause: Duration,
    in store: Transaction
  ) throws -> Payment {
    try postAnswer(answer, for: attempt, reportedTo: recipient, pause: pause, in: store)?.payment
      ?? PaymentRecord.lock(attempt.payment, in: store).payment
  }

  /// Nil for an answer that is dropped.
  func postAnswer(
    _ answer: AcquirerAnswer, for attempt: Attempt, reportedTo recipient: Recipient, pause: Duration,
    in store: Transaction
  ) throws -> (operation: OperationRecord, payment: Payment)? {
    let locked = try store.ask(
      PaymentRecord.lockingQuery(attempt.payment), Operations.openReversalQuery(of: attempt.payment))
    let believed = try isOutdated(answer, attempt, in: store) ? .outdated : answer.believed(for: attempt)
    let (closed, found) = try store.first(
      Operations.closing(attempt, with: believed, nextTryAfter: pause), headQuery(of: attempt.payment))
    let (before, reversal) = try store.answers(to: locked)
    guard let before else { throw JournalError.noSuchPayment(attempt.payment) }
    guard let closed else { return nil }
    let head = try lockedHead(of: attempt.payment, found: found, in: store)
    let isReversed = reversal != nil
    return (closed, try post(believed, for: attempt, on: before, isReversed, reportedTo: recipient, head, in: store))
  }

  /// Moves the payment as the answer says.
  ///
  /// - Parameters:
  ///   - isReversed: whether a reversal of it is under way.
  ///   - head: of its audit chain.
  private func post(
    _ believed: AcquirerAnswer, for attempt: Attempt, on before: PaymentRecord, _ isReversed: Bool,
    reportedTo recipient: Recipient, _ head: AuditHead, in store: Transaction
  ) throws -> Payment {
    let answer = believed.posted
    if attempt.kind == .reverse { return try undo(answer, attempt, before, head, in: store) }
    // After *failure* was reported, or the reversal has begun, an approval comes too late to be adopted.
    let isTooLate = before.payment.reportedOutcome == .failure || isReversed
    if attempt.kind == .authorize, case .approved = answer, isTooLate {
      try scheduleReversal(of: attempt, before, head, in: store)
      return before.payment
    }
    let after = try move(before, by: answer, to: attempt, reportedTo: recipient, in: store)
    let event = PaymentEvent.meets(attempt.kind, Outcome(answer, to: attempt))
    let payment = try save(after, over: before, event, of: attempt.reference, head, in: store)
    if believed.isForLess { try scheduleReversal(of: attempt, after, head, in: store) }
    return payment
  }

  /// The payment after the answer to any operation but a reversal.
  func move(
    _ before: PaymentRecord, by answer: AcquirerAnswer, to attempt: Attempt, reportedTo recipient: Recipient,
    in store: Transaction
  ) throws -> PaymentRecord {
    let outcome = Outcome(answer, to: attempt)
    let balances = try closeHold(Posting.post(outcome, of: attempt.movement, on: before.balances), attempt, in: store)
    let reported = attempt.kind == .authorize ? recipient.reported(balances.status) : nil
    let isBeforeFirstAnswer = attempt.kind == .capture && attempt.cause == .order && recipient != .noCaller
    var after = before.moved(
      to: balances, by: attempt.kind == .authorize ? answer : nil, reported: reported,
      isBeforeFirstAnswer: isBeforeFirstAnswer, at: store.now)
    after.endAlarm(among: AlarmReason.ended(byAnswer: outcome, to: attempt.kind))
    try scheduleCapture(&after, attempt, answer, recipient, in: store)
    try scheduleExpiry(&after, attempt, outcome, in: store)
    return after
  }

  /// The balances after a final capture. The capture keeps how much it released: if it is returned, all of that is held
  /// again.
  func closeHold(_ balances: Balances, _ attempt: Attempt, in store: Transaction) throws -> Balances {
    guard attempt.kind == .capture || attempt.kind == .void, balances.free > 0,
      let final = try Operations.finalCapture(of: attempt.payment, in: store)
    else { return balances }
    let (after, released) = Posting.close(balances)
    try Operations.release(released, with: final, in: store)
    return after
  }

  /// Writes the payment with its audit entry, and its event if anything changed that the merchant would see.
  func save(
    _ after: PaymentRecord, over before: PaymentRecord, _ event: PaymentEvent, of operation: AttemptReference,
    saying words: String? = nil, _ head: AuditHead? = nil, in store: Transaction
  ) throws -> Payment {
    let head = try head ?? lockedHead(of: after.payment.id, in: store)
    try after.save(over: before, in: store)
    try note(AuditEntry.text("\(event)", words), of: operation, from: before, to: after, on: head, in: store)
    try remarkAlarms(of: after, on: head, in: store)
    try followFirstPayment(before, after, in: store)
    if after.differs(from: before) { try addEvent(after, after: operation, in: store) }
    return after.payment
  }
}

// Reversals.
extension Journal {
  /// Writes a reversal of an authorization, which recovery asks for after the pause. Nothing of the payment changes
  /// yet.
  func scheduleReversal(
    of authorization: Attempt, _ before: PaymentRecord, after pause: Duration = .zero, _ head: AuditHead? = nil,
    in store: Transaction
  ) throws {
    guard try !Operations.hasOpenReversal(of: before.payment.id, in: store) else { return }
    let attempt = newAttempt(
      .reverse, authorization.amount, of: before, cause: .recovery, undoing: authorization.reference,
      store)
    try Operations.insert(
      attempt, owner: owner, lease: Timestamp(seconds: 0), firstTry: store.now.adding(pause), in: store)
    try note("\(PaymentEvent.begins(.reverse))", of: attempt.reference, from: before, to: before, on: head, in: store)
  }

  /// Whether *nothing to undo* says nothing any more: an event has brought the authorization's approval since the
  /// acquirer was asked.
  private func isOutdated(_ answer: AcquirerAnswer, _ reversal: Attempt, in store: Transaction) throws -> Bool {
    guard reversal.kind == .reverse, case .notSent = answer, let past = reversal.past, let target = reversal.target,
      let authorization = try Operations.find(target, in: store)?.attempt.past
    else { return false }
    return authorization.quietSince > past.quietSince
  }

  /// Posts the answer to a reversal. *Approved* and *nothing to undo* also end the authorization.
  private func undo(
    _ answer: AcquirerAnswer, _ attempt: Attempt, _ before: PaymentRecord, _ head: AuditHead, in store: Transaction
  ) throws -> Payment {
    let outcome = Outcome(answer, to: attempt)
    let balances = try Posting.post(outcome, of: attempt.movement, on: before.balances)
    var after = before.moved(to: balances, at: store.now)
    after.endAlarm(among: AlarmReason.ended(byAnswer: outcome, to: .reverse))
    if let target = attempt.target {
      switch outcome {
      case .approved: try Operations.end(target, as: .reversed, in: store)
      case .nothing: try Operations.end(target, as: .failed, in: store)
      case .declined:
        after.raise(.reversalRefused)
        try Operations.postpone(target, until: store.now.adding(.seconds(3_600)), in: store)
        try scheduleAnotherReversal(of: target, answer, before, head, in: store)
      case .pending, .unknown, .returned: break
      }
    }
    return try save(after, over: before, .meets(.reverse, outcome), of: attempt.reference, head, in: store)
  }
}

extension Journal {
  /// Begins a reversal anew that was refused for the moment or because of our configuration: an acquirer would repeat
  /// its refusal under the same reference. The same holds for any refusal after an approval for less, or where an event
  /// has brought the approval meanwhile, because no other operation would resolve it.
  private func scheduleAnotherReversal(
    of target: AttemptReference, _ answer: AcquirerAnswer, _ before: PaymentRecord, _ head: AuditHead,
    in store: Transaction
  ) throws {
    guard case .declined(let decline) = answer,
      let (authorization, state) = try Operations.find(target, in: store),
      decline.declineClass != .final || before.payment.decline?.reason == .approvedForLess
        || state == .approved && !before.balances.status.isResolved
    else { return }
    let tries = try Operations.count(.reverse, cause: .recovery, of: before.payment.id, in: store)
    try scheduleReversal(of: authorization, before, after: Backoff.reversal.pause(after: tries), head, in: store)
  }
}

extension AcquirerAnswer {
  fileprivate static let outdated = unknown(
    Interruption(.acquirerUncertain, detail: "the authorization was approved meanwhile"))
}

extension PaymentRecord {
  /// Whether the merchant sees a difference.
  fileprivate func differs(from before: PaymentRecord) -> Bool { balances != before.balances }
}

extension Recipient {
  fileprivate func reported(_ status: PaymentStatus) -> ReportedOutcome? {
    switch self {
    case .shopper(let whenOpen): ReportedOutcome(status, whenOpen: whenOpen)
    case .noCaller: nil
    }
  }
}

extension Outcome {
  /// The outcome that is posted for an answer. A void of an expired hold and a reversal also succeed when the acquirer
  /// answers that the hold has ended: holds expire there by themselves.
  fileprivate init(_ answer: AcquirerAnswer, to attempt: Attempt) {
    let releases = attempt.cause == .expiry || attempt.kind == .reverse
    if releases, case .declined(let decline) = answer, decline.reason == .holdEnded {
      self = .approved
    } else {
      self.init(answer)
    }
  }
}
