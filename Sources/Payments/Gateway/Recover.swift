import Acquiring
import Ledger
import Storage
import Telemetry
package import TenderPayments

// Recovery resolves what is sending, pending or unknown. It inquires, adopts an answer, reverses, or leaves the
// operation as it is. It never sends an authorization again, because the payment token is gone and the first request
// may yet arrive. Nothing fails by its age.
extension PaymentGateway {
  /// One round of each kind, one after the other. A server runs them beside one another: ``keepRecovering(_:)``.
  ///
  /// All rounds run, also after one that fails; then the first error is thrown.
  package func recover(_ limit: Int = 32) async throws -> RecoveryReport {
    var outcomes: [Result<RecoveryReport, any Error>] = []
    for round in RecoveryRound.allCases { outcomes.append(await outcome { try await recover(round, limit) }) }
    return try outcomes.reduce(into: RecoveryReport()) { $0.add(try $1.get()) }
  }

  /// One round of one kind: at the start of a process, and on a timer.
  ///
  /// Bounded by `limit`; what is left over is for the next round. Many processes may do it at once: each leases
  /// different operations. One operation that fails, as by a defect, does not end the round: its error is thrown
  /// after the others.
  package func recover(_ round: RecoveryRound, _ limit: Int = 32) async throws -> RecoveryReport {
    switch round {
    case .openOperations: try await resolveOpenOperations(limit)
    case .dueCaptures: try await captureDue(limit)
    case .expiredHolds: try await endExpired(limit)
    }
  }

  private func resolveOpenOperations(_ limit: Int) async throws -> RecoveryReport {
    let deadline = newHold()
    let call = inFlight.newCall()
    defer { call.end() }
    await recordLateAnswers()
    let attempts = try await database.write { store in
      let attempts = try journal.leaseDueOperations(limit, except: inFlight.references(), in: store)
      for attempt in attempts { call.note(attempt.reference) }
      return attempts
    }
    let outcomes = await concurrently(attempts, width: policy.recoveryWidth) { attempt in
      try await telemetry.begin(.recover) { activity in
        activity.note(.payment(attempt.payment), .acquirer(attempt.route), .tries(attempt.past?.tries ?? 0))
        await activity.lead(to: attempt.payment, in: journal)
        let outcome = try await resolve(attempt, before: deadline)
        activity.note(outcome.payment)
        return outcome
      }
    }
    var report = RecoveryReport()
    report.count(outcomes.compactMap { try? $0.get() })
    for outcome in outcomes { _ = try outcome.get() }
    return report
  }

  private func captureDue(_ limit: Int) async throws -> RecoveryReport {
    var report = RecoveryReport()
    report.captures = try await begin(
      journal.capturesDue(limit, through: openRoutes()).map {
        FollowUp(kind: .capture, payment: $0, cause: .order, due: .capture)
      },
      width: policy.captureWidth)
    return report
  }

  /// Releases expired holds and deletes expired idempotency keys, unless the clock may be wrong.
  private func endExpired(_ limit: Int) async throws -> RecoveryReport {
    var report = RecoveryReport()
    report.alarms += try await raiseAlarmsElsewhere(limit)
    // Read before the clocks are compared: a clock that is set afterwards ends nothing in this round.
    let now = clock.now()
    guard clocks.allowEnding else { return report }
    report.expiries = try await begin(
      journal.expiredHolds(limit, through: openRoutes(), by: now).map {
        FollowUp(kind: .void, payment: $0, cause: .expiry, due: .endOfHold(by: now))
      },
      width: policy.expiryWidth)
    try await journal.forgetKeys(limit, by: now)
    return report
  }

  /// A capture or void that is due at an acquirer which is not configured raises an alarm. No other acquirer is asked.
  private func raiseAlarmsElsewhere(_ limit: Int) async throws -> [PaymentID] {
    let payments = try await journal.paymentsWithoutRoute(limit, besides: routes.names)
    for payment in payments { try await journal.raise(.acquirerNotConfigured, on: payment) }
    return payments
  }

  /// Resolves one payment on request: its first open operation, whether or not its time has come.
  ///
  /// - Parameter dueOnly: whether to leave alone what was asked about a moment ago.
  /// - Returns: the payment as it is afterwards; unchanged also while the call that began the operation may still
  ///   be waiting for its own answer.
  /// - Throws: ``GatewayError/outcomeNotRecorded(_:)`` when the store fails after the acquirer was asked.
  package func inquire(_ payment: PaymentID, dueOnly: Bool = false) async throws -> Payment {
    let deadline = newHold()
    let call = inFlight.newCall()
    defer { call.end() }
    let leased = try await database.write { store in
      let attempt = try journal.leaseOpenOperation(
        of: payment, dueOnly: dueOnly, except: inFlight.references(), in: store)
      if let attempt { call.note(attempt.reference) }
      return attempt
    }
    guard let attempt = leased else { return try await require(payment) }
    await Activity.current?.lead(to: payment, in: journal)
    return try await reading(payment) {
      let outcome = try await resolve(attempt, before: deadline)
      Activity.current?.note(outcome.payment)
      return try await require(payment)
    }
  }

  /// Resolves a leased operation, if it can be. After the deadline the acquirer is not asked any more: the next holder
  /// of the lease relies on it.
  @discardableResult
  func resolve(_ attempt: Attempt, before deadline: Deadline) async throws -> RecoveryOutcome {
    try await crashes.reach(.recoveryLeased)
    guard let acquirer = routes[attempt.route], deadline.remaining > .zero else { return try await leave(attempt) }
    switch RecoveryAction(for: attempt, acquirer.capabilities) {
    case .inquire: return try await inquire(attempt, acquirer, deadline)
    case .sendAgain: return try await sendAgain(attempt, deadline)
    case .reverse: return try await reverse(attempt, acquirer, deadline)
    case .undo: return try await undo(attempt, acquirer, deadline)
    case .neverSent: return try await adopt(.notSent("the first of two steps has no result"), attempt)
    case .giveUp: return try await adopt(.verificationWithoutAnswer, attempt)
    case .nothing: return try await leave(attempt)
    }
  }

  private func inquire(
    _ attempt: Attempt, _ acquirer: Acquirer, _ deadline: Deadline
  ) async throws -> RecoveryOutcome {
    let question = attempt.inquiry
    let inquiry = await acquirer.inquire(question, timeout(deadline))
    try await crashes.reach(.recoveryInquired)
    switch RecoveryAction.Finding(inquiry, about: attempt, acquirer.capabilities) {
    case .adopt(let answer): return try await adopt(answer, attempt)
    case .neverArrived: return try await adopt(.notSent("the acquirer does not know it"), attempt)
    case .sendAgain: return try await sendAgain(attempt, deadline)
    case .reverse: return try await reverse(attempt, acquirer, deadline)
    case .undo: return try await undo(attempt, acquirer, deadline)
    case .leave: return try await leave(attempt)
    }
  }

  private func adopt(_ answer: AcquirerAnswer, _ attempt: Attempt) async throws -> RecoveryOutcome {
    let answer = answer.believed(for: attempt)
    let payment = try await trace(.record) {
      try await journal.record(answer, for: attempt, reportedTo: .noCaller, pause: pause(after: attempt)).payment
    }
    try await crashes.reach(.recoveryRecorded)
    return RecoveryOutcome(isResolved: answer.isFinal, payment: payment)
  }

  /// Sends the request again, under its own reference, inside the window in which the acquirer repeats its answer.
  private func sendAgain(_ attempt: Attempt, _ deadline: Deadline) async throws -> RecoveryOutcome {
    let answer = await ask(attempt, before: timeout(deadline))
    try await crashes.reach(.recoveryRepeated)
    guard !answer.saysNothingOfAnEarlierRequest else { return try await leave(attempt) }
    return try await adopt(answer, attempt)
  }

  private func reverse(
    _ attempt: Attempt, _ acquirer: Acquirer, _ deadline: Deadline
  ) async throws -> RecoveryOutcome {
    // What was open at the backup may have been approved since, and be paid: the route's report says it.
    guard try await openRoutes().contains(attempt.route), let reversal = try await journal.beginReversal(of: attempt)
    else { return try await leave(attempt) }
    let call = inFlight.newCall()
    defer { call.end() }
    call.note(reversal.reference)
    try await crashes.reach(.recoveryReversing)
    return try await undo(reversal, acquirer, deadline)
  }

  /// Reverses by our reference; where the acquirer cannot do that, finds the authorization and voids it.
  private func undo(
    _ attempt: Attempt, _ acquirer: Acquirer, _ deadline: Deadline
  ) async throws -> RecoveryOutcome {
    let target = attempt.undoing
    guard acquirer.capabilities.reversal else { return try await void(target, attempt, acquirer, deadline) }
    let reversal = await acquirer.reverse(target, timeout(deadline))
    try await crashes.reach(.recoveryReversed)
    return try await adopt(RecoveryAction.meaning(of: reversal, for: attempt, acquirer.capabilities), attempt)
  }

  private func void(
    _ target: InquiryRequest, _ attempt: Attempt, _ acquirer: Acquirer, _ deadline: Deadline
  ) async throws -> RecoveryOutcome {
    let found = await acquirer.inquire(target, timeout(deadline))
    try await crashes.reach(.recoveryInquired)
    switch RecoveryAction.Undoing(found, for: attempt, acquirer.capabilities) {
    case .leave: return try await leave(attempt)
    case .nothingToUndo: return try await adopt(.notSent("there was nothing to undo"), attempt)
    case .void(let request):
      guard let void = try await journal.undo(attempt, of: request.amount, authorization: request.authorization) else {
        return try await leave(attempt)
      }
      let answer = await acquirer.void(request, timeout(deadline))
      try await crashes.reach(.recoveryReversed)
      if case .notSent = answer { return try await leave(attempt) }
      return try await adopt(answer, void)
    }
  }

  /// The outcome stays open. Each try is later than the one before.
  private func leave(_ attempt: Attempt) async throws -> RecoveryOutcome {
    try await journal.release(attempt, pause: pause(after: attempt))
    var raised = false
    if let alarm = alarm(for: attempt) { raised = try await journal.raise(alarm, on: attempt.payment) }
    return RecoveryOutcome(isResolved: false, payment: try await require(attempt.payment), raisedAlarm: raised)
  }

  /// Raised after a day without an answer, and at once where the acquirer is not configured.
  private func alarm(for attempt: Attempt) -> AlarmReason? {
    guard routes[attempt.route] != nil else { return .acquirerNotConfigured }
    guard let past = attempt.past, past.leasedAt.since(past.sentAt) >= policy.alarmAfter else { return nil }
    return .unknown(attempt.kind)
  }
}

/// The kinds of work of recovery. None of them waits for another: a capture may take 20 seconds, and an operation whose
/// outcome is not known is to be asked about at once.
package enum RecoveryRound: String, Sendable, Hashable, CaseIterable {
  /// Operations without an answer are inquired about, reversed or sent again.
  case openOperations = "open_operations"
  /// Immediate captures are done.
  case dueCaptures = "due_captures"
  /// Expired holds are released, and expired idempotency keys are deleted.
  case expiredHolds = "expired_holds"

  /// How long a running server rests after each round of this kind.
  var pause: Duration {
    switch self {
    case .openOperations, .dueCaptures: .seconds(1)
    case .expiredHolds: .seconds(10)
    }
  }
}

extension PaymentGateway {
  /// Runs the rounds of every kind beside one another, at once and then again after each one's pause, until the task is
  /// cancelled.
  ///
  /// - Parameter report: receives the result of each round.
  package func keepRecovering(
    _ report: @escaping @Sendable (RecoveryRound, Result<RecoveryReport, any Error>) -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for round in RecoveryRound.allCases {
        group.addTask {
          while !Task.isCancelled {
            report(round, await outcome { try await recover(round) })
            do { try await scheduler.sleep(round.pause) } catch { return }
          }
        }
      }
    }
  }
}

/// The result of a round of recovery.
package struct RecoveryReport: Sendable, Hashable {
  /// Operations that have their answer now, and those that have not.
  package internal(set) var resolved = 0
  package internal(set) var open = 0
  /// Immediate captures and expired holds.
  package internal(set) var captures = 0
  package internal(set) var expiries = 0
  /// Payments with an alarm since this round.
  package internal(set) var alarms: [PaymentID] = []

  /// Whether there was anything to do.
  package var isEmpty: Bool { resolved + open + captures + expiries == 0 }

  mutating func add(_ other: RecoveryReport) {
    resolved += other.resolved
    open += other.open
    captures += other.captures
    expiries += other.expiries
    alarms += other.alarms
  }

  mutating func count(_ outcomes: [RecoveryOutcome]) {
    resolved += outcomes.count { $0.isResolved }
    open += outcomes.count { !$0.isResolved }
    alarms += outcomes.filter(\.raisedAlarm).map(\.payment.id)
  }
}

struct RecoveryOutcome: Sendable {
  let isResolved: Bool
  let payment: Payment
  var raisedAlarm = false
}

extension PaymentGateway {
  /// How long an operation that is leased now may be asked about: half of its lease, so that no request leaves when
  /// another process may hold the lease.
  func newHold() -> Deadline { .after(Journal.lease / 2, on: scheduler) }

  private func timeout(_ deadline: Deadline) -> Deadline { deadline.within(policy.inquiryTimeout) }

  /// 1, 2, 4 … 60 seconds, and up to half of it less, so that many do not ask in step.
  private func pause(after attempt: Attempt) -> Duration {
    let full = min(60_000, 1_000 << min(attempt.past?.tries ?? 0, 6))
    let byte = Int(random.next(1).first ?? 0)
    return .milliseconds(full - full * byte / 512)
  }

  /// How many of the follow-ups were begun. One that its payment cannot take any more is not counted.
  private func begin(_ followUps: [FollowUp], width: Int) async throws -> Int {
    let outcomes = await concurrently(followUps, width: width) { followUp in
      try await telemetry.begin(.recover) { activity in
        do { _ = try await perform(followUp) } catch GatewayError.operationRefused {
          activity.drop()
          return 0
        }
        return 1
      }
    }
    return try outcomes.reduce(0) { $0 + (try $1.get()) }
  }
}

extension AcquirerAnswer {
  /// A card that was to be verified, and no answer: no money can have moved, so the shopper may try again.
  static let verificationWithoutAnswer = AcquirerAnswer.notSent("the card was to be verified, and there is no answer")

  /// Whether the request under the same reference before this one may have been done all the same: this one was not
  /// sent, or refused because of our account before the acquirer looked at it.
  var saysNothingOfAnEarlierRequest: Bool {
    switch self {
    case .notSent: true
    case .declined(let decline): decline.declineClass == .configuration
    case .approved, .pending, .unknown: false
    }
  }

  var isFinal: Bool {
    switch self {
    case .approved, .declined, .notSent: true
    case .pending, .unknown: false
    }
  }
}
