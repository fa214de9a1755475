import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A store of the first version` {
  let files: TemporaryStore
  let clock = ManualClock()

  init() async throws {
    files = try TemporaryStore()
    let database = try await files.open([Journal.migrations[0]], clock: clock.wall)
    try await database.write { store in
      for statement in Self.rows { try store.run(statement) }
    }
    await database.close()
  }

  /// One captured payment, one whose answer is missing, and one that was declined.
  private static let rows = [
    """
    INSERT INTO payments (id, order_id, merchant, basket, status, live, amount, currency, capture_mode, authorized,
      captured, refunded, reserved_capture, reserved_refund, authorization_code, card_suffix, card_expiry, card_has_eci,
      told, version, created_at, updated_at)
    VALUES ('p1', 'o1', 'shop', 'b1', 'captured', 1, 1250, 'EUR', 'immediate', 1250, 1250, 0, 0, 0, 'A1', '0012',
      '3112', 1, 'success', 4, 1, 2),
      ('p2', 'o2', 'shop', 'b2', 'unknown', 1, 500, 'EUR', 'manual', 0, 0, 0, 0, 0, NULL, '0012', '3112', 1,
      'pending', 2, 1, 2)
    """,
    """
    INSERT INTO payments (id, order_id, merchant, basket, status, live, amount, currency, capture_mode, authorized,
      captured, refunded, reserved_capture, reserved_refund, decline_reason, decline_code, card_has_eci, told, version,
      created_at, updated_at)
    VALUES ('p3', 'o3', 'shop', 'b3', 'declined', 0, 500, 'EUR', 'manual', 0, 0, 0, 0, 0, 'do_not_honor', '05', 0,
      'failure', 2, 1, 2)
    """,
    """
    INSERT INTO operations (reference, payment, kind, amount, state, acquirer_reference, lease_owner, lease_until,
      fence, sent_at, answered_at)
    VALUES ('r1', 'p1', 'authorize', 1250, 'approved', 'A-r1', 'x', 0, 1, 1, 2),
      ('r2', 'p1', 'capture', 1250, 'approved', 'C-r2', 'x', 0, 1, 3, 4),
      ('r3', 'p2', 'authorize', 500, 'unknown', NULL, 'x', 0, 1, 1, 2)
    """,
    "INSERT INTO token_uses (transaction_id, payload_hash, payment, used_at) VALUES ('t1', 'h1', 'p1', 1)",
    """
    INSERT INTO outbox (payment, seq, type, operation, status, authorized, captured, refunded, happened_at, next_try,
      tries)
    VALUES ('p1', 1, 'payment.authorizing', 'r1', 'authorizing', 0, 0, 0, 1, 1, 0)
    """,
  ]

  @Test func `keeps its payments, operations and events, and goes on`() async throws {
    let database = try await files.open(Journal.migrations, clock: clock.wall)
    let journal = Journal(database)
    let captured = try #require(try await journal.payment(PaymentID("p1")))
    #expect(captured.status == .captured)
    #expect(captured.told == .success)
    #expect(captured.amountConfirmed)
    #expect(try await journal.operations(of: captured.id).map(\.state) == [.approved, .approved])
    #expect(try await journal.payment(PaymentID("p3"))?.decline?.reason == .doNotHonor)
    let events = try await database.read { try $0.row("SELECT count(*) AS n FROM outbox")?.integer("n") }
    #expect(events == 1)
    let numbers = try await database.read { store in
      try store.rows("SELECT number FROM operations ORDER BY reference").map { try $0.integer("number") }
    }
    #expect(numbers == [0, 1, 0])
    let refund = try await journal.reserve(.refund, .eur(250), of: captured.id)
    #expect(refund.authorization == "A-r1")
    _ = try await journal.record(FakeAcquirer.approval(refund.reference), for: refund)
    let open = try await journal.leaseDueOperations(10)
    #expect(open.map(\.reference) == [AttemptReference("r3")])
    #expect(
      try await journal.record(FakeAcquirer.approval(open[0].reference), for: open[0]).payment.status == .authorized)
    let audit = try await journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
    #expect(audit.paymentsWithoutHistory == 1)
  }

  @Test func `still holds its guards and its references`() async throws {
    let database = try await files.open(Journal.migrations, clock: clock.wall)
    await #expect(throws: StorageError.check(constraint: "refunded_within_captured")) {
      try await database.write { try $0.run("UPDATE payments SET refunded = 1251 WHERE id = 'p1'") }
    }
    await #expect(throws: StorageError.foreignKey) {
      try await database.write { try $0.run("UPDATE operations SET payment = 'nobody' WHERE reference = 'r1'") }
    }
    let claim = try await Journal(database).claim(
      .sample("o1"), spending: .sample(9), card: .sample)
    guard case .known = claim else { throw Unexpected() }
  }
}
