import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A search for payments` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  private func found(_ search: PaymentSearch) async throws -> [PaymentID] {
    try await bench.database.read { try search.found(in: $0).map(\.payment.id) }
  }

  private func search(
    _ subject: PaymentSearch.Subject? = nil, _ change: (inout PaymentSearch) -> Void = { _ in }
  ) async throws -> [PaymentID] {
    var search = PaymentSearch(subject)
    change(&search)
    return try await found(search)
  }

  @Test func `finds by payment, order and basket, and by every condition that is set`() async throws {
    let start = bench.clock.now
    let payment = try await bench.authorized()
    let known = try #require(try await bench.journal.payment(payment))
    #expect(try await search() == [payment])
    for subject in [.payment(payment), .order(known.order), .basket(known.basket)] as [PaymentSearch.Subject] {
      #expect(try await search(subject) == [payment])
    }
    #expect(try await search(.payment(PaymentID("none"))).isEmpty)
    #expect(try await search { ($0.merchant, $0.status) = (known.merchant, .authorized) } == [payment])
    #expect(try await search { $0.merchant = MerchantID("another") }.isEmpty)
    #expect(try await search { $0.status = .captured }.isEmpty)
    #expect(try await search { $0.from = start } == [payment])
    #expect(try await search { $0.until = start }.isEmpty)
    #expect(try await search { $0.limit = 0 }.isEmpty)
  }

  @Test func `for alarms finds those alone, with their reasons`() async throws {
    let payment = try await bench.authorized()
    #expect(try await search { $0.isAlarmed = true }.isEmpty)
    try await bench.journal.raise(.captureOverdue, on: payment)
    var search = PaymentSearch()
    search.isAlarmed = true
    let found = try await bench.database.read { [search] in try search.found(in: $0) }
    #expect(found.map(\.alarm) == ["capture_overdue"])
  }
}
