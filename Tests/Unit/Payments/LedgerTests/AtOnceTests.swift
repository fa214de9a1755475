import Foundation
import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Sixty-four at two processes` {
  @Test(arguments: StoreEngineUnderTest.present)
  func `who claim one order while its payments are declined are never told that a fresh payment token was used`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    // Between a statement and the next one another process settles what was in the way.
    if engine == .postgres { try await store.pauseAfterInserts(into: "payments") }
    let claims = try await store.atOnce { number, journal in
      let claim = try await journal.claim(.sample(), spending: .sample(number), card: .sample)
      guard case .new(let attempt) = claim else { return claim }
      let decline = AcquirerAnswer.declined(Decline(reason: .insufficientFunds, code: "51"))
      _ = try await journal.record(decline, for: attempt)
      return claim
    }
    #expect(!claims.contains(.tokenReused))
    for case .known(let payment) in claims { Issue.record("\(payment.status) is not in the way") }
    let new = claims.count { if case .new = $0 { true } else { false } }
    #expect(new >= 1)
    #expect(try await store.journal(0).payments(matching: PaymentQuery(limit: 100)).count == new)
  }

  @Test(.enabled(if: PostgresUnderTest.isPresent))
  func `who claim an order begin its next payment when the one in their way is declined between two statements`()
    async throws
  {
    let store = try await SharedStore(.postgres)
    let first = try await store.journal(0).claim(.sample(), spending: .sample(100), card: .sample)
    guard case .new(let attempt) = first else { throw Unexpected() }
    let gate = try await StatementGate(store.place)
    let rival = Journal(gate.database)
    let claim = try await gate.stopping("AFTER INSERT ON payments") {
      let claim = Task { try await rival.claim(.sample(), spending: .sample(1), card: .sample) }
      try await gate.untilStopped(1)
      let decline = AcquirerAnswer.declined(Decline(reason: .insufficientFunds, code: "51"))
      _ = try await store.journal(0).record(decline, for: attempt)
      return claim
    }
    let outcome = try await claim.value
    guard case .new = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test(arguments: StoreEngineUnderTest.present) func `post what a provider's events all say once`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    let payment = try await store.authorized(1)
    let capture = try await store.journal(0).reserve(.capture, of: payment)
    let verdicts = try await store.atOnce { number, journal in
      try await journal.receive(
        ProviderEvent(
          route: "sandbox", id: "event-\(number)", reference: capture.reference, amount: capture.amount,
          outcome: .approved(Approval(acquirerReference: "P-1"))))
    }
    #expect(verdicts.count { if case .applied = $0 { true } else { false } } == 1)
    #expect(verdicts.count { $0 == .known } == 63)
    let after = try #require(try await store.journal(1).payment(payment))
    #expect((after.status, after.captured) == (.captured, after.amount.minorUnits))
    #expect(try await store.journal(0).verifyAudit().isIntact)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `adopt what a provider lists, and its event says, once`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    let payment = try await store.authorized(1)
    let hold = try #require(try await store.journal(0).operations(of: payment).first?.reference)
    try await store.journal(0).database.write { transaction in
      let past = transaction.now.adding(.seconds(-60))
      _ = try RestoredStore.begin("backup", lostFrom: past, routes: [], in: transaction)
      try transaction.run("UPDATE payments SET created_at = 1")
    }
    let listed = ListedOperation(
      reference: AttemptReference("ch_1"), kind: .capture, amount: .eur(400), time: WallClock.system.now(),
      authorization: hold,
      name: "ch_1")
    let event = ProviderEvent(
      route: "sandbox", id: "e1", reference: hold, amount: .eur(400), outcome: .moved(.capture, name: "ch_1"))
    let moved = try await store.atOnce { number, journal in
      let journal = try await journal.readingRestore()
      guard number % 4 != 0 else {
        if case .applied = try await journal.receive(event) { return true }
        return false
      }
      return try await journal.adopt([listed], through: "sandbox", merchant: "shop") == [.adopted(payment)]
    }
    #expect(moved.count { $0 } == 1)
    #expect(try await store.journal(1).payment(payment)?.captured == 400)
    #expect(try await store.journal(0).verifyAudit().isIntact)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `acquire the lease of each open operation once`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    // A lease does not end while the test runs.
    let store = try await SharedStore(engine, clock: ManualClock().wall)
    _ = try await store.atOnce { number, journal in
      _ = try await journal.claim(.sample("order-\(number)"), spending: .sample(number), card: .sample)
    }
    #expect(try await store.journal(0).leaseDueOperations(64).isEmpty)
    try await store.journal(0).database.write { try $0.run("UPDATE operations SET lease_until = 0, next_try = 0") }
    var leased: [Attempt] = []
    for _ in 0..<4 {
      leased += try await store.atOnce { _, journal in try await journal.leaseDueOperations(4) }.flatMap { $0 }
    }
    #expect(leased.count == 64 && Set(leased.map(\.reference)).count == 64)
  }

  @Test(arguments: StoreEngineUnderTest.present, [DueWork.capture, .endOfHold(by: Timestamp(seconds: 2))])
  func `begin what is due once`(_ engine: StoreEngineUnderTest, _ due: DueWork) async throws {
    let store = try await SharedStore(engine)
    let payment = try await store.authorized(1)
    try await store.journal(0).database.write { try $0.run("UPDATE payments SET capture_due = 1, hold_until = 1") }
    let asked = Counter()
    let taken = try await store.atOnce { _, journal in
      try await journal.database.write { transaction in
        let isTaken = try journal.take(due, of: payment, in: transaction)
        asked.next()
        guard isTaken else { return false }
        // The others ask meanwhile.
        while engine == .postgres, asked.value < 64, !TestRun.isOver { usleep(1_000) }
        let (kind, cause): (OperationKind, OperationCause) = due == .capture ? (.capture, .order) : (.void, .expiry)
        _ = try journal.reserve(kind, of: payment, cause: cause, in: transaction)
        return true
      }
    }
    #expect(taken.filter { $0 }.count == 1)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `forget old idempotency keys side by side`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    try await store.journal(0).database.write { transaction in
      for number in 0..<160 {
        try transaction.run(
          """
          INSERT INTO idempotency (merchant, call, key, request_hash, subject, operation, lease_until, created_at,
            expires_at)
          VALUES ('shop', 'capture', $1, '', '', '', 0, 0, $2)
          """, .text("key-\(number)"), .integer(number < 128 ? 1 : .max))
      }
    }
    // Each forgets others than those that it would wait for.
    if engine == .postgres { try await store.pauseAfterDeletes(from: "idempotency") }
    _ = try await store.atOnce { _, journal in try await journal.forgetKeys(4) }
    let left = try await store.journal(1).database.read { try $0.rows("SELECT key FROM idempotency") }
    #expect(left.count == 32)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `keep the newest state of a processing key`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    _ = try await store.atOnce { number, journal in
      let moment = (number * 37) % 64
      try await ProcessingKeyStore(journal.database).write(
        .init(
          owner: "harbour", publicKeyHash: "hash", version: .ecV1, state: moment == 63 ? "retired" : "draining",
          since: Timestamp(seconds: Int64(moment)), lastUsed: nil))
    }
    let records = try await ProcessingKeyStore(store.journal(0).database).records()
    #expect(records.map(\.state) == ["retired"] && records.map(\.since) == [Timestamp(seconds: 63)])
  }

  @Test(arguments: StoreEngineUnderTest.present) func `report a signer that none has seen once`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    let isNew = try await store.atOnce { _, journal in
      try await ProcessingKeyStore(journal.database).write(observedSignature: "signer", "5f1d", "a name")
    }
    #expect(isNew.filter { $0 }.count == 1)
  }
}
