import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Fingerprints of payment tokens` {
  private static let start = Timestamp(seconds: 1_800_000_000)
  private static let days = Duration.seconds(86_400)

  /// A claim with a payment token that was signed at a moment.
  private func claim(_ order: String, token: Int, signed: Timestamp?, _ journal: Journal) async throws -> Claim {
    try await journal.claim(
      .sample(order), spending: .sample(token), card: .sample,
      terms: ClaimTerms(
        transactionIdentifier: signed.map { _ in TokenUse.sample(token).transactionID }, signed: signed))
  }

  private func pay(_ order: String, token: Int, signed: Timestamp?, _ journal: Journal) async throws {
    guard case .new(let attempt) = try await claim(order, token: token, signed: signed, journal) else {
      throw Unexpected()
    }
    _ = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
  }

  /// One round of removal, two payments at a time.
  private func forget(before end: Timestamp, _ journal: Journal) async throws {
    while try await !journal.database.write({ try Journal.forgetTokens(before: end, atMost: 2, in: $0) }) {}
  }

  private func kept(_ journal: Journal) async throws -> Int64 {
    try await journal.database.read { try $0.row("SELECT count(*) AS n FROM token_uses")?.integer("n") ?? 0 }
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `go when they are old, and their tokens are refused all the same, wherever a clock stands`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let clock = ManualClock(Self.start)
    let shop = try await SharedStore(engine, clock: clock.wall)
    let journal = shop.journal(0)
    for token in 1...5 { try await pay("old \(token)", token: token, signed: Self.start, journal) }
    try await pay("decrypted", token: 6, signed: nil, journal)
    _ = try await claim("open", token: 7, signed: Self.start, journal)
    clock.advance(Self.days * 100)
    let later = clock.wall.now()
    try await pay("new", token: 8, signed: later, journal)
    let end = later.adding(.zero - Self.days * 60)

    // The mark comes first. What is claimed at the same moment may not have seen it.
    try await forget(before: end, journal)
    #expect(try await kept(journal) == 8)
    #expect(try await claim("again", token: 1, signed: Self.start, journal) == .tokenReused)
    clock.advance(.seconds(3_599))
    try await forget(before: end, journal)
    #expect(try await kept(journal) == 8)
    clock.advance(.seconds(1))
    try await forget(before: end, journal)
    // Those of the decrypted card, of the open payment and of the new one.
    #expect(try await kept(journal) == (8 - 4 - 1))

    clock.advance(.zero - Self.days * 100)
    for token in 1...5 {
      #expect(try await claim("replay \(token)", token: token, signed: Self.start, shop.journal(token)) == .tokenReused)
    }
    #expect(try await claim("replay", token: 6, signed: nil, journal) == .tokenReused)
    try await pay("fresh", token: 9, signed: later, journal)
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `go no further than the payments do, so a clock that was ahead refuses no token when it is right again`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let clock = ManualClock(Self.start)
    let shop = try await SharedStore(engine, clock: clock.wall)
    let journal = shop.journal(0)
    try await forget(before: Self.start, journal)
    for token in 1...3 { try await pay("order \(token)", token: token, signed: Self.start, journal) }
    clock.advance(Self.days * 400)
    for _ in 0..<2 {
      try await forget(before: clock.wall.now().adding(.zero - Self.days * 30), journal)
      clock.advance(.seconds(3_600))
    }
    #expect(try await kept(journal) == 3)
    let progress = try await journal.database.read { try RetentionProgress.all(in: $0) }
    #expect(progress.first?.until == clock.wall.now(), "nothing is left to do")
    clock.set(ahead: .zero - Self.days * 400)
    try await pay("next", token: 4, signed: Self.start, journal)
    #expect(try await claim("again", token: 1, signed: Self.start, journal) == .tokenReused)
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `of a store whose mark is yet to come have it taken back, and none that was used pays again`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let clock = ManualClock(Self.start)
    let shop = try await SharedStore(engine, clock: clock.wall)
    let journal = shop.journal(0)
    for token in 1...3 { try await pay("order \(token)", token: token, signed: Self.start, journal) }
    try await forget(before: Self.start.adding(.zero - Self.days * 30), journal)
    try await journal.database.write {
      try $0.run("UPDATE retention SET until = $1", .time(Self.start.adding(Self.days * 370)))
      try $0.run("DELETE FROM token_uses")
    }
    clock.advance(Self.days)
    let now = clock.wall.now()
    #expect(try await claim("refused", token: 4, signed: now, journal) == .tokenReused)
    let marks = try await journal.database.read { try RetentionProgress.all(in: $0) }
    #expect(marks.first.map { $0.until > now } == true)
    try await forget(before: now.adding(.zero - Self.days * 30), journal)
    try await pay("taken", token: 4, signed: now, journal)
    #expect(try await claim("replay", token: 1, signed: Self.start, journal) == .tokenReused)
  }

  @Test func `stay where no limit was ever set, and a token is taken whenever it was signed`() async throws {
    let shop = try await SharedStore(.sqlite, clock: ManualClock(Self.start).wall)
    try await pay("one", token: 1, signed: Timestamp(seconds: 1), shop.journal(0))
    #expect(try await kept(shop.journal(0)) == 1)
  }
}
