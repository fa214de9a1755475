import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `An alarm that a provider's event raises` {
  @Test func `is in the audit chain, also where another alarm stands already`() async throws {
    let bench = try await Bench()
    let attempt = try await bench.attempt()
    _ = try await bench.journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
    for (id, connector, units) in [("e1", "sandbox", 1), ("e2", "other", 1250), ("e3", "other", 1250)] {
      _ = try await bench.journal.receive(
        ProviderEvent(
          route: connector, id: id, reference: attempt.reference, amount: .eur(Int64(units)),
          outcome: .approved(Approval(acquirerReference: "A"))))
    }
    let entries = try await bench.database.read { store in
      try store.rows("SELECT event FROM audit WHERE event LIKE 'alarm%' ORDER BY seq").map { try $0.text("event") }
    }
    #expect(entries.prefix(2) == ["alarm raised: event_amount_mismatch", "alarm raised: another_connector"])
    #expect(try await bench.journal.alarms().map(\.reason) == ["event_amount_mismatch"])
    let audit = try await bench.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
  }
}

@Suite struct `A second reason for an alarm` {
  @Test func `is in the audit chain once, and the payment shows the first`() async throws {
    let bench = try await Bench()
    let payment = try await bench.attempt().payment
    let raised = [AlarmReason.authorizeUnknown, .captureUnknown, .captureUnknown]
    var news: [Bool] = []
    for reason in raised { news.append(try await bench.journal.raise(reason, on: payment)) }
    #expect(news == [true, true, false])
    let entries = try await bench.database.read { store in
      try store.rows("SELECT event FROM audit WHERE event LIKE 'alarm%' ORDER BY seq").map { try $0.text("event") }
    }
    #expect(entries == ["alarm raised: authorize_unknown", "alarm raised: capture_unknown"])
    #expect(try await bench.journal.alarms().map(\.reason) == ["authorize_unknown"])
  }
}
