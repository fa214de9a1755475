import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Voiding, refunding and taking in parts` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  @Test func `a part is released, and the rest is captured`() async throws {
    let payment = try await bench.authorized()
    #expect(try await bench.done(.void, .eur(250), payment).authorized == 1000)
    let after = try await bench.done(.capture, nil, payment)
    #expect(after.status == .captured)
    #expect(after.captured == 1000)
  }

  @Test func `a final capture releases the rest in one operation`() async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, .eur(800), isFinal: true, of: payment)
    #expect(capture.isFinal)
    await #expect(throws: JournalError.inFlight(available: .eur(0))) {
      try await bench.journal.reserve(.capture, .eur(1), of: payment)
    }
    let after = try await bench.journal.record(FakeAcquirer.approval(capture.reference), for: capture).payment
    #expect(after.status == .captured)
    #expect((after.authorized, after.captured) == (800, 800))
  }

  /// The acquirer would release what the first capture is about to take, if that has not arrived yet; and what it
  /// will not take, if it has declined it already.
  @Test func `a final capture waits for the capture that is in flight, or pending`() async throws {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.capture, .eur(100), of: payment)
    await #expect(throws: JournalError.mustWait(.capture, isFinal: true)) {
      try await bench.journal.reserve(.capture, .eur(200), isFinal: true, of: payment)
    }
    _ = try await bench.journal.record(.pending(Pending(acquirerReference: "B1")), for: first)
    await #expect(throws: JournalError.mustWait(.capture, isFinal: true)) {
      try await bench.journal.reserve(.capture, .eur(200), isFinal: true, of: payment)
    }
    _ = try await bench.journal.record(FakeAcquirer.approval(first.reference), for: first)
    let last = try await bench.journal.reserve(.capture, .eur(200), isFinal: true, of: payment)
    let after = try await bench.journal.record(FakeAcquirer.approval(last.reference), for: last).payment
    #expect((after.status, after.authorized, after.captured) == (.captured, 300, 300))
  }

  @Test func `a capture keeps its number, which counts declined captures and nothing else`() async throws {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.capture, .eur(100), of: payment)
    _ = try await bench.journal.record(.declined(Decline(reason: .other, code: "13")), for: first)
    _ = try await bench.done(.void, .eur(50), payment)
    let second = try await bench.journal.reserve(.capture, .eur(100), of: payment)
    #expect([first, second].map(\.captureNumber) == [1, 2])
    let void = try await bench.journal.reserve(.void, .eur(100), of: payment)
    #expect(void.captureNumber == nil)
  }

  @Test func `several refunds give back no more than was taken`() async throws {
    let payment = try await bench.authorized()
    _ = try await bench.done(.capture, nil, payment)
    #expect(try await bench.done(.refund, .eur(1000), payment).status == .partiallyRefunded)
    await #expect(throws: JournalError.exceeds(available: .eur(250))) {
      try await bench.journal.reserve(.refund, .eur(251), of: payment)
    }
    #expect(try await bench.done(.refund, nil, payment).status == .refunded)
  }

  @Test func `sixty-four refunds return no more than was captured`() async throws {
    let payment = try await bench.authorized()
    _ = try await bench.done(.capture, nil, payment)
    let bench = bench
    let given = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<64 {
        group.addTask {
          do {
            _ = try await bench.done(.refund, .eur(100), payment)
            return true
          } catch is JournalError { return false }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(given == 12)
    #expect(try await bench.journal.payment(payment)?.refunded == 1200)
  }

  @Test func `capture and void cannot both have the same money`() async throws {
    let payment = try await bench.authorized()
    _ = try await bench.journal.reserve(.capture, .eur(1000), of: payment)
    await #expect(throws: JournalError.inFlight(available: .eur(250))) {
      try await bench.journal.reserve(.void, .eur(1250), of: payment)
    }
    let void = try await bench.journal.reserve(.void, nil, of: payment)
    #expect(void.amount == .eur(250))
  }

  @Test func `the schema refuses a capture after failure was reported`() async throws {
    let payment = try await bench.authorized()
    await #expect(throws: StorageError.check(constraint: "nothing_taken_after_failure")) {
      try await bench.database.write { try $0.run("UPDATE payments SET reported_outcome = 'failure', captured = 1") }
    }
    #expect(try await bench.journal.markReported(payment, .failure).reportedOutcome == .failure)
    #expect(try await bench.journal.markReported(payment, .success).reportedOutcome == .failure)
    await #expect(throws: JournalError.notPossible(.capture, .authorized)) {
      try await bench.journal.reserve(.capture, nil, of: payment)
    }
  }
}

@Suite struct `The audit chain` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  private func history() async throws {
    let payment = try await bench.authorized()
    _ = try await bench.done(.capture, .eur(1000), payment)
    _ = try await bench.done(.refund, .eur(100), payment)
  }

  @Test func `is intact after an ordinary day`() async throws {
    try await history()
    let report = try await bench.journal.verifyAudit()
    #expect(report.isIntact, "\(report.violations)")
    #expect((report.entries, report.payments) == (6, 1))
  }

  @Test(arguments: [
    "UPDATE audit SET captured = 999 WHERE seq = 4", "DELETE FROM audit WHERE seq = 3",
    "DELETE FROM audit WHERE seq = 6", "UPDATE payments SET captured = 900",
    "UPDATE audit SET event = 'void approved' WHERE seq = 2", "DELETE FROM audit_heads",
  ])
  func `shows every damage`(damage: String) async throws {
    try await history()
    try await bench.database.write { try $0.run(damage) }
    #expect(try await !bench.journal.verifyAudit().isIntact)
  }
}

@Suite struct `A provider's event` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  private func event(
    _ id: String, _ attempt: Attempt, _ outcome: ProviderEvent.Outcome? = nil, amount: Amount? = nil,
    connector: String = "sandbox"
  ) -> ProviderEvent {
    ProviderEvent(
      route: connector, id: id, reference: attempt.reference, amount: amount ?? attempt.amount,
      outcome: outcome ?? .approved(Approval(acquirerReference: "P-1")))
  }

  private var no: ProviderEvent.Outcome { .declined(Decline(reason: .doNotHonor, code: "05")) }

  @Test func `resolves a pending operation, once`() async throws {
    let attempt = try await bench.attempt()
    _ = try await bench.journal.record(.pending(Pending(acquirerReference: "P-1")), for: attempt)
    guard case .applied(let payment) = try await bench.journal.receive(event("e1", attempt)) else { throw Unexpected() }
    #expect(payment.status == .authorized)
    #expect(try await bench.journal.receive(event("e1", attempt)) == .known)
    #expect(try await bench.journal.receive(event("e2", attempt)) == .known)
  }

  @Test func `that comes before the answer wins, and the answer finds it done`() async throws {
    let attempt = try await bench.attempt()
    _ = try await bench.journal.receive(event("e1", attempt))
    let late = try await bench.journal.record(.unknown(Interruption(.timeout)), for: attempt).payment
    #expect(late.status == .authorized)
  }

  @Test func `about another amount changes nothing, and calls a person`() async throws {
    let attempt = try await bench.attempt()
    let verdict = try await bench.journal.receive(event("e1", attempt, amount: .eur(1)))
    #expect(verdict == .contradicted("event_amount_mismatch"))
    #expect(try await bench.journal.payment(attempt.payment)?.status == .authorizing)
    #expect(try await bench.journal.alarms().map(\.reason) == ["event_amount_mismatch"])
  }

  @Test func `about nothing of ours, or through another connector, is refused`() async throws {
    let attempt = try await bench.attempt()
    #expect(try await bench.journal.receive(event("e1", attempt, connector: "other")) == .refused("another_connector"))
    let unknown = ProviderEvent(
      route: "sandbox", id: "e2", reference: AttemptReference("unknown"), amount: .eur(1), outcome: no)
    #expect(try await bench.journal.receive(unknown) == .refused("unknown_reference"))
  }

  @Test func `that a capture failed after all holds the money again`() async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(FakeAcquirer.approval(capture.reference), for: capture)
    guard case .applied(let after) = try await bench.journal.receive(event("e1", capture, no)) else {
      throw Unexpected()
    }
    #expect(after.status == .authorized)
    #expect(after.captured == 0)
    #expect(try await bench.journal.operations(of: payment).first { $0.kind == .capture }?.state == .returned)
    #expect(try await bench.journal.alarms().map(\.reason) == ["capture_returned"])
    bench.clock.advance(.seconds(86_400 * 7))
    #expect(try await bench.journal.expiredHolds(10, through: ["sandbox"]) == [payment])
    let before = bench.clock.wall.now().adding(.seconds(-1))
    #expect(try await bench.journal.expiredHolds(10, through: ["sandbox"], by: before).isEmpty)
  }

  /// Events carry no order: the one that a capture came back may overtake the one that it was done.
  @Test func `that a capture came back counts also before the event that it was done`() async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(.pending(Pending(acquirerReference: "P-2")), for: capture)
    let returned = ProviderEvent.Outcome.returned(Decline(reason: .other, code: "93"))
    guard case .applied(let after) = try await bench.journal.receive(event("e1", capture, returned)) else {
      throw Unexpected()
    }
    #expect(after.status == .authorized && after.captured == 0)
    #expect(try await bench.journal.receive(event("e2", capture)) == .known)
    #expect(try await bench.journal.receive(event("e3", capture, returned)) == .known)
    #expect(try await bench.journal.payment(payment)?.captured == 0)
    #expect(try await bench.journal.operations(of: payment).first { $0.kind == .capture }?.state == .returned)
  }

  @Test func `that a capture came back counts also after it was recorded as declined or failed`() async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(.notSent("refused"), for: capture)
    let returned = ProviderEvent.Outcome.returned(Decline(reason: .other, code: "93"))
    #expect(try await bench.journal.receive(event("e1", capture, returned)) == .known)
    #expect(try await bench.journal.receive(event("e2", capture)) == .known)
    #expect(try await bench.journal.payment(payment)?.captured == 0)
  }

  @Test func `that a capture is done, after it was seen to be done and came back, calls a person`() async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(FakeAcquirer.approval(capture.reference), for: capture)
    let returned = ProviderEvent.Outcome.returned(Decline(reason: .other, code: "93"))
    _ = try await bench.journal.receive(event("e1", capture, returned))
    #expect(
      try await bench.journal.receive(event("e2", capture)) == .contradicted("event_contradicts_returned"))
  }

  /// Whether the acquirer took the last one before or after the first came back is not to be seen from its answers.
  @Test(arguments: [true, false])
  func `that a capture failed beside a final one releases its money, whichever event comes first`(
    _ returnsFirst: Bool
  ) async throws {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.capture, .eur(300), of: payment)
    _ = try await bench.journal.record(FakeAcquirer.approval(first.reference), for: first)
    let last = try await bench.journal.reserve(.capture, .eur(500), isFinal: true, of: payment)
    if returnsFirst { _ = try await bench.journal.receive(event("e1", first, no)) }
    _ = try await bench.journal.record(FakeAcquirer.approval(last.reference), for: last)
    if !returnsFirst { _ = try await bench.journal.receive(event("e1", first, no)) }
    let after = try #require(try await bench.journal.payment(payment))
    #expect((after.status, after.authorized, after.captured) == (.captured, 500, 500))

    guard case .applied(let again) = try await bench.journal.receive(event("e2", last, no)) else { throw Unexpected() }
    #expect((again.status, again.authorized, again.captured) == (.authorized, 1250, 0))
  }

  @Test(arguments: [
    AcquirerAnswer.declined(Decline(reason: .issuerUnavailable, code: "91")), .notSent("nothing of it left"),
  ])
  func `that a capture, void or refund was done after all is posted`(answer: AcquirerAnswer) async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, .eur(1000), of: payment)
    let void = try await bench.journal.reserve(.void, .eur(100), of: payment)
    for attempt in [capture, void] { _ = try await bench.journal.record(answer, for: attempt) }
    for attempt in [capture, void] {
      guard case .applied = try await bench.journal.receive(event("late \(attempt.kind)", attempt)) else {
        throw Unexpected()
      }
    }
    let refund = try await bench.journal.reserve(.refund, .eur(300), of: payment)
    _ = try await bench.journal.record(answer, for: refund)
    guard case .applied(let after) = try await bench.journal.receive(event("late refund", refund)) else {
      throw Unexpected()
    }
    #expect((after.authorized, after.captured, after.refunded) == (1150, 1000, 300))
    #expect(try await bench.journal.operations(of: payment).allSatisfy { $0.state == .approved })
    #expect(try await bench.journal.receive(event("again", refund)) == .known)
    #expect(try await bench.journal.alarms().isEmpty)
    let audit = try await bench.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
  }

  @Test func `that a capture was done after all waits for the capture that is under way`() async throws {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(.declined(Decline(reason: .issuerUnavailable, code: "91")), for: first)
    let second = try await bench.journal.reserve(.capture, nil, of: payment)
    #expect(try await bench.journal.receive(event("e1", first)) == .early("capture_approved_late"))
    _ = try await bench.journal.record(.declined(Decline(reason: .configuration, code: "13")), for: second)
    guard case .applied(let after) = try await bench.journal.receive(event("e1", first)) else { throw Unexpected() }
    #expect((after.status, after.captured) == (.captured, 1250))
  }

  @Test func `that a capture was returned waits for the event that it was done after all`() async throws {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(.declined(Decline(reason: .issuerUnavailable, code: "91")), for: first)
    let second = try await bench.journal.reserve(.capture, nil, of: payment)
    #expect(try await bench.journal.receive(event("e1", first)) == .early("capture_approved_late"))
    #expect(try await bench.journal.receive(event("e2", first, no)) == .early("capture_approved_late"))
    _ = try await bench.journal.record(.declined(Decline(reason: .configuration, code: "13")), for: second)
    #expect(try await bench.journal.receive(event("e2", first, no)) == .early("capture_approved_late"))
    guard case .applied = try await bench.journal.receive(event("e1", first)) else { throw Unexpected() }
    guard case .applied(let after) = try await bench.journal.receive(event("e2", first, no)) else {
      throw Unexpected()
    }
    #expect((after.status, after.authorized, after.captured) == (.authorized, 1250, 0))
    let audit = try await bench.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
  }

  @Test func `that a capture was done after all calls a person where the balances do not allow it`() async throws {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(.declined(Decline(reason: .issuerUnavailable, code: "91")), for: first)
    _ = try await bench.done(.void, nil, payment)
    #expect(try await bench.journal.receive(event("e1", first)) == .contradicted("capture_approved_late"))
    #expect(try await bench.journal.alarms().map(\.reason) == ["capture_approved_late"])
    #expect(try await bench.journal.payment(payment)?.status == .voided)

    let approved = try await bench.journal.recordApproval(
      of: first.reference, in: payment, note: "in the bank's report of Monday")
    #expect((approved.status, approved.authorized, approved.captured) == (.captured, 1250, 1250))
    #expect(try await bench.journal.alarms().isEmpty)
    let audit = try await bench.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
  }

  @Test func `that a refund came back takes back that refund alone, however often it comes`() async throws {
    let payment = try await bench.authorized()
    _ = try await bench.done(.capture, .eur(1000), payment)
    _ = try await bench.done(.refund, .eur(400), payment)
    let authorization = try #require(try await bench.journal.operations(of: payment).first).reference
    func moved(_ id: String, _ movement: MoneyMovement) async throws -> InboxVerdict {
      try await bench.journal.receive(
        ProviderEvent(
          route: "sandbox", id: id, reference: authorization, amount: .eur(400),
          outcome: .moved(movement, name: "R-1")))
    }
    for (id, movement, left) in [("e1", MoneyMovement.refund, 800), ("e2", .refundReturned, 400)] {
      guard case .applied(let after) = try await moved(id, movement) else { throw Unexpected() }
      #expect(after.refunded == left)
    }
    #expect(try await moved("e3", .refundReturned) == .known)
    #expect(try await bench.journal.payment(payment)?.refunded == 400)
  }

  @Test func `that a void was done after all says nothing new when nothing is held any more`() async throws {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.void, nil, of: payment)
    _ = try await bench.journal.record(.declined(Decline(reason: .issuerUnavailable, code: "91")), for: first)
    _ = try await bench.done(.void, nil, payment)
    #expect(try await bench.journal.receive(event("e1", first)) == .known)
    #expect(try await bench.journal.alarms().isEmpty)
  }

  @Test func `an operator records no more than the payment's amount, nothing twice, and no order's second payment`()
    async throws
  {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(.declined(Decline(reason: .issuerUnavailable, code: "91")), for: first)
    let done = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(FakeAcquirer.approval(done.reference), for: done)
    await #expect(throws: JournalError.exceeds(available: .eur(0))) {
      try await bench.journal.recordApproval(of: first.reference, in: payment, note: "twice")
    }
    await #expect(throws: JournalError.noSuchOperation(done.reference)) {
      try await bench.journal.recordApproval(of: done.reference, in: payment, note: "it is approved")
    }

    let other = try await bench.attempt(.sample("order-2"), token: 2)
    _ = try await bench.journal.record(FakeAcquirer.approval(other.reference), for: other)
    let lost = try await bench.journal.reserve(.capture, nil, of: other.payment)
    _ = try await bench.journal.record(.declined(Decline(reason: .issuerUnavailable, code: "91")), for: lost)
    _ = try await bench.done(.void, nil, other.payment)
    let next = try await bench.attempt(.sample("order-2"), token: 3)
    _ = try await bench.journal.record(FakeAcquirer.approval(next.reference), for: next)
    await #expect(throws: JournalError.notPossible(.capture, .voided)) {
      try await bench.journal.recordApproval(
        of: lost.reference, in: other.payment, note: "the order is paid with another card")
    }
  }

  @Test func `that a capture failed waits while a refund of it is under way`() async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(.approved(Approval(acquirerReference: "C-1")), for: capture)
    let refund = try await bench.journal.reserve(.refund, nil, of: payment)
    let late = event("e1", capture, no)
    #expect(try await bench.journal.receive(late) == .early("returned_after_refund"))
    #expect(try await bench.journal.alarms().isEmpty)
    _ = try await bench.journal.record(.declined(Decline(reason: .other, code: "13")), for: refund)
    guard case .applied(let after) = try await bench.journal.receive(late) else { throw Unexpected() }
    #expect(after.captured == 0)
  }

  @Test func `that a capture failed waits while another may have taken what was refunded`() async throws {
    let payment = try await bench.authorized()
    let unheard = try await bench.journal.reserve(.capture, .eur(800), of: payment)
    let second = try await bench.journal.reserve(.capture, .eur(400), of: payment)
    let recorded = try await bench.journal.record(FakeAcquirer.approval(second.reference), for: second).payment
    _ = try await bench.done(.refund, .eur(300), payment)
    let late = event("e1", second, no)
    #expect(try await bench.journal.receive(late) == .early("returned_after_refund"))
    _ = try await bench.journal.record(FakeAcquirer.approval(unheard.reference), for: unheard)
    guard case .applied(let after) = try await bench.journal.receive(late) else { throw Unexpected() }
    #expect((recorded.captured, after.captured, after.refunded) == (400, 800, 300))
  }

  @Test func `that a capture failed waits for the refund that came back before it, and calls a person`() async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(FakeAcquirer.approval(capture.reference), for: capture)
    let refund = try await bench.journal.reserve(.refund, .eur(300), of: payment)
    _ = try await bench.journal.record(FakeAcquirer.approval(refund.reference), for: refund)
    #expect(try await bench.journal.receive(event("e1", capture, no)) == .early("returned_after_refund"))
    #expect(try await bench.journal.alarms().map(\.reason) == ["returned_after_refund"])
    _ = try await bench.journal.receive(event("e2", refund, no))
    guard case .applied(let after) = try await bench.journal.receive(event("e1", capture, no)) else {
      throw Unexpected()
    }
    #expect((after.status, after.captured, after.refunded) == (.authorized, 0, 0))
    #expect(try await bench.journal.verifyAudit().isIntact)
  }

  @Test(arguments: [OperationKind.capture, .void])
  func `that a capture failed frees money for another, and the refusal of that is in the audit chain's table`(
    _ kind: OperationKind
  ) async throws {
    let payment = try await bench.authorized()
    let first = try await bench.journal.reserve(.capture, .eur(200), of: payment)
    _ = try await bench.journal.record(FakeAcquirer.approval(first.reference), for: first)
    let last = try await bench.journal.reserve(.capture, .eur(500), isFinal: true, of: payment)
    _ = try await bench.journal.receive(event("e1", first, no))
    let other = try await bench.journal.reserve(kind, .eur(100), of: payment)
    _ = try await bench.journal.record(FakeAcquirer.approval(last.reference), for: last)
    let refusal = AcquirerAnswer.declined(Decline(reason: .other, code: "13"))
    let after = try await bench.journal.record(refusal, for: other).payment
    #expect((after.status, after.authorized, after.captured) == (.captured, 500, 500))
    #expect(try await bench.journal.verifyAudit().violations == [])
  }

  @Test func `that a pending capture failed sets its money free`() async throws {
    let payment = try await bench.authorized()
    let capture = try await bench.journal.reserve(.capture, nil, of: payment)
    _ = try await bench.journal.record(.pending(Pending(acquirerReference: "P-2")), for: capture)
    _ = try await bench.journal.receive(event("e1", capture, no))
    #expect(try await bench.done(.capture, nil, payment).status == .captured)
  }

  @Test func `that approves what was declined is not taken, and a reversal is owed`() async throws {
    let attempt = try await bench.attempt()
    _ = try await bench.journal.record(.declined(Decline(reason: .doNotHonor, code: "05")), for: attempt)
    #expect(try await bench.journal.receive(event("e1", attempt)) == .contradicted("held_after_end"))
    let owed = try await bench.journal.leaseDueOperations(10)
    #expect(owed.map(\.kind) == [.reverse])
    #expect(owed.first?.target == attempt.reference)
  }
}

@Suite struct `Idempotency keys` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  private func call(_ hash: String = "h1") -> IdempotentCall {
    IdempotentCall(
      merchant: "shop", call: "POST /v2/shop/payments", key: IdempotencyKey("k"), requestHash: hash)
  }

  /// Claims an order, and the key in the same commit.
  private func begun(_ order: Order = .sample(), token: Int = 1) async throws -> Attempt {
    let (call, journal) = (call(), bench.journal)
    return try await journal.database.write { store in
      let attempt = try journal.claim(order, spending: .sample(token), card: .sample, in: store)
      try IdempotencyKeys.begin(call, attempt.reference, of: attempt.payment, in: store)
      return attempt
    }
  }

  @Test func `a second call runs into the first, and nothing of it is written`() async throws {
    _ = try await begun()
    await #expect(throws: KeyTaken(status: .running)) { try await begun(.sample("order-2"), token: 2) }
    #expect(try await bench.journal.payments().count == 1)
  }

  @Test func `a key names its operation once its call is over, and another request is distinguished`() async throws {
    let (attempt, call, journal) = (try await begun(), call(), bench.journal)
    #expect(try await journal.status(of: call) == .running)
    try await journal.database.write { store in
      try IdempotencyKeys.release(call, in: store)
      _ = try journal.record(FakeAcquirer.approval(attempt.reference), for: attempt, in: store)
    }
    try await expectOver(attempt)
  }

  /// The key's call is over, and the key names its operation.
  private func expectOver(_ attempt: Attempt) async throws {
    for (hash, isSame) in [("h1", true), ("h2", false)] {
      let status = try await bench.journal.status(of: call(hash))
      guard case .over(let first, sameRequest: isSame) = status else {
        Issue.record("\(status)")
        return
      }
      #expect(first.operation == attempt.reference && first.payment == attempt.payment)
    }
  }

  @Test func `a key whose process died says where its answer is`() async throws {
    let attempt = try await begun()
    bench.clock.advance(Journal.lease)
    try await expectOver(attempt)
  }

  @Test func `a key is forgotten after a week, and known until it is`() async throws {
    let attempt = try await begun()
    bench.clock.advance(IdempotencyKeys.memory)
    try await expectOver(attempt)
    try await bench.journal.forgetKeys(100, by: bench.clock.wall.now().adding(.seconds(-1)))
    #expect(try await bench.journal.status(of: call()) != .new)
    try await bench.journal.forgetKeys(100)
    #expect(try await bench.journal.status(of: call()) == .new)
    let left = try await bench.database.read { try $0.row("SELECT count(*) AS n FROM idempotency")?.integer("n") }
    #expect(left == 0)
  }
}
