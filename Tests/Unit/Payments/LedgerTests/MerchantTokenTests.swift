import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

extension AgreementBench {
  fileprivate func arrives(_ event: String, _ merchant: MerchantID = "shop") async throws -> Bool {
    try await database.write { try Journal.keepMerchantTokenEvent(event, of: merchant, in: $0) }
  }

  fileprivate func takes(_ limit: Int = 100) async throws -> [MerchantTokenEvent] {
    try await database.write { try Journal.takeMerchantTokenEvents(atMost: limit, in: $0) }
  }

  @discardableResult
  fileprivate func apply(_ news: MerchantTokenNews, of event: MerchantTokenEvent) async throws
    -> MerchantTokenEventState
  {
    try await database.write { [journal] in try journal.apply(news, of: event, in: $0) }
  }

  /// A notification arrives, and Apple tells what it is about.
  @discardableResult
  fileprivate func hears(_ news: MerchantTokenNews, as event: String) async throws -> MerchantTokenEventState {
    _ = try await arrives(event)
    guard let taken = try await takes().first(where: { $0.id == event }) else { throw Unexpected() }
    return try await apply(news, of: taken)
  }

  fileprivate func facts(_ id: AgreementID) async throws -> MerchantTokenFacts? {
    let agreement = try await agreement(id)
    return try await database.read { try Journal.merchantTokenFacts(of: agreement, in: $0) }
  }

  fileprivate func states() async throws -> [String] {
    try await database.read { try Journal.merchantTokenEvents(of: "shop", in: $0) }.map { "\($0.id) \($0.state)" }
      .sorted()
  }

  fileprivate func takeUnneeded() async throws -> [UnneededMerchantToken] {
    try await database.write { try Journal.takeUnneededMerchantTokens(atMost: 10, in: $0) }
  }
}

@Suite struct `Apple's news of a merchant token` {
  private static let unlinked = MerchantTokenNews("UNLINK", of: "MT-1", because: "USER")

  private static func replaced(_ suffix: String) -> MerchantTokenNews {
    MerchantTokenNews(
      "UPDATED_METADATA", of: "MT-1", because: "issuer",
      card: MerchantTokenCard(suffix: suffix, expiry: "12/2034", name: "Visa credit", country: "IE"))
  }

  @Test(arguments: StoreEngineUnderTest.present) func `is kept once, however often it arrives`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let bench = try await AgreementBench(engine)
    let all = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 1...20 { group.addTask { try await bench.arrives("e-1") } }
      return try await group.reduce(true) { $0 && $1 }
    }
    #expect(all)
    #expect(try await bench.takes().map(\.id) == ["e-1"])
    #expect(try await bench.arrives("e-1"))
    #expect(try await bench.states() == ["e-1 received"])
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `is taken by one of many nodes, and by another when its time is over`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let bench = try await AgreementBench(engine)
    for number in 1...20 { _ = try await bench.arrives("e-\(number)") }
    let taken = try await withThrowingTaskGroup(of: [MerchantTokenEvent].self) { group in
      for _ in 1...8 { group.addTask { try await bench.takes(4) } }
      return try await group.reduce(into: [String]()) { $0 += $1.map(\.id) }
    }
    #expect(taken.count == Set(taken).count)
    bench.clock.advance(.seconds(61))
    #expect(try await bench.takes().count == 20)
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `that it is unlinked ends its agreements: they are charged no more, and the merchant is told once`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let bench = try await AgreementBench(engine)
    let id = try await bench.active()
    _ = try await bench.arrives("e-1")
    let event = try #require(try await bench.takes().first)
    #expect(try await bench.apply(Self.unlinked, of: event) == .applied)
    #expect(try await bench.apply(Self.unlinked, of: event) == .received)
    #expect(try await bench.hears(Self.unlinked, as: "e-2") == .applied)
    #expect(try await bench.agreement(id).status == .ended)
    bench.clock.advance(AgreementBench.day * 40)
    await #expect(throws: AgreementError.notChargeable(.ended)) { try await bench.charge(id, named: 1) }
    let history = try await bench.database.read { try Journal.history(of: id, in: $0) }
    #expect(history.map(\.event) == [.begun, .ended] && history.last?.party == .shopper)
    #expect(history.last?.reason == "Apple unlinked it: USER")
    let events = try await bench.database.write { try OutboxEvent.take(for: .webhooks, payments: 10, in: $0) }
    #expect(events.compactMap(\.agreementEvent) == [.ended])
    #expect(try await bench.facts(id)?.unlinking == .done)
    #expect(try await bench.takeUnneeded() == [])
  }

  @Test func `that it is unlinked holds for an agreement whose first payment is not decided`() async throws {
    let bench = try await AgreementBench()
    let (id, attempt) = try await bench.begun()
    try await bench.hears(Self.unlinked, as: "e-1")
    _ = try await bench.journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
    #expect(try await bench.agreement(id).status == .ended)
  }

  @Test func `of another merchant's token changes nothing`() async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    _ = try await bench.arrives("e-1", "other")
    let event = try #require(try await bench.takes().first)
    try await bench.apply(Self.unlinked, of: event)
    #expect(try await bench.agreement(id).status == .active)
  }

  @Test func `that Apple does not know, or never tells, is found afterwards`() async throws {
    let bench = try await AgreementBench()
    for number in 1...3 { _ = try await bench.arrives("e-\(number)", number == 3 ? "other" : "shop") }
    let (begin, taken) = (bench.clock.now, try await bench.takes())
    for event in taken where event.id != "e-2" {
      _ = try await bench.database.write { try Journal.refuse(event, because: "400 no such event", in: $0) }
    }
    func lost(_ since: Timestamp) async throws -> [String] {
      try await bench.database.read { store in
        try Journal.lostMerchantTokenEvents(since: since, in: store).map {
          "\($0.merchant) \($0.count) \($0.newest) \($0.detail)"
        }
      }
    }
    #expect(try await lost(begin) == ["other 1 e-3 400 no such event", "shop 1 e-1 400 no such event"])
    bench.clock.advance(AgreementBench.day * 8)
    let late = try #require(try await bench.takes().first)
    _ = try await bench.database.write { try Journal.postpone(late, because: "500", in: $0) }
    #expect(try await lost(bench.clock.now) == ["shop 1 e-2 500"])
  }

  @Test func `describes the card, and the agreement is charged as before`() async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    #expect(try await bench.facts(id) == nil)
    try await bench.hears(Self.replaced("1437"), as: "e-1")
    let card = try await bench.facts(id)?.card
    #expect((card?.suffix, card?.expiry, card?.name, card?.country) == ("1437", "12/2034", "Visa credit", "IE"))
    #expect(try await bench.agreement(id).status == .active)
    #expect(try await bench.facts(id)?.unlinking == nil)
    let history = try await bench.database.read { try Journal.history(of: id, in: $0) }
    #expect(history.map(\.event) == [.begun, .cardUpdated] && history.last?.party == .issuer)
    bench.clock.advance(AgreementBench.day * 40)
    #expect(try await bench.charge(id, named: 1).period == 1)
  }

  @Test func `comes to the same in every order of Apple's answers, each given twice`() async throws {
    let news = [Self.replaced("1111"), Self.unlinked, Self.replaced("2222")]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let bench = try await AgreementBench()
      let id = try await bench.active()
      var events: [MerchantTokenEvent] = []
      for number in news.indices {
        bench.clock.advance(.seconds(1))
        _ = try await bench.arrives("e-\(number)")
        events += try await bench.takes()
      }
      for index in order + order { try await bench.apply(news[index], of: events[index]) }
      #expect(try await bench.agreement(id).status == .ended, "\(order)")
      #expect(try await bench.facts(id)?.card?.suffix == "2222", "\(order)")
      #expect(try await bench.states() == ["e-0 applied", "e-1 applied", "e-2 applied"], "\(order)")
    }
  }

  @Test func `waits for the payment that begins its agreement, for an hour`() async throws {
    let bench = try await AgreementBench()
    #expect(try await bench.hears(Self.unlinked, as: "e-1") == .received)
    let id = try await bench.active()
    bench.clock.advance(.seconds(120))
    let again = try #require(try await bench.takes().first)
    #expect(try await bench.apply(Self.unlinked, of: again) == .applied)
    #expect(try await bench.agreement(id).status == .ended)
    let other = MerchantTokenNews("UNLINK", of: "MT-9", because: "user")
    _ = try await bench.hears(other, as: "e-2")
    bench.clock.advance(.seconds(3_700))
    let late = try #require(try await bench.takes().first)
    #expect(try await bench.apply(other, of: late) == .unknown)
    #expect(try await bench.takes() == [])
  }

  @Test func `is asked for with growing pauses, for seven days`() async throws {
    let bench = try await AgreementBench()
    _ = try await bench.arrives("e-1")
    var tries = 0
    var last = MerchantTokenEventState.received
    let end = bench.clock.wall.now().adding(Journal.merchantTokenNewsLife + .seconds(7_200))
    while bench.clock.wall.now() < end {
      for event in try await bench.takes() {
        tries += 1
        last = try await bench.database.write { try Journal.postpone(event, because: "500", in: $0) }
      }
      bench.clock.advance(.seconds(600))
    }
    #expect(last == .expired && (150...200).contains(tries), "\(tries)")
    #expect(try await bench.states() == ["e-1 expired"])
    #expect(try await bench.takes() == [])
  }

  @Test func `that Apple does not have is refused for good`() async throws {
    let bench = try await AgreementBench()
    _ = try await bench.arrives("e-1")
    let event = try #require(try await bench.takes().first)
    #expect(try await bench.database.write { try Journal.refuse(event, because: "400", in: $0) } == .refused)
    bench.clock.advance(AgreementBench.day)
    #expect(try await bench.arrives("e-1"))
    #expect(try await bench.takes() == [])
  }

  @Test(arguments: ["UPDATED_MERCHANT_TOKEN_PUBLIC_KEY", "SOMETHING_OF_NEXT_YEAR"])
  func `of a kind that changes nothing here is noted`(_ type: String) async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    #expect(try await bench.hears(MerchantTokenNews(type, of: "MT-1", because: "x"), as: "e-1") == .applied)
    #expect(try await bench.agreement(id).status == .active)
    #expect(try await bench.facts(id) == nil)
    let kept = try await bench.database.read { try Journal.merchantTokenEvents(of: "shop", in: $0) }
    #expect(kept.first?.type == type)
  }

  @Test func `cannot fill the store`() async throws {
    let bench = try await AgreementBench()
    try await bench.database.write { store in
      for number in 1...Journal.mostMerchantTokenEvents {
        _ = try store.changes(
          """
          INSERT INTO merchant_token_events (merchant, event, state, tries, next_try, arrived_at)
          VALUES ('shop', $1, 'received', 0, 0, 0)
          """, .text("x-\(number)"))
      }
    }
    #expect(try await bench.arrives("e-1") == false)
    #expect(try await bench.arrives("x-7"))
    #expect(try await bench.arrives("e-1", "other"))
  }

  @Test func `is forgotten when it is old`() async throws {
    let bench = try await AgreementBench()
    _ = try await bench.active()
    try await bench.hears(Self.unlinked, as: "e-1")
    _ = try await bench.arrives("e-2")
    bench.clock.advance(AgreementBench.day)
    let forgotten = try await bench.database.write {
      try Journal.forgetMerchantTokenEvents(before: $0.now, atMost: 10, in: $0)
    }
    #expect(forgotten == 1)
    #expect(try await bench.states() == ["e-2 received"])
  }
}

@Suite struct `A merchant token that is charged no more` {
  @Test(arguments: StoreEngineUnderTest.present)
  func `is unlinked at Apple when its last agreement ends, by one of many nodes`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let bench = try await AgreementBench(engine)
    let first = try await bench.active()
    let (second, attempt) = try await bench.begun(order: "order-2", token: 2)
    _ = try await bench.journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
    _ = try await bench.change(first, .ended)
    #expect(try await bench.takeUnneeded() == [])
    _ = try await bench.change(second, .ended)
    let taken = try await bench.takeUnneeded()
    #expect(taken.map(\.token) == ["MT-1"])
    #expect(try await bench.takeUnneeded() == [])
    try await bench.database.write { try Journal.endUnlinking(taken[0], in: $0) }
    bench.clock.advance(AgreementBench.day)
    #expect(try await bench.takeUnneeded() == [])
    #expect(try await bench.facts(second)?.unlinking == .done)
  }

  @Test func `is told again after a failure, and never after a refusal`() async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    _ = try await bench.change(id, .ended)
    let taken = try #require(try await bench.takeUnneeded().first)
    try await bench.database.write { try Journal.postpone(taken, because: "500", in: $0) }
    #expect(try await bench.facts(id)?.unlinking == .due)
    #expect(try await bench.takeUnneeded() == [])
    bench.clock.advance(.seconds(10))
    let again = try #require(try await bench.takeUnneeded().first)
    try await bench.database.write { try Journal.endUnlinking(again, refused: "400 not this merchant's", in: $0) }
    bench.clock.advance(AgreementBench.day)
    let facts = try await bench.facts(id)
    #expect(facts?.unlinking == .refused && facts?.detail == "400 not this merchant's")
    #expect(try await bench.takeUnneeded() == [])
  }

  @Test func `waits an hour after a declined first payment, which the same card may repeat`() async throws {
    let bench = try await AgreementBench()
    let (_, attempt) = try await bench.begun()
    _ = try await bench.journal.record(.declined(Decline(reason: .insufficientFunds, code: "51")), for: attempt)
    bench.clock.advance(.seconds(3_000))
    #expect(try await bench.takeUnneeded() == [])
    let second = try await bench.begun(order: "order-2", token: 2)
    _ = try await bench.journal.record(FakeAcquirer.approval(second.1.reference), for: second.1)
    bench.clock.advance(.seconds(3_000))
    #expect(try await bench.takeUnneeded() == [])
    #expect(try await bench.facts(second.0)?.unlinking == nil)
  }

  @Test func `is forgotten with its shopper, after Apple was told`() async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    try await bench.database.write {
      try Journal.forgetAgreement(of: OrderID("order-1"), because: "asked for", in: $0)
    }
    let taken = try #require(try await bench.takeUnneeded().first)
    try await bench.database.write { try Journal.endUnlinking(taken, in: $0) }
    #expect(try await bench.agreement(id).merchantToken == nil)
    let rows = try await bench.database.read { try $0.rows("SELECT token FROM merchant_tokens") }
    #expect(rows.isEmpty)
  }
}

@Suite struct `The name of a notification` {
  @Test func `is letters, digits and three marks, at most 128, and no step in a path`() {
    for name in ["a", "0A", "8f14e45f-ceea-467f-a0e6-1c7d2b3a4c5d", String(repeating: "x", count: 128), "a.b_c-d"] {
      #expect(MerchantTokenEventID.isWellFormed(name))
    }
    for name in [
      "", ".", "..", "-a", "_a", "a/b", "a%2Fb", "a b", "a?b", "a#b", "a;b", "ä", "a\u{0}", "a\r\nb", "a:b", "a@b",
      String(repeating: "x", count: 129),
    ] {
      #expect(!MerchantTokenEventID.isWellFormed(name), "\(name)")
    }
  }
}
