import Ledger
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// The audit chain is read in pages while payments go on.
@Suite struct `Verifying a chain that grows` {
  /// What happens before each read, with its number.
  private final class Readings: Sendable {
    private let state = Mutex<(count: Int, before: (@Sendable (Int) async throws -> Void)?)>((0, nil))

    func watch(_ before: @escaping @Sendable (Int) async throws -> Void) { state.withLock { $0 = (0, before) } }
    var count: Int { state.withLock { $0.count } }

    @Sendable func next() async throws {
      let (number, before) = state.withLock { state in
        state.count += 1
        return (state.count, state.before)
      }
      try await before?(number)
    }
  }

  private let readings = Readings()
  private let journal: Journal
  private let clock = ManualClock()

  init() async throws {
    let hooks = CommitHooks(reading: readings.next)
    journal = Journal(
      try MemoryStore().open(Journal.migrations, clock: clock.wall, hooks: hooks), random: .seeded(5))
    for number in 0..<1_200 { try await Self.pay(number, journal) }
  }

  private static func pay(_ number: Int, _ journal: Journal) async throws {
    guard
      case .new(let attempt) = try await journal.claim(
        .sample("order-\(number)"), spending: .sample(number), card: .sample)
    else { throw Unexpected() }
    _ = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
  }

  @Test func `takes a snapshot for each page, and reports nothing that was written in between`() async throws {
    let (journal, clock) = (journal, clock)
    let first = try #require(try await journal.payments(matching: PaymentQuery(limit: 1_200)).last).id
    readings.watch { number in
      try await Self.pay(10_000 + number, journal)
      // Older by its identifier than all that were compared before.
      if number == 4 { clock.advance(.seconds(-3_600)) }
      if number == 5 {
        let capture = try await journal.reserve(.capture, .eur(1), of: first)
        _ = try await journal.record(FakeAcquirer.approval(capture.reference), for: capture)
      }
    }
    let report = try await journal.verifyAudit()
    #expect(report.isIntact, "\(report.violations)")
    #expect(readings.count > 5)
    #expect(report.entries >= 2_400 && report.payments > 1_200)
  }

  @Test func `still finds what was changed, removed and added`() async throws {
    let id = try #require(try await journal.payments(matching: PaymentQuery(limit: 1)).first).id
    for (damage, violation) in [
      ("UPDATE audit SET captured = 1 WHERE seq = 1500", "main 1500: the hash does not fit"),
      ("UPDATE audit SET version = version + 1 WHERE seq = 1600", "main 1600: the hash does not fit"),
      ("DELETE FROM audit WHERE seq = 700", "main 701: entry 700 is missing"),
      ("UPDATE audit_heads SET seq = 5", "main: the chain ends at 2400, its head says 5"),
      ("DELETE FROM audit_heads", "main: the chain has lost its head"),
      ("UPDATE payments SET captured = 1 WHERE id = '\(id)'", "payment \(id) is not where its last entry left it"),
      ("UPDATE audit SET payment = 'another' WHERE payment = '\(id)'", "payment \(id) has no history"),
    ] {
      try await journal.database.write { try $0.run(damage) }
      let report = try await journal.verifyAudit()
      #expect(report.violations.contains(violation), "\(damage): \(report.violations)")
    }
  }
}
