import Ledger
import Storage
import TenderPayments
import TenderTesting

/// Journals of two processes on one database. An SQLite file has one process, whose writes begin at the same time.
struct SharedStore: Sendable {
  let place: EmptyDatabase
  let journals: [Journal]

  /// - Parameter clock: of both processes; nil for the database's own.
  init(_ engine: StoreEngineUnderTest, clock: WallClock? = nil) async throws {
    place = try await EmptyDatabase(engine)
    let migrations = Journal.migrations + ProcessingKeyStore.migrations
    var journals: [Journal] = []
    for _ in 0..<(engine == .postgres ? 2 : 1) {
      journals.append(Journal(try await place.open(migrations, clock: clock)))
    }
    self.journals = journals
  }

  /// The journal that the number falls on.
  func journal(_ number: Int) -> Journal { journals[number % journals.count] }

  /// Runs it 64 times at once.
  func atOnce<R: Sendable>(_ body: @escaping @Sendable (Int, Journal) async throws -> R) async throws -> [R] {
    try await withThrowingTaskGroup(of: R.self) { group in
      for number in 0..<64 { group.addTask { try await body(number, journal(number)) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  func authorized(_ number: Int, at merchant: MerchantID = "shop") async throws -> PaymentID {
    let (journal, order) = (journal(number), Order.sample("order-\(number)", merchant: merchant))
    let claim = try await journal.claim(order, spending: .sample(number), card: .sample)
    guard case .new(let attempt) = claim else { throw Unexpected() }
    return try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment.id
  }

  /// Moves all that waits to the endpoints' queues, at both processes at once.
  func handOver() async throws -> [OutboxEvent] {
    try await atOnce { _, journal in
      try await journal.database.write { try OutboxEvent.take(for: .webhooks, payments: 4, in: $0) }
    }
    .flatMap { $0 }
  }

  /// Lets every statement that inserts into a table take a little longer; only on PostgreSQL.
  func pauseAfterInserts(into table: String) async throws { try await pause("AFTER INSERT ON \(table)") }

  /// The same for statements that delete.
  func pauseAfterDeletes(from table: String) async throws { try await pause("AFTER DELETE ON \(table)") }

  private func pause(_ moment: String) async throws {
    try await journal(0).database.write { store in
      try store.run(
        """
        CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_sleep(0.005); RETURN NULL; END'
        """)
      try store.run("CREATE TRIGGER pause \(moment) FOR EACH STATEMENT EXECUTE FUNCTION pause()")
    }
  }
}
