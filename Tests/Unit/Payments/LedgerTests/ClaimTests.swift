import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Claiming an order` {
  let files: TemporaryStore
  let database: Database
  let journal: Journal

  init() async throws {
    files = try TemporaryStore()
    database = try await files.open(Journal.migrations)
    journal = Journal(database, random: .seeded(1))
  }

  private func claim(_ order: String = "order-1", token: Int) async throws -> Claim {
    try await journal.claim(.sample(order), spending: .sample(token), card: .sample)
  }

  private func attempt(_ order: String = "order-1", token: Int) async throws -> Attempt {
    guard case .new(let attempt) = try await claim(order, token: token) else { throw Unexpected() }
    return attempt
  }

  /// Sixty-four claims at once; how many were new.
  private func race(_ claim: @escaping @Sendable (Int) async throws -> Claim) async throws -> Int {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<64 {
        group.addTask { if case .new = try await claim(number) { true } else { false } }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }

  @Test func `sixty-four payment tokens for one order make one attempt`() async throws {
    let new = try await race { try await claim(token: $0) }
    #expect(new == 1)
    #expect(try await journal.payments().count == 1)
  }

  @Test func `the race is lost without the schema's guard, so the race is a test`() async throws {
    try await database.write { try $0.run("DROP INDEX payments_one_live_per_order") }
    let new = try await race { try await claim(token: $0) }
    #expect(new > 1)
  }

  @Test func `one payment token for sixty-four orders makes one attempt`() async throws {
    let new = try await race { try await claim("order-\($0)", token: 7) }
    #expect(new == 1)
  }

  @Test func `either fingerprint alone recognises a payment token`() async throws {
    _ = try await attempt("order-1", token: 1)
    let known = TokenUse.sample(1)
    for use in [
      TokenUse(transactionID: known.transactionID, payloadHash: "other"),
      TokenUse(transactionID: "other", payloadHash: known.payloadHash),
    ] {
      let claim = try await journal.claim(.sample("order-2"), spending: use, card: .sample)
      #expect(claim == .tokenReused)
    }
  }

  @Test func `a second payment token waits for the first, and gets its answer`() async throws {
    let attempt = try await attempt(token: 1)
    guard case .running(let running) = try await claim(token: 2) else { throw Unexpected() }
    #expect(running.status == .authorizing)
    let payment = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment
    #expect(try await claim(token: 2) == .known(payment))
  }

  @Test func `after a decline the same payment token gets the decline, and another one pays`() async throws {
    let first = try await attempt(token: 1)
    let declined = try await journal.record(
      .declined(Decline(reason: .insufficientFunds, code: "51")), for: first
    ).payment
    #expect(declined.decline?.code == "51")
    #expect(try await claim(token: 1) == .known(declined))
    let second = try await attempt(token: 2)
    _ = try await journal.record(FakeAcquirer.approval(second.reference), for: second)
    #expect(try await journal.payment(of: OrderID("order-1"))?.status == .authorized)
  }

  @Test func `an open outcome reserves the order`() async throws {
    let attempt = try await attempt(token: 1)
    _ = try await journal.record(.unknown(Interruption(.timeout)), for: attempt)
    guard case .running(let payment) = try await claim(token: 2) else { throw Unexpected() }
    #expect(payment.status == .unknown)
    #expect(try await journal.payment(payment.id)?.reportedOutcome == .pending)
    #expect(
      try await journal.openOutcomes().payments.mapValues(\.count) == [.authorizing: 0, .pending: 0, .unknown: 1])
  }

  @Test func `what was never sent sets the order free`() async throws {
    let attempt = try await attempt(token: 1)
    #expect(try await journal.record(.notSent("connection refused"), for: attempt).payment.status == .failed)
    _ = try await self.attempt(token: 2)
  }

  @Test func `when the owner of the order refuses, nothing was written`() async throws {
    struct Cancelled: Error {}
    await #expect(throws: Cancelled.self) {
      try await database.write { store in
        _ = try journal.claim(.sample(), spending: .sample(1), card: .sample, in: store)
        throw Cancelled()
      }
    }
    #expect(try await journal.payments().isEmpty)
    _ = try await attempt(token: 1)
  }

  @Test func `what its caller writes is in the same commit`() async throws {
    let basket = Order.sample().basket
    let before = try await database.read { try Journal.hasAttempt(for: basket, in: $0) }
    let during = try await database.write { store in
      _ = try journal.claim(.sample(), spending: .sample(1), card: .sample, in: store)
      return try Journal.hasAttempt(for: basket, in: store)
    }
    #expect(during)
    #expect(!before)
    #expect(try await journal.payment(of: basket)?.status == .authorizing)
  }

  @Test func `an attempt outlives the process that made it`() async throws {
    let attempt = try await attempt(token: 1)
    await database.close()
    let reopened = Journal(try await files.open(Journal.migrations))
    let operations = try await reopened.operations(of: attempt.payment)
    #expect(operations.map(\.state) == [.sending])
    #expect(operations.map(\.reference) == [attempt.reference])
  }
}

struct Unexpected: Error {}
