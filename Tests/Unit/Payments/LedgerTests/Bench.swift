import Ledger
import Storage
import TenderPayments
import TenderTesting

/// A journal with a clock that stands still.
struct Bench: Sendable {
  let files: TemporaryStore
  let clock = ManualClock()
  let database: Database
  let journal: Journal

  init() async throws {
    files = try TemporaryStore()
    database = try await files.open(Journal.migrations, clock: clock.wall)
    journal = Journal(database, random: .seeded(3))
  }

  func attempt(_ order: Order = .sample(), token: Int = 1) async throws -> Attempt {
    guard case .new(let attempt) = try await journal.claim(order, spending: .sample(token), card: .sample) else {
      throw Unexpected()
    }
    return attempt
  }

  /// - Parameter order: one that no payment has yet.
  func authorized(_ order: Order = .sample(), token: Int = 1) async throws -> PaymentID {
    let attempt = try await attempt(order, token: token)
    return try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment.id
  }

  func done(_ kind: OperationKind, _ amount: Amount?, _ payment: PaymentID) async throws -> Payment {
    let attempt = try await journal.reserve(kind, amount, of: payment)
    return try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment
  }
}
