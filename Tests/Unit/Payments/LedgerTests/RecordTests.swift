import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

private enum RecordedAnswers {
  static let all: [AcquirerAnswer] = [
    .approved(Approval(acquirerReference: "A1", authorizationCode: "A1B2C3")),
    .declined(Decline(reason: .insufficientFunds, code: "51")), .pending(Pending(acquirerReference: "P1")),
    .unknown(Interruption(.timeout)), .notSent("connection refused"),
  ]
}

@Suite struct `Recording an answer` {
  private let bench: Bench
  private var journal: Journal { bench.journal }

  init() async throws { bench = try await Bench() }

  private func attempt(_ order: String = "order-1", token: Int = 1) async throws -> Attempt {
    try await bench.attempt(.sample(order), token: token)
  }

  @Test func `the first answer stands`() async throws {
    let attempt = try await attempt()
    let payment = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment
    let late = try await journal.record(.declined(Decline(reason: .other, code: "05")), for: attempt).payment
    #expect(late == payment)
    #expect(payment.authorized == 1250)
    #expect(payment.authorizationCode == "A1B2C3")
  }

  @Test(arguments: RecordedAnswers.all) func `what is recorded is what is read afterwards`(
    _ answer: AcquirerAnswer
  ) async throws {
    let attempt = try await attempt()
    let recorded = try await journal.record(answer, for: attempt)
    #expect(try await journal.outcome(of: attempt.reference) == recorded)
  }

  @Test func `what is recorded of each kind of operation is what is read afterwards`() async throws {
    let payment = try await bench.authorized()
    for (kind, amount) in [(OperationKind.capture, Amount.eur(500)), (.void, .eur(750)), (.refund, .eur(200))] {
      let attempt = try await journal.reserve(kind, amount, of: payment)
      let recorded = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
      #expect(try await journal.outcome(of: attempt.reference) == recorded && recorded.operation.state == .approved)
    }
  }

  @Test func `an answer to a former holder is dropped`() async throws {
    let attempt = try await attempt()
    #expect(try await journal.leaseOpenOperation(of: attempt.payment) == nil)
    bench.clock.advance(Journal.lease)
    let successor = try #require(try await journal.leaseOpenOperation(of: attempt.payment))
    #expect(successor.reference == attempt.reference)
    #expect(
      try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment.status == .authorizing)
    #expect(
      try await journal.record(FakeAcquirer.approval(attempt.reference), for: successor).payment.status == .authorized)
  }

  @Test func `a pending answer may be resolved at once, by one process at a time`() async throws {
    let attempt = try await attempt()
    let payment = try await journal.record(.pending(Pending(acquirerReference: "P1")), for: attempt).payment
    #expect(payment.status == .pending)
    let first = try #require(try await journal.leaseOpenOperation(of: payment.id))
    #expect(try await journal.leaseOpenOperation(of: payment.id) == nil)
    try await journal.release(first)
    let second = try #require(try await journal.leaseOpenOperation(of: payment.id))
    _ = try await journal.record(FakeAcquirer.approval(attempt.reference), for: second)
    #expect(try await journal.payment(payment.id)?.reportedOutcome == .success)
  }

  @Test func `the schema refuses more than was authorized, and more than was captured`() async throws {
    let attempt = try await attempt()
    _ = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
    for (balances, guardian) in [
      ("captured = 1251", "captured_within_authorized"),
      ("captured = 1000, reserved_capture = 251", "captured_within_authorized"),
      ("captured = 100, refunded = 101", "refunded_within_captured"),
      ("captured = 100, refunded = 50, charged_back = 51", "refunded_within_captured"),
      ("captured = 100, refunded = 50, reserved_refund = 51", "refunded_within_captured"),
      ("authorized = 1251", "authorized_within_amount"), ("captured = -1", "captured >= 0"),
    ] {
      let error = await #expect(throws: StorageError.self, "\(balances)") {
        try await bench.database.write { try $0.run("UPDATE payments SET \(balances)") }
      }
      // A constraint without a name has one that PostgreSQL gave it.
      let names = [guardian, "payments_captured_check"]
      #expect(names.map(StorageError.check).contains(error), "\(balances)")
    }
  }

  @Test func `the schema refuses an operation and an event of a payment that does not exist`() async throws {
    _ = try await attempt()
    for table in ["operations", "outbox"] {
      await #expect(throws: StorageError.foreignKey, "\(table)") {
        try await bench.database.write { try $0.run("UPDATE \(table) SET payment = 'unknown'") }
      }
    }
  }

  @Test func `sixty-four captures take no more than was held`() async throws {
    let attempt = try await attempt()
    _ = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
    let reserved = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<64 {
        group.addTask {
          do {
            let capture = try await journal.reserve(.capture, .eur(100), of: attempt.payment)
            _ = try await journal.record(FakeAcquirer.approval(capture.reference), for: capture)
            return true
          } catch is JournalError { return false }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(reserved == 12)
    #expect(try await journal.payment(attempt.payment)?.captured == 1200)
  }

  @Test func `every change is in the outbox, numbered without gaps`() async throws {
    let attempt = try await attempt()
    _ = try await journal.record(.unknown(Interruption(.timeout)), for: attempt)
    let again = try #require(try await journal.leaseOpenOperation(of: attempt.payment))
    _ = try await journal.record(FakeAcquirer.approval(attempt.reference), for: again)
    let capture = try await journal.reserve(.capture, nil, of: attempt.payment)
    _ = try await journal.record(FakeAcquirer.approval(capture.reference), for: capture)
    let events = try await bench.database.read { try $0.rows("SELECT seq, status FROM outbox ORDER BY seq") }
    #expect(try events.map { try $0.integer("seq") } == [1, 2, 3, 4])
    #expect(
      try events.map { try $0.text("status") } == ["authorizing", "unknown", "authorized", "captured"])
  }

  @Test func `an event waits for those alone who are set up to take it`() async throws {
    let alone = Journal(bench.database, random: .seeded(4), consumers: [.webhooks])
    guard case .new = try await alone.claim(.sample("alone"), spending: .sample(9), card: .sample) else {
      throw Unexpected()
    }
    #expect(try await taken(for: .mail).isEmpty)
    #expect(try await taken(for: .webhooks) == [1])
    let both = try await attempt()
    #expect(try await taken(for: .mail) == [1])
    #expect(try await taken(for: .mail).isEmpty)
    _ = try await bench.journal.record(FakeAcquirer.approval(both.reference), for: both)
    #expect(try await taken(for: .webhooks) == [1, 2])
    #expect(try await taken(for: .webhooks).isEmpty)
    try await bench.journal.forgetMail()
    #expect(try await taken(for: .mail) == [2])
  }

  @Test func `an event that waits for mail leaves where a server without mail starts`() async throws {
    _ = try await attempt()
    try await Journal(bench.database, random: .seeded(4), consumers: [.webhooks]).forgetMail()
    #expect(try await taken(for: .mail).isEmpty)
    #expect(try await taken(for: .webhooks) == [1])
  }

  /// The events that a consumer takes now.
  private func taken(for consumer: OutboxConsumer) async throws -> [Int64] {
    try await bench.database.write { try OutboxEvent.take(for: consumer, payments: 10, in: $0).map(\.sequence) }
  }

  @Test func `a list goes on where its last page ended`() async throws {
    for number in 1...5 {
      bench.clock.advance(.milliseconds(2))
      _ = try await attempt("order-\(number)", token: number)
    }
    let first = try await journal.payments(matching: PaymentQuery(merchant: "shop", limit: 3))
    let rest = try await journal.payments(
      matching: PaymentQuery(merchant: "shop", status: .authorizing, before: first.last?.id, limit: 3))
    #expect((first + rest).map(\.order.rawValue) == (1...5).reversed().map { "order-\($0)" })
    #expect(try await journal.payments(matching: PaymentQuery(merchant: "other")).isEmpty)
  }
}
