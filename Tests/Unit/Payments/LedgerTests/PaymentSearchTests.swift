import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A merchant's list of payments` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  private func page(_ change: (inout MerchantPayments) -> Void = { _ in }) async throws -> MerchantPayments.Page {
    let known = try #require(try await bench.database.read { try PaymentSearch().find(in: $0).first?.payment })
    var list = MerchantPayments(of: known.merchant)
    change(&list)
    return try await bench.database.read { [list] in try list.page(in: $0) }
  }

  @Test func `has each payment once, newest first, though others are made between its pages`() async throws {
    var made: [PaymentID] = []
    for number in 0..<5 {
      bench.clock.advance(.seconds(1))
      made.append(try await bench.authorized(.sample("order-\(number)"), token: number))
    }
    let first = try await page { $0.limit = 2 }
    #expect(first.payments.map(\.id) == Array(made[3...].reversed()))
    bench.clock.advance(.seconds(1))
    _ = try await bench.authorized(.sample("order-5"), token: 5)
    let second = try await page { ($0.limit, $0.before) = (2, first.next) }
    #expect(second.payments.map(\.id) == [made[2], made[1]])
    let third = try await page { ($0.limit, $0.before) = (2, second.next) }
    #expect(third.payments.map(\.id) == [made[0]] && third.next == nil)
  }

  @Test func `has the others where this version cannot read one, on every page`() async throws {
    var made: [PaymentID] = []
    for number in 0..<4 {
      bench.clock.advance(.seconds(1))
      made.append(try await bench.authorized(.sample("order-\(number)"), token: number))
    }
    let odd = made[2]
    try await bench.database.write {
      try $0.run("UPDATE payments SET currency = 'later' WHERE id = $1", .text(odd.rawValue))
    }
    let first = try await page { $0.limit = 2 }
    #expect(first.payments.map(\.id) == [made[3]])
    #expect(try await page { ($0.limit, $0.before) = (2, first.next) }.payments.map(\.id) == [made[1], made[0]])
    let found = try await bench.database.read { try PaymentSearch().find(in: $0).map(\.payment.id) }
    #expect(found == [made[3], made[1], made[0]])
  }

  @Test func `has a payment that was declined for a reason of a later version`() async throws {
    let attempt = try await bench.attempt()
    let decline = AcquirerAnswer.declined(Decline(reason: .insufficientFunds, code: "51"))
    let payment = try await bench.journal.record(decline, for: attempt).payment.id
    try await bench.database.write { try $0.run("UPDATE payments SET decline_reason = 'later'") }
    let list = MerchantPayments(of: try #require(try await bench.journal.payment(payment)).merchant)
    let found = try await bench.database.read { try list.page(in: $0).payments }
    #expect(found.map(\.decline) == [Decline(reason: .other, code: "51")])
  }

  @Test func `holds every condition that is set, and no other merchant's payments`() async throws {
    let start = bench.clock.now
    let payment = try await bench.authorized()
    let known = try #require(try await bench.journal.payment(payment))
    let found: [(inout MerchantPayments) -> Void] = [
      { $0.status = .authorized }, { ($0.amount, $0.currency) = (known.amount.minorUnits, known.amount.currency) },
      { $0.from = start }, { $0.payment = payment }, { $0.order = known.order },
    ]
    for change in found { #expect(try await page(change).payments.map(\.id) == [payment]) }
    let missed: [(inout MerchantPayments) -> Void] = [
      { $0.status = .captured }, { $0.amount = known.amount.minorUnits + 1 }, { $0.until = start },
      { $0.payment = PaymentID("none") }, { $0.order = OrderID("none") }, { $0.before = payment },
      { $0 = MerchantPayments(of: MerchantID("another")) },
      {
        $0 = MerchantPayments(of: MerchantID("another")); $0.payment = payment
      },
    ]
    for change in missed { #expect(try await page(change).payments.isEmpty) }
  }
}

@Suite struct `A search of payments by their amount` {
  @Test func `finds those that were begun for it, in its currency`() async throws {
    let bench = try await Bench()
    let payment = try await bench.authorized()
    let amount = try #require(try await bench.journal.payment(payment)).amount
    for (wanted, ids) in [
      (amount, [payment]), (Amount(minorUnits: amount.minorUnits + 1, currency: amount.currency), []),
      (Amount(minorUnits: amount.minorUnits, currency: try #require(Currency(code: "JPY"))), []),
    ] {
      var search = PaymentSearch()
      search.amount = wanted
      let found = try await bench.database.read { [search] in try search.find(in: $0) }
      #expect(found.map(\.payment.id) == ids, "\(wanted)")
    }
  }
}

@Suite struct `A merchant's events` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  @Test func `are read from any place on, oldest first, and no other merchant's`() async throws {
    let known = try #require(try await bench.journal.payment(try await bench.authorized()))
    func events(
      _ place: OutboxEvent.Cursor, _ merchant: MerchantID, limit: Int = 10
    ) async throws -> [(event: OutboxEvent, cursor: OutboxEvent.Cursor)] {
      try await bench.database.read { try OutboxEvent.after(place, of: merchant, limit: limit, in: $0) }
        .map { (try #require($0.event), $0.cursor) }
    }
    #expect(try await events(.start, known.merchant).isEmpty, "nothing was handed over yet")
    try await bench.database.write { _ = try OutboxEvent.take(for: .webhooks, payments: 8, in: $0) }
    let all = try await events(.start, known.merchant)
    #expect(all.map(\.event.status) == [.authorizing, .authorized])
    #expect(all.allSatisfy { $0.event.merchant == known.merchant })
    #expect(try await events(.start, known.merchant, limit: 1).map(\.event) == [all[0].event])
    #expect(try await events(all[0].cursor, known.merchant).map(\.event) == [all[1].event])
    #expect(try await events(all[1].cursor, known.merchant).isEmpty)
    #expect(try await events(.start, MerchantID("another")).isEmpty)
  }

  @Test func `of a later version are passed over, and those before and after them are read`() async throws {
    let payment = try await bench.authorized()
    let merchant = try #require(try await bench.journal.payment(payment)).merchant
    try await bench.database.write { _ = try OutboxEvent.take(for: .webhooks, payments: 8, in: $0) }
    let before = try await bench.database.read { try OutboxEvent.after(.start, limit: 10, in: $0) }
    try await bench.database.write {
      try $0.run("UPDATE outbox SET status = 'of a later version' WHERE seq = 1")
    }
    let (all, own, ofPayment) = try await bench.database.read { store in
      (
        try OutboxEvent.after(.start, limit: 10, in: store),
        try OutboxEvent.after(.start, of: merchant, limit: 10, in: store), try OutboxEvent.all(of: payment, in: store)
      )
    }
    for found in [all, own] {
      #expect(found.map(\.cursor) == before.map(\.cursor))
      #expect(found.map(\.event) == [nil, before[1].event])
    }
    #expect(ofPayment == [before[1].event])
  }

  @Test func `are found from a time on, even if the clock is set back meanwhile`() async throws {
    let times: [Duration] = [.seconds(60), .seconds(60), .seconds(-90), .seconds(60), .seconds(60)]
    for (number, step) in times.enumerated() {
      bench.clock.advance(step)
      _ = try await bench.authorized(.sample("order-\(number)"), token: number)
      try await bench.database.write { _ = try OutboxEvent.take(for: .webhooks, payments: 8, in: $0) }
    }
    let all = try await bench.database.read { try OutboxEvent.after(.start, limit: 100, in: $0) }
    #expect(all.count == 10)
    for event in all.compactMap(\.event) {
      let found = try await bench.database.read { store in
        try OutboxEvent.after(.before(event.happenedAt, in: store), limit: 100, in: store)
      }
      let expected = all.compactMap(\.event).filter { $0.happenedAt >= event.happenedAt }
      #expect(Set(found.compactMap(\.event)).isSuperset(of: expected))
    }
    let later = bench.clock.wall.now().adding(.seconds(900))
    #expect(try await bench.database.read { try OutboxEvent.Cursor.before(later, in: $0) } == all.last?.cursor)
  }
}

@Suite struct `A search for payments` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  private func found(_ search: PaymentSearch) async throws -> [PaymentID] {
    try await bench.database.read { try search.find(in: $0).map(\.payment.id) }
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
    let found = try await bench.database.read { [search] in try search.find(in: $0) }
    #expect(found.map(\.alarm) == ["capture_overdue"])
  }
}
