import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

/// Journals of two processes on one database, whose clock stands still; an SQLite file has one process.
private struct CountedStore: Sendable {
  let place: EmptyDatabase
  let clock = ManualClock()
  let databases: [Database]
  var database: Database { databases[0] }
  let journal: Journal

  init(_ engine: StoreEngineUnderTest) async throws {
    place = try await EmptyDatabase(engine)
    var databases: [Database] = []
    for _ in 0..<(engine == .postgres ? 2 : 1) {
      databases.append(try await place.open(Journal.migrations, clock: clock.wall))
    }
    self.databases = databases
    journal = Journal(databases[0], random: .seeded(3))
  }

  /// Counts until nothing is left.
  func count() async throws { while try await FigureCounting(database, page: 3).step() != .nothingNew {} }

  @discardableResult
  func authorized(
    _ number: Int, _ amount: Amount = .eur(1250), merchant: MerchantID = "shop", card: String? = nil
  ) async throws -> PaymentID {
    var summary = CardSummary.sample
    summary.name = card
    let order = Order.sample("order-\(number)", amount, merchant: merchant)
    guard case .new(let attempt) = try await journal.claim(order, spending: .sample(number), card: summary) else {
      throw Unexpected()
    }
    return try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt).payment.id
  }

  func done(_ kind: OperationKind, _ amount: Amount?, _ payment: PaymentID) async throws {
    let attempt = try await journal.reserve(kind, amount, of: payment)
    _ = try await journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
  }

  func figures(
    by group: PaymentFigure.Group, of merchants: [MerchantID]? = nil, currency: String? = nil
  ) async throws -> [PaymentFigure] {
    let today = clock.now.seconds / 86_400
    return try await database.read {
      var range = FigureRange(today - 400...today, of: merchants)
      range.currency = currency
      return try range.figures(by: group, in: $0)
    }
  }

  /// Day, status, payments, amount, refunded: from the figures, and from every payment.
  func compared() async throws -> (figures: [[String]], payments: [[String]]) {
    let figures = try await figures(by: .day).map {
      [$0.name, $0.status.rawValue, "\($0.count)", "\($0.amount)", "\($0.refunded)", "\($0.answered)"]
    }
    let payments = try await database.read { store in
      try store.rows(
        """
        SELECT CAST(created_at / 86400000000 AS TEXT) AS day, status, COUNT(*) AS payments,
          CAST(SUM(payments.amount) AS BIGINT) AS amount, CAST(SUM(payments.refunded) AS BIGINT) AS refunded,
          COUNT(first.answered_at) AS answered
        FROM payments JOIN operations AS first ON first.payment = payments.id AND first.number = 0
        GROUP BY created_at / 86400000000, status ORDER BY created_at / 86400000000, status
        """
      ).map { row in
        [try row.text("day"), try row.text("status")]
          + (try ["payments", "amount", "refunded", "answered"].map { "\(try row.integer($0))" })
      }
    }
    return (figures, payments)
  }

  func expectExact(_ place: Testing.SourceLocation = #_sourceLocation) async throws {
    let (figures, payments) = try await compared()
    #expect(figures == payments && !payments.isEmpty, sourceLocation: place)
  }
}

@Suite struct `The figures of payments` {
  @Test(arguments: StoreEngineUnderTest.present)
  func `add up by day, currency, route, network and status, for each merchant and for all`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await CountedStore(engine)
    let day = store.clock.now.seconds / 86_400
    let id = try await store.authorized(1, card: "Visa 0492")
    try await store.done(.capture, nil, id)
    try await store.done(.refund, .eur(250), id)
    store.clock.advance(.seconds(86_400))
    try await store.authorized(2, .eur(300), merchant: "other", card: "MasterCard 1234")
    try await store.count()
    let days = try await store.figures(by: .day)
    #expect(days.map(\.name) == ["\(day)", "\(day + 1)"] && days.map(\.status) == [.partiallyRefunded, .authorized])
    #expect(days.map(\.amount) == [1250, 300] && days.map(\.refunded) == [250, 0] && days.map(\.answered) == [1, 1])
    #expect(try await store.figures(by: .network).map(\.name) == ["mastercard", "visa"])
    #expect(try await store.figures(by: .currency).map(\.name) == ["EUR", "EUR"])
    #expect(try await store.figures(by: .route, of: ["other"]).map(\.count) == [1])
    #expect(try await store.figures(by: .day, of: ["shop", "other"]) == days)
    #expect(try await store.figures(by: .day, of: []).isEmpty)
    #expect(try await store.figures(by: .day, currency: "USD").isEmpty)
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `are those of all payments after any changes, however old, and whenever they are counted`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await CountedStore(engine)
    var (dice, open, captured) = (SeededGenerator(seed: 11), [PaymentID](), [PaymentID]())
    for number in 0..<120 {
      store.clock.advance(.seconds(Int64.random(in: 1...40_000, using: &dice)))
      switch Int.random(in: 0..<4, using: &dice) {
      case 0, 1: open.append(try await store.authorized(number))
      case 2 where !open.isEmpty:
        let id = open.remove(at: .random(in: 0..<open.count, using: &dice))
        try await store.done(.capture, nil, id)
        captured.append(id)
      case 3 where !captured.isEmpty:
        try await store.done(.refund, .eur(10), captured[.random(in: 0..<captured.count, using: &dice)])
      default: break
      }
      if Int.random(in: 0..<3, using: &dice) == 0 { _ = try await FigureCounting(store.database).step() }
    }
    try await store.count()
    try await store.expectExact()
    #expect(try await FigureCounting(store.database).step() == .nothingNew, "nothing is left to count")
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `of some hours are those of the payments that began in them, in one currency and of whose merchants`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await CountedStore(engine)
    let begin = store.clock.now
    try await store.authorized(1, card: "Visa 0492")
    store.clock.advance(.seconds(2 * 3_600))
    try await store.authorized(2, .eur(500), merchant: "other", card: "MasterCard 1234")
    try await store.authorized(3, Amount(minorUnits: 900, currency: try #require(Currency(code: "USD"))))
    try await store.count()
    func span(_ hours: Range<Int64>, of merchants: [MerchantID]? = nil) -> FigureSpan {
      let times = begin.adding(.seconds(hours.lowerBound * 3_600))..<begin.adding(.seconds(hours.upperBound * 3_600))
      return FigureSpan(times, of: merchants, "EUR")
    }
    func figures(_ hours: Range<Int64>, of merchants: [MerchantID]? = nil) async throws -> [PaymentFigure] {
      let span = span(hours, of: merchants)
      return try await store.database.read { try span.figures(in: $0) }
    }
    let all = try await figures(0..<3)
    #expect(all.map(\.amount) == [1250, 500] && all.allSatisfy { $0.status == .authorized && $0.answered == 1 })
    let apart = try #require(all.last).stretchBegin.since(try #require(all.first).stretchBegin)
    #expect(apart > .seconds(5_000) && apart < .seconds(9_000))
    #expect(try await figures(0..<1).map(\.amount) == [1250])
    let (late, whole) = (span(1..<3), span(0..<3))
    #expect(try await store.database.read { try late.groups(in: $0) }[.network]?.map(\.name) == ["mastercard"])
    let groups = try await store.database.read { try whole.groups(in: $0) }
    #expect(groups[.route]?.map(\.amount) == [1750] && groups[.reason]?.map(\.answered) == [2])
    #expect(try await figures(0..<3, of: ["other"]).map(\.amount) == [500])
    #expect(try await figures(0..<3, of: []).isEmpty)
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `have the time beside them within which a share of the answers came`(_ engine: StoreEngineUnderTest) async throws
  {
    let store = try await CountedStore(engine)
    for number in 0..<4 {
      let id = try await store.authorized(number, merchant: number == 3 ? "other" : "shop")
      try await store.database.write {
        try $0.run(
          "UPDATE operations SET answered_at = sent_at + $2 WHERE payment = $1", .text(id.rawValue),
          .integer(Int64(number + 1) * 100_000))
      }
    }
    let times = try await store.database.read { try AnswerTimes.newest(of: nil, in: $0) }
    #expect(times.map(\.kind) == [.authorize])
    #expect([50, 75, 99].map { times[0].percentile($0) } == [200, 300, 400].map { .milliseconds($0) })
    let own = try await store.database.read { try AnswerTimes.newest(of: ["other"], in: $0) }
    #expect(own.map(\.times) == [[.milliseconds(400)]])
    #expect(try await store.database.read { try AnswerTimes.newest(of: [], in: $0) }.isEmpty)
  }

  /// As a store may hold them from before amounts were limited.
  @Test(arguments: StoreEngineUnderTest.present)
  func `are counted whatever the amounts are, and those of others are right`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await CountedStore(engine)
    for number in 0..<3 {
      let id = try await store.authorized(number, .eur(.max))
      try await store.done(.capture, nil, id)
      try await store.done(.refund, nil, id)
    }
    try await store.count()
    let sums = try await store.figures(by: .day)
    #expect(sums.map(\.count) == [3] && sums.map(\.amount) == [SQLSum.most] && sums.map(\.refunded) == [SQLSum.most])
    try await store.authorized(4, .eur(300), merchant: "other")
    store.clock.advance(.seconds(1_200))
    try await store.authorized(5, .eur(.max))
    try await store.count()
    #expect(try await store.figures(by: .day, of: ["other"]).map(\.amount) == [300])
    #expect(try await store.figures(by: .currency).map(\.amount) == [SQLSum.most, SQLSum.most])
    #expect(try await FigureCounting(store.database).step() == .nothingNew, "nothing is left to count")
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `are counted from the beginning where they are missing, the newest first`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await CountedStore(engine)
    for number in 0..<80 {
      store.clock.advance(.seconds(3_600))
      try await store.authorized(number)
    }
    let whole = FigureRange(0...store.clock.now.seconds / 86_400, of: nil)
    let today = FigureRange(whole.days.upperBound...whole.days.upperBound, of: nil)
    #expect(try await !store.database.read { try today.isCounted(in: $0) })
    var hasMore = true
    while hasMore, try await !store.database.read({ try today.isCounted(in: $0) }) {
      hasMore = try await FigureCounting(store.database).step() != .nothingNew
    }
    #expect(try await store.database.read { try today.isCounted(in: $0) && !whole.isCounted(in: $0) })
    let (figures, payments) = try await store.compared()
    #expect(figures.last == payments.last && figures.count < payments.count)
    try await store.count()
    #expect(try await store.database.read { try whole.isCounted(in: $0) })
    try await store.expectExact()
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `are exact although several count at once while payments are made`(_ engine: StoreEngineUnderTest) async throws {
    let store = try await CountedStore(engine)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<48 {
        group.addTask {
          store.clock.advance(.seconds(1_200))
          let id = try await store.authorized(number)
          try await store.done(.capture, nil, id)
        }
      }
      for counter in 0..<4 {
        let figures = FigureCounting(store.databases[counter % store.databases.count], page: 2)
        group.addTask { for _ in 0..<30 { _ = try await figures.step() } }
      }
      try await group.waitForAll()
    }
    try await store.count()
    try await store.expectExact()
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `stay exact when a payment changes between being counted and being written down`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await CountedStore(engine)
    let id = try await store.authorized(1)
    try await store.count()
    try await store.done(.capture, nil, id)
    // Two that count the same: one is behind the other's change.
    async let first = FigureCounting(store.database).step()
    async let second = FigureCounting(store.databases[store.databases.count - 1]).step()
    try await store.done(.refund, .eur(50), id)
    _ = try await (first, second)
    try await store.count()
    try await store.expectExact()
  }
}

@Suite struct `The turn of counting` {
  /// Each of them looks every two seconds and begins a piece of work in its turn.
  private func counts(
    _ processes: Int, seconds: Range<Int>, _ turns: inout [CountingTurn], _ mark: inout Int64
  ) -> [Int] {
    var counts = Array(repeating: 0, count: processes)
    for second in seconds where second.isMultiple(of: 2) {
      for process in 0..<processes {
        if turns[process].isOurs(mark, at: .seconds(second)) {
          counts[process] += 1
          mark += 1
        }
        turns[process].ends(mark)
      }
    }
    return counts
  }

  @Test func `is a lone process's from the first look on`() {
    var (turns, mark) = ([CountingTurn()], Int64(0))
    #expect(counts(1, seconds: 0..<60, &turns, &mark) == [30])
  }

  @Test func `is one process's of three, and another's a minute after that one has ended`() {
    var (turns, mark) = (Array(repeating: CountingTurn(), count: 3), Int64(7))
    let counted = counts(3, seconds: 0..<60, &turns, &mark)
    #expect(counted.filter { $0 > 2 }.count == 1, "\(counted)")
    turns.remove(at: counted.firstIndex { $0 > 2 } ?? 0)
    #expect(counts(2, seconds: 60..<118, &turns, &mark) == [0, 0])
    let later = counts(2, seconds: 118..<180, &turns, &mark)
    #expect(later.filter { $0 > 2 }.count == 1, "\(later)")
  }

  @Test func `stays with a process whose piece of work takes minutes`() {
    var (long, other, mark) = (CountingTurn(), CountingTurn(), Int64(7))
    let begins = long.isOurs(mark, at: .zero)
    #expect(begins)
    mark += 1
    var pieces: [Int] = []
    for second in 0..<300 {
      if long.mustRenew(at: .seconds(second)) { mark += 1 }
      if second.isMultiple(of: 2), other.isOurs(mark, at: .seconds(second)) { pieces.append(second) }
      other.ends(mark)
    }
    #expect(pieces.allSatisfy { $0 < 20 }, "\(pieces)")
  }
}
