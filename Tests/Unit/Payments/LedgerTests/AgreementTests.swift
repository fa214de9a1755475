import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

/// A journal with an agreement, which 64 callers may charge at once.
struct AgreementBench: Sendable {
  static let begun = Timestamp(year: 2026, month: 1, day: 31, hour: 9)!
  static let day = Duration.seconds(86_400)

  let clock = ManualClock(begun)
  let database: Database
  let journal: Journal
  private let place: EmptyDatabase

  init(_ engine: StoreEngineUnderTest = .sqlite) async throws {
    place = try await EmptyDatabase(engine)
    database = try await place.open(Journal.migrations, clock: clock.wall)
    journal = Journal(database)
  }

  static let terms = AgreementTerms(
    paymentDescription: "Box", managementURL: "https://shop.example/box", billingAgreement: "Until you end it.",
    tokenNotificationURL: "https://pay.example/t")

  static func monthly(end: Timestamp? = nil, trial: RecurringPayment.Billing? = nil, start: Timestamp? = nil)
    -> PaymentAgreement
  {
    .recurring(
      RecurringPayment(
        terms: terms,
        regular: RecurringPayment.Billing(
          label: "Box", amount: .eur(1_250), interval: BillingInterval(.month), start: start, end: end), trial: trial))
  }

  func begun(
    _ agreement: PaymentAgreement = monthly(), order: String = "order-1", token: Int = 1
  ) async throws -> (AgreementID, Attempt) {
    let journal = journal
    return try await database.write { store in
      let attempt = try journal.claim(.sample(order), spending: .sample(token), card: .sample, in: store)
      let new = NewAgreement(
        terms: agreement, timeZone: "Europe/Dublin", merchantReference: "R-1", customer: "c-7", merchantToken: "MT-1")
      return (try journal.begin(new, with: attempt, in: store), attempt)
    }
  }

  func active(_ agreement: PaymentAgreement = monthly()) async throws -> AgreementID {
    let (id, attempt) = try await begun(agreement)
    let approval = Approval(
      acquirerReference: "A-1", networkTransactionID: "N-1", networkLinkID: "L-1", storedReference: "S-1")
    _ = try await journal.record(.approved(approval), for: attempt)
    return id
  }

  /// Claims the payment of a period.
  func charge(
    _ id: AgreementID, period: Int64? = nil, named number: Int, _ merchant: MerchantID = "shop"
  ) async throws -> (period: Int64, Attempt) {
    let journal = journal
    return try await database.write { store in
      let taken = try journal.takePeriod(
        period, of: id, of: merchant, for: OrderID("charge-\(number)"), in: store)
      let order = Order.sample(taken.order.rawValue, taken.period.amount)
      let attempt = try journal.claim(order, spending: .sample(1_000 + number), card: .sample, in: store)
      try journal.note(attempt, chargeOf: id, in: store)
      return (taken.period.number, attempt)
    }
  }

  func change(_ id: AgreementID, _ event: AgreementEvent, _ merchant: MerchantID = "shop") async throws -> Agreement {
    let journal = journal
    return try await database.write {
      try journal.change(id, of: merchant, by: event, .merchant, because: "as asked", in: $0)
    }
  }

  func agreement(_ id: AgreementID) async throws -> Agreement {
    guard let found = try await journal.agreement(id, of: "shop") else { throw Unexpected() }
    return found
  }
}

@Suite struct `An agreement in the ledger` {
  @Test(arguments: StoreEngineUnderTest.present)
  func `is pending with its first payment, and active once that is approved`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let bench = try await AgreementBench(engine)
    let (id, attempt) = try await bench.begun()
    let pending = try await bench.agreement(id)
    #expect(pending.status == .pending && pending.firstPayment == attempt.payment)
    #expect((pending.customer, pending.merchantToken, pending.timeZone) == ("c-7", "MT-1", "Europe/Dublin"))
    _ = try await bench.journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
    #expect(try await bench.agreement(id).status == .active)
    let history = try await bench.database.read { try Journal.history(of: id, in: $0) }
    #expect(history.map(\.event) == [.begun] && history.map(\.party) == [.firstPayment])
  }

  @Test func `ends when its first payment is declined, and follows one whose outcome was unknown`() async throws {
    let bench = try await AgreementBench()
    let (refused, first) = try await bench.begun()
    _ = try await bench.journal.record(.declined(Decline(reason: .insufficientFunds, code: "51")), for: first)
    #expect(try await bench.agreement(refused).status == .ended)
    let (late, second) = try await bench.begun(order: "order-2", token: 2)
    _ = try await bench.journal.record(.unknown(Interruption(.timeout)), for: second)
    #expect(try await bench.agreement(late).status == .pending)
    bench.clock.advance(.seconds(61))
    let leased = try await bench.database.write { [journal = bench.journal] in
      try journal.leaseDueOperations(8, except: [], in: $0)
    }
    let again = try #require(leased.first)
    _ = try await bench.journal.record(FakeAcquirer.approval(again.reference), for: again, reportedTo: .noCaller)
    #expect(try await bench.agreement(late).status == .active)
  }

  @Test func `comes back as it was written, of each kind`() async throws {
    let (start, day) = (AgreementBench.begun, AgreementBench.day)
    let trial = RecurringPayment.Billing(
      label: "Trial", amount: .eur(0), interval: BillingInterval(.day, count: 7), start: start,
      end: start.adding(day * 14))
    let terms = AgreementTerms(paymentDescription: "D", managementURL: "https://e.example/m")
    let kinds: [PaymentAgreement] = [
      AgreementBench.monthly(end: start.adding(day * 365), trial: trial, start: start.adding(day * 14)),
      .automaticReload(AutomaticReload(terms: terms, label: "Card", amount: .eur(2_000), threshold: .eur(500))),
      .deferred(DeferredPayment(terms: terms, label: "Room", amount: .eur(9_000), date: start.adding(day * 30))),
      .deferred(
        DeferredPayment(
          terms: terms, label: "Room", amount: .eur(9_000), date: start.adding(day * 30),
          freeCancellation: .init(until: start.adding(day * 20), timeZone: "America/New_York"))),
    ]
    for kind in kinds {
      let bench = try await AgreementBench()
      let id = try await bench.active(kind)
      #expect(try await bench.agreement(id).terms == kind)
    }
  }

  @Test func `keeps what the provider said of the first payment, and no number`() async throws {
    let bench = try await AgreementBench()
    let agreement = try await bench.agreement(try await bench.active())
    let kept = try await bench.database.read { [journal = bench.journal] in
      try journal.credential(of: agreement, in: $0)
    }
    #expect(kept?.acquirerReference == "A-1" && kept?.storedReference == "S-1")
    #expect(kept?.networkTransactionID == "N-1" && kept?.networkLinkID == "L-1")
  }

  @Test(arguments: StoreEngineUnderTest.present) func `ends with the erasure of its shopper, and names nobody`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let bench = try await AgreementBench(engine)
    let id = try await bench.active()
    try await bench.database.write { try Journal.forgetAgreement(of: OrderID("another"), because: "asked for", in: $0) }
    #expect(try await bench.agreement(id).status == .active)
    for _ in 1...2 {
      try await bench.database.write {
        try Journal.forgetAgreement(of: OrderID("order-1"), because: "asked for", in: $0)
      }
      let agreement = try await bench.agreement(id)
      #expect((agreement.status, agreement.customer, agreement.merchantToken) == (.ended, nil, nil))
    }
    let history = try await bench.database.read { try Journal.history(of: id, in: $0) }
    #expect(history.map(\.event) == [.begun, .ended] && history.last?.reason == "asked for")
  }

  @Test(arguments: StoreEngineUnderTest.present) func `names its shopper while it runs, and until its end is old`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let bench = try await AgreementBench(engine)
    let running = try await bench.active()
    let (ended, _) = try await bench.begun(order: "order-2", token: 2)
    _ = try await bench.change(ended, .ended)
    let day = bench.clock.wall.now()
    bench.clock.advance(AgreementBench.day)
    func forget(before end: Timestamp) async throws -> Int {
      try await bench.database.write { try Journal.forgetAgreements(endedBefore: end, atMost: 5, in: $0) }
    }
    #expect(try await forget(before: day) == 0)
    #expect(try await forget(before: bench.clock.wall.now()) == 1)
    #expect(try await forget(before: bench.clock.wall.now()) == 0)
    #expect(try await bench.agreement(ended).customer == nil)
    #expect(try await bench.agreement(running).customer == "c-7")
  }

  @Test(arguments: StoreEngineUnderTest.present) func `is charged once for a period by sixty-four callers`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let bench = try await AgreementBench(engine)
    let id = try await bench.active()
    bench.clock.advance(AgreementBench.day * 29)
    let charged = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<64 { group.addTask { (try? await bench.charge(id, named: number)) != nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(charged == 1)
    let charges = try await bench.database.read { try Journal.charges(of: id, in: $0) }
    #expect(charges.map(\.period) == [0, 1])
  }

  @Test func `is charged again for a period that was declined, under the same order`() async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    bench.clock.advance(AgreementBench.day * 29)
    let (period, first) = try await bench.charge(id, named: 1)
    _ = try await bench.journal.record(.declined(Decline(reason: .insufficientFunds, code: "51")), for: first)
    let (same, second) = try await bench.charge(id, named: 2)
    #expect((period, same) == (1, 1))
    _ = try await bench.journal.record(FakeAcquirer.approval(second.reference), for: second)
    let third = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 3) }
    #expect(third == .charged(1, second.payment))
    #expect(try await bench.agreement(id).status == .active)
  }

  @Test func `is not charged before a period begins, for the first payment's own, or for another merchant`()
    async throws
  {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    let own = try await bench.agreement(id).firstPayment
    let now = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 1) }
    #expect(now == .charged(0, own))
    let early = await #expect(throws: AgreementError.self) { try await bench.charge(id, period: 1, named: 2) }
    #expect(early == .notDue(1, Timestamp(year: 2026, month: 2, day: 28, hour: 9)!))
    bench.clock.advance(AgreementBench.day * 40)
    let foreign = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 3, "other") }
    #expect(foreign == .unknown(id))
  }

  @Test func `is not charged while it is suspended, and never after it was ended or its end has passed`() async throws {
    let bench = try await AgreementBench()
    let end = AgreementBench.begun.adding(AgreementBench.day * 45)
    let id = try await bench.active(AgreementBench.monthly(end: end))
    bench.clock.advance(AgreementBench.day * 200)
    // The last period by the end is that of February; none of the months after it is the agreement's.
    let beyond = await #expect(throws: AgreementError.self) { try await bench.charge(id, period: 2, named: 1) }
    #expect(beyond == .noSuchPeriod(2))
    #expect(try await bench.change(id, .suspended).status == .suspended)
    let suspended = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 2) }
    #expect(suspended == .notChargeable(.suspended))
    #expect(try await bench.change(id, .resumed).status == .active)
    #expect(try await bench.charge(id, named: 3).period == 1)
    #expect(try await bench.change(id, .ended).status == .ended)
    #expect(try await bench.change(id, .ended).status == .ended)
    let ended = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 4) }
    #expect(ended == .notChargeable(.ended))
    let again = await #expect(throws: AgreementError.self) { try await bench.change(id, .resumed) }
    #expect(again == .notPossible(.resumed, .ended))
    let history = try await bench.database.read { try Journal.history(of: id, in: $0) }
    #expect(history.map(\.event) == [.begun, .suspended, .resumed, .ended])
    #expect(history.last?.reason == "as asked" && history.last?.party == .merchant)
  }

  @Test func `that reloads is charged as often as it is asked, one charge after the other`() async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active(
      .automaticReload(
        AutomaticReload(terms: AgreementBench.terms, label: "Card", amount: .eur(2_000), threshold: .eur(500))))
    let (first, attempt) = try await bench.charge(id, named: 1)
    let open = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 2) }
    #expect(first == 1 && open == .charged(1, attempt.payment))
    _ = try await bench.journal.record(FakeAcquirer.approval(attempt.reference), for: attempt)
    #expect(try await bench.charge(id, named: 3).period == 2)
  }

  @Test func `that is deferred is charged once, from its date on`() async throws {
    let bench = try await AgreementBench()
    let date = AgreementBench.begun.adding(AgreementBench.day * 30)
    let id = try await bench.active(
      .deferred(DeferredPayment(terms: AgreementBench.terms, label: "Room", amount: .eur(9_000), date: date)))
    let early = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 1) }
    #expect(early == .notDue(1, date))
    bench.clock.advance(AgreementBench.day * 30)
    let (_, attempt) = try await bench.charge(id, named: 2)
    #expect(attempt.amount == .eur(9_000))
    bench.clock.advance(AgreementBench.day * 300)
    let again = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 3) }
    #expect(again == .charged(1, attempt.payment))
  }

  @Test(arguments: [DeclineReason.lostOrStolen, .invalidCard, .notPermitted])
  func `is never charged again after a decline that a scheme forbids to repeat`(_ reason: DeclineReason) async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    bench.clock.advance(AgreementBench.day * 29)
    let (_, attempt) = try await bench.charge(id, named: 1)
    _ = try await bench.journal.record(.declined(Decline(reason: reason, code: "43")), for: attempt)
    bench.clock.advance(AgreementBench.day * 400)
    let again = await #expect(throws: AgreementError.self) { try await bench.charge(id, named: 2) }
    #expect(again == .stopped(reason))
    let retries = try await bench.database.read { try Journal.retries(of: id, in: $0) }
    #expect(retries.stopped == reason && retries.declines == 0)
  }

  @Test func `is charged ten times within a day and fifteen within thirty days at most while it is declined`()
    async throws
  {
    let bench = try await AgreementBench()
    let id = try await bench.active(
      .automaticReload(
        AutomaticReload(terms: AgreementBench.terms, label: "Card", amount: .eur(2_000), threshold: .eur(500))))
    func decline(_ numbers: Range<Int>) async throws {
      for number in numbers {
        let (period, attempt) = try await bench.charge(id, named: number)
        #expect(period == 1)
        _ = try await bench.journal.record(.declined(Decline(reason: .insufficientFunds, code: "51")), for: attempt)
      }
    }
    func refusal(_ number: Int) async -> AgreementError? {
      await #expect(throws: AgreementError.self) { try await bench.charge(id, named: number) }
    }
    let first = bench.clock.now
    try await decline(0..<10)
    #expect(await refusal(100) == .tooManyDeclines(first.adding(AgreementBench.day)))
    bench.clock.advance(AgreementBench.day)
    try await decline(10..<15)
    #expect(await refusal(101) == .tooManyDeclines(first.adding(AgreementBench.day * 30)))
    #expect(try await bench.database.read { try Journal.retries(of: id, in: $0).declines } == 15)
    bench.clock.advance(AgreementBench.day * 29)
    try await decline(15..<16)
  }

  @Test func `counts a charge that has no answer yet as a decline`() async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    bench.clock.advance(AgreementBench.day * 800)
    for period in 1...10 { _ = try await bench.charge(id, period: Int64(period), named: period) }
    let more = await #expect(throws: AgreementError.self) { try await bench.charge(id, period: 11, named: 11) }
    #expect(more == .tooManyDeclines(bench.clock.now.adding(AgreementBench.day)))
  }

  @Test func `tells the merchant of its change by an event of its first payment`() async throws {
    let bench = try await AgreementBench()
    let id = try await bench.active()
    _ = try await bench.change(id, .ended)
    _ = try await bench.change(id, .ended)
    let events = try await bench.database.write { try OutboxEvent.take(for: .webhooks, payments: 10, in: $0) }
    #expect(events.map(\.agreementEvent) == [nil, nil, .ended] && events.allSatisfy { $0.agreement == id })
    #expect(events.map(\.sequence) == [1, 2, 3] && events.last?.status == .authorized)
  }

  @Test func `meets the events of its table, and no other`() {
    let allowed = AgreementStatus.allCases.flatMap { status in
      AgreementEvent.allCases.compactMap { event in
        AgreementState.status(after: event, in: status).map { "\(status) \(event) \($0)" }
      }
    }
    #expect(
      allowed == [
        "pending begun active", "pending refused ended", "pending ended ended", "pending cardUpdated pending",
        "pending priceNamed pending", "active suspended suspended", "active ended ended", "active cardUpdated active",
        "active priceNamed active", "suspended resumed active", "suspended ended ended",
        "suspended cardUpdated suspended", "suspended priceNamed suspended",
      ])
  }
}
