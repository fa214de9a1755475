import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite(.enabled(if: PostgresUnderTest.isPresent)) struct `A journal that was copied to PostgreSQL` {
  /// The journal of a file with a payment, copied.
  private func copied() async throws -> (EmptyDatabase, Journal, PaymentID) {
    let files = try await EmptyDatabase(.sqlite)
    let source = try await files.open(Journal.migrations)
    let journal = Journal(source)
    guard case .new(let attempt) = try await journal.claim(.sample(), spending: .sample(1), card: .sample) else {
      throw Unexpected()
    }
    let payment = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment.id
    let place = try await EmptyDatabase(.postgres)
    let target = try await Database.targetOfCopy(Journal.migrations) { try await place.open($0) }
    let copy = try await StoreCopy(from: source, to: target)
    #expect(try await copy.run())
    try await copy.finish()
    await target.close()
    return (place, Journal(try await place.open(Journal.migrations)), payment)
  }

  @Test func `goes on in another chain, and the audit follows each payment through both`() async throws {
    let (_, journal, payment) = try await copied()
    let capture = try await journal.reserve(.capture, of: payment)
    _ = try await journal.record(FakeAcquirer.approval(capture.reference), for: capture)
    let report = try await journal.verifyAudit()
    #expect(report.isIntact, "\(report.violations)")
    #expect(report.heads.count == 2 && report.heads["main"] != nil && report.entries == 4)
    let lines = try await journal.database.read { try AuditLine.all(of: payment, in: $0) }
    #expect(lines.map(\.after) == [.authorizing, .authorized, .authorized, .captured])
  }

  @Test(arguments: ["chain = 'main'", "chain <> 'main'"])
  func `shows when all entries of one chain are gone`(_ which: String) async throws {
    let (_, journal, payment) = try await copied()
    let capture = try await journal.reserve(.capture, of: payment)
    _ = try await journal.record(FakeAcquirer.approval(capture.reference), for: capture)
    try await journal.database.write { store in
      try store.run("DELETE FROM audit WHERE \(which)")
      try store.run("DELETE FROM audit_heads WHERE \(which)")
    }
    #expect(try await !journal.verifyAudit().isIntact)
  }
}
