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

  @Test func `stay where no limit was ever set, and a token is taken whenever it was signed`() async throws {
    let shop = try await SharedStore(.sqlite, clock: ManualClock(Self.start).wall)
    try await pay("one", token: 1, signed: Timestamp(seconds: 1), shop.journal(0))
    #expect(try await kept(shop.journal(0)) == 1)
  }
}
