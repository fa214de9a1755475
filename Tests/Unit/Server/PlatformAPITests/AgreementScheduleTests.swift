import Acquiring
import DirectWire
import Gateway
import Ledger
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// A merchant with one agreement, which Tender charges.
struct Subscription: Sendable {
  static let day = Duration.seconds(86_400)
  static let month: JSONObject = ["label": "Box", "amount": 1_250, "interval": ["unit": "day", "count": 30]]

  let platform: Platform
  let payment: String
  let id: AgreementID

  init(_ terms: JSONObject = ["recurring": ["regular": .object(month)]], isScheduled: Bool = true) async throws {
    var capabilities = AcquirerCapabilities(
      name: "fake", instruments: [.network, .stored], idempotency: .none, inquiry: true, reversal: true,
      settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))
    capabilities.storesCredentials = [.network]
    platform = try await Platform(FakeAcquirer(capabilities))
    var agreement = terms
    agreement["description"] = "Box"
    agreement["managementURL"] = "https://shop.example/box"
    if isScheduled { agreement["schedule"] = true }
    payment = try await platform.made(input: [
      "paymentProduct302SpecificInput": ["isRecurring": true, "agreement": .object(agreement)],
      "requiresApproval": false,
    ])
    let page = try await platform.journal.database.read {
      try PlatformAgreements.page([], of: Platform.merchant, in: $0)
    }
    guard let id = page.agreements.first?.id else { throw Unexpected() }
    self.id = id
  }

  var shown: AgreementAnswer {
    get async throws {
      let id = id
      guard
        let found = try await platform.journal.database.read({
          try PlatformAgreements.find(id, of: Platform.merchant, in: $0)
        })
      else { throw Unexpected() }
      return found
    }
  }

  /// What the bank was asked for after the first payment.
  var asked: [AuthorizationRequest] { Array(platform.acquirer.authorizations.dropFirst()) }

  /// Time passes, and the scheduler looks until nothing is due.
  func pass(_ duration: Duration) async throws {
    platform.clock.advance(duration)
    for _ in 0..<5 { _ = try await platform.scheduler().round() }
  }

  func change(_ body: JSONValue) async throws -> AgreementAnswer {
    try await platform.payments.changeAgreement(id, body.serialized(), of: Platform.merchant)
  }

  func declines(_ reason: DeclineReason, _ code: String) {
    platform.acquirer.authorizes(.declined(Decline(reason: reason, code: code)))
  }

  func approves() { platform.acquirer.authorizes { reference, _ in FakeAcquirer.approval(reference) } }
}

@Suite struct `An agreement with a schedule` {
  private static let day = Subscription.day

  @Test func `is charged and captured once at the date of each period, with a reference of its own`() async throws {
    let box = try await Subscription()
    #expect(try await box.shown.schedule?.period == 1)
    for month in 1...13 {
      try await box.pass(Self.day * 30 - .seconds(1))
      #expect(box.asked.count == month - 1)
      try await box.pass(.seconds(1))
      #expect(box.asked.count == month)
    }
    let shown = try await box.shown
    #expect(shown.charges?.map(\.status) == Array(repeating: .captured, count: 14))
    #expect(shown.schedule?.period == 14 && shown.schedule?.at == shown.next?.due)
    #expect(box.asked.map(\.merchantReference) == (1...13).map { "order-1-\($0)" })
    #expect(box.asked.allSatisfy { $0.amount == .eur(1_250) })
    #expect(try await box.platform.journal.verifyAudit().isIntact)
  }

  @Test func `is charged by none but its merchant where the agreement does not ask for it`() async throws {
    let box = try await Subscription(isScheduled: false)
    try await box.pass(Self.day * 30)
    #expect(try await box.shown.schedule == nil && box.asked.isEmpty)
  }

  @Test func `is charged once by many processes that look at the same moment`() async throws {
    let box = try await Subscription()
    for month in 1...5 {
      box.platform.clock.advance(Self.day * 30)
      let schedulers = (0..<8).map { box.platform.scheduler(ofAnother: $0 % 2 == 0) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for scheduler in schedulers { group.addTask { for _ in 0..<3 { _ = try await scheduler.round() } } }
        try await group.waitForAll()
      }
      #expect(box.asked.count == month)
    }
  }

  /// Another process found the same period due, charged it, and was declined: this one's decision is of before.
  @Test func `is not charged by a process that decided before another one charged it`() async throws {
    let box = try await Subscription()
    box.declines(.insufficientFunds, "51")
    box.platform.clock.advance(Self.day * 30)
    let (journal, id) = (box.platform.journal, box.id)
    guard
      case .charge(let merchant, let schedule) = try await journal.database.write({
        try journal.followSchedule(of: id, in: $0)
      })
    else { throw Unexpected() }
    try await box.pass(.zero)
    #expect(box.asked.count == 1)
    var charge = AgreementCharge(id, of: merchant)
    (charge.period, charge.schedule) = (schedule.period, schedule)
    let late = await #expect(throws: GatewayError.self) {
      try await AgreementCharging.perform(charge, under: box.platform.call(), through: box.platform.gateway)
    }
    #expect(late?.code == "agreement_in_progress" && box.asked.count == 1)
  }

  @Test
  func `is tried again after a day, two, four and seven when its card is declined, then suspended with the cause`()
    async throws
  {
    let box = try await Subscription()
    box.declines(.insufficientFunds, "51")
    try await box.pass(Self.day * 30)
    #expect(box.asked.count == 1)
    for (number, pause) in [1, 2, 4, 7].enumerated() {
      try await box.pass(Self.day * pause - .seconds(1))
      #expect(box.asked.count == number + 1, "too early")
      try await box.pass(.seconds(1))
      #expect(box.asked.count == number + 2)
    }
    let shown = try await box.shown
    #expect(shown.status == .suspended)
    #expect(shown.history?.last?.by == .issuer)
    #expect(shown.history?.last?.reason == "declined 5 times in a row, last as insufficient_funds")
    try await box.pass(Self.day)
    #expect(box.asked.count == 5)
    box.approves()
    #expect(try await box.change(["status": "active", "reason": "the shopper has money"]).status == .active)
    try await box.pass(.zero)
    #expect(box.asked.count == 6)
    let paid = try await box.shown
    #expect(paid.charges?.map(\.status) == [.captured, .captured] && paid.schedule?.period == 2)
  }

  @Test func `goes on with the next period where the card is approved again`() async throws {
    let box = try await Subscription()
    box.declines(.insufficientFunds, "51")
    try await box.pass(Self.day * 30)
    box.approves()
    try await box.pass(Self.day)
    #expect(try await box.shown.charges?.map(\.status) == [.captured, .captured])
    try await box.pass(Self.day * 29)
    #expect(try await box.shown.charges?.count == 3 && box.asked.count == 3)
  }

  @Test(arguments: [
    (DeclineReason.lostOrStolen, "43", "the card must never be tried again"),
    (.notPermitted, "57", "the card must never be tried again"), (.expiredCard, "54", "another try needs new data"),
  ])
  func `is suspended at the first decline after which the card is not tried again`(
    _ reason: DeclineReason, _ code: String, _ words: String
  ) async throws {
    let box = try await Subscription()
    box.declines(reason, code)
    try await box.pass(Self.day * 30)
    #expect(try await box.shown.status == .suspended)
    #expect(try await box.shown.history?.last?.reason == "declined as \(reason.rawValue): \(words)")
    try await box.pass(Self.day * 60)
    #expect(box.asked.count == 1)
    // It may be resumed, and is tried again, where a scheme does not forbid that.
    if reason == .expiredCard {
      _ = try await box.change(["status": "active"])
    } else {
      let refused = await #expect(throws: GatewayError.self) { try await box.change(["status": "active"]) }
      #expect(refused?.code == "agreement_stopped")
    }
    try await box.pass(.zero)
    #expect(box.asked.count == (reason == .expiredCard ? 2 : 1))
    #expect(try await box.shown.status == .suspended)
  }

  @Test func `shows each decline of a period, with its time and its reason`() async throws {
    let box = try await Subscription()
    box.declines(.insufficientFunds, "51")
    try await box.pass(Self.day * 30)
    box.declines(.doNotHonor, "05")
    try await box.pass(Self.day)
    box.approves()
    try await box.pass(Self.day * 2)
    let charge = try #require(try await box.shown.charges?.last)
    #expect(charge.status == .captured && charge.declines?.map(\.reason) == [.insufficientFunds, .doNotHonor])
    #expect(charge.declines?.map(\.paymentId).contains(charge.paymentId ?? "") == false)
    #expect(charge.declines.map { $0[0].at.timestamp < $0[1].at.timestamp } == true)
    #expect(try await box.shown.charges?.first?.declines == nil)
  }

  @Test func `keeps a period whose outcome is unknown, and goes on when recovery has found it`() async throws {
    let box = try await Subscription()
    box.platform.acquirer.authorizes(.unknown(Interruption(.timeout)))
    try await box.pass(Self.day * 30)
    try await box.pass(.seconds(3_600))
    #expect(try await box.shown.schedule?.period == 1 && box.asked.count == 1)
    box.platform.acquirer.finds { .answer(FakeAcquirer.approval($0)) }
    box.approves()
    try await box.platform.recover()
    try await box.pass(.seconds(3_600))
    let shown = try await box.shown
    #expect(shown.schedule?.period == 2 && box.asked.count == 1)
  }

  @Test func `charges the current period alone after a time in which nothing ran`() async throws {
    let box = try await Subscription()
    try await box.pass(Self.day * 100)
    #expect(box.asked.map(\.merchantReference) == ["order-1-3"])
    #expect(try await box.shown.schedule?.period == 4)
  }

  @Test func `does not charge what the merchant has charged`() async throws {
    let box = try await Subscription()
    box.platform.clock.advance(Self.day * 30)
    let body: JSONValue = ["order": ["references": ["merchantReference": "mine"]]]
    _ = try await box.platform.payments.subsequent(box.payment, body.serialized(), box.platform.call())
    try await box.pass(.zero)
    #expect(try await box.shown.schedule?.period == 2 && box.asked.map(\.merchantReference) == ["mine"])
  }

  @Test func `has a trial that costs nothing or less, and then the regular price`() async throws {
    var regular = Subscription.month
    let start = WallClock.system.now().adding(Self.day * 60)
    regular["startsAt"] = .string(start.description)
    let trial: JSONObject = ["label": "Trial", "amount": 0, "interval": ["unit": "day", "count": 30]]
    let box = try await Subscription(["recurring": ["regular": .object(regular), "trial": .object(trial)]])
    for _ in 0..<4 { try await box.pass(Self.day * 30 + .seconds(2)) }
    #expect(box.asked.map(\.amount) == [.eur(1_250), .eur(1_250), .eur(1_250)])
    #expect(try await box.shown.charges?.map(\.period) == [0, 2, 3, 4])
  }

  @Test func `ends with its last period`() async throws {
    var regular = Subscription.month
    regular["endsAt"] = .string(WallClock.system.now().adding(Self.day * 70).description)
    let box = try await Subscription(["recurring": ["regular": .object(regular)]])
    for _ in 0..<6 { try await box.pass(Self.day * 30) }
    let shown = try await box.shown
    #expect(box.asked.count == 2 && shown.schedule != nil && shown.schedule?.at == nil)
  }

  @Test func `of a deferred payment is charged at its date, or never where it has ended before`() async throws {
    let date = WallClock.system.now().adding(Self.day * 10).description
    let terms: JSONObject = ["deferred": ["label": "Room", "amount": 9_000, "date": .string(date)]]
    let (charged, cancelled) = (try await Subscription(terms), try await Subscription(terms))
    #expect(try await cancelled.change(["status": "ended", "reason": "free until the day before"]).status == .ended)
    for room in [charged, cancelled] { for _ in 0..<3 { try await room.pass(Self.day * 6) } }
    #expect(charged.asked.map(\.amount) == [.eur(9_000)] && cancelled.asked.isEmpty)
    #expect(try await charged.shown.schedule?.at == nil)
  }

  @Test func `of a reload is refused, because a balance has no dates`() async throws {
    let terms: JSONObject = ["automaticReload": ["label": "Card", "amount": 2_000, "threshold": 500]]
    let refused = await #expect(throws: (any Error).self) { try await Subscription(terms) }
    #expect("\(refused.map { "\($0)" } ?? "")".contains("schedule"))
  }

  @Test func `takes a price that the merchant has named from its date on, also for the merchant's own charges`()
    async throws
  {
    let box = try await Subscription()
    let from = box.platform.clock.now.adding(Self.day * 45)
    let changed = try await box.change(["price": ["amount": 1_490, "from": .string(from.description)]])
    #expect(changed.prices?.map(\.amount) == [1_490] && changed.next?.amount == 1_250)
    for _ in 0..<3 { try await box.pass(Self.day * 30) }
    #expect(box.asked.map(\.amount) == [.eur(1_250), .eur(1_490), .eur(1_490)])
    box.platform.clock.advance(Self.day * 30)
    let body: JSONValue = ["order": ["references": ["merchantReference": "mine"]]]
    _ = try await box.platform.payments.subsequent(box.payment, body.serialized(), box.platform.call())
    #expect(box.asked.last?.amount == .eur(1_490))
    let wrong: [JSONValue] = [
      ["price": ["amount": 0]], ["status": "pending"], ["reason": "none"],
      ["price": ["amount": 1_490, "form": "2090-01-01T00:00:00Z"]], ["price": ["amount": 1_490], "statsu": "ended"],
      ["price": ["amount": 1_490, "from": .null]],
    ]
    for body in wrong {
      let refused = await #expect(throws: PlatformRefusal.self) { try await box.change(body) }
      #expect(refused?.status == 400, "\(body)")
    }
    #expect(try await box.shown.prices?.count == 1)
  }

  @Test func `has each price in its history, with who named it and why, and none from a time that is over`()
    async throws
  {
    let box = try await Subscription()
    let from = box.platform.clock.now.adding(Self.day * 45)
    box.platform.clock.advance(.seconds(1))
    _ = try await box.change(["price": ["amount": 1_490, "from": .string(from.description)], "reason": "told"])
    _ = try await box.change(["price": ["amount": 1_300]])
    let past = box.platform.clock.now.adding(.seconds(-1))
    let refused = await #expect(throws: GatewayError.self) {
      try await box.change(["price": ["amount": 1, "from": .string(past.description)]])
    }
    #expect(refused?.code == "agreement_price_not_possible")
    let history = try #require(try await box.shown.history)
    #expect(history.map(\.event) == ["begun", "price_named", "price_named"])
    #expect(history.dropFirst().map(\.by) == [.merchant, .merchant])
    let words = history.dropFirst().map { $0.reason ?? "" }
    #expect(words.first == "14.90 EUR from \(Timestamp(seconds: from.seconds)): told")
    #expect(words.last?.hasPrefix("13.00 EUR from ") == true)
    #expect(try await box.shown.current?.amount == 1_250)
  }

  @Test(
    arguments: [
      ["automaticReload": ["label": "Card", "amount": 2_000, "threshold": 500]],
      ["deferred": ["label": "Room", "amount": 9_000, "date": "2090-01-01T00:00:00Z"]],
    ] as [JSONObject])
  func `of one amount takes no price`(_ terms: JSONObject) async throws {
    let box = try await Subscription(terms, isScheduled: false)
    let refused = await #expect(throws: GatewayError.self) { try await box.change(["price": ["amount": 1_490]]) }
    #expect(refused?.code == "agreement_price_not_possible")
    let shown = try await box.shown
    #expect(shown.prices == nil && shown.history?.map(\.event) == ["begun"])
  }

  @Test func `waits an hour where its route cannot charge, and tells so`() async throws {
    let box = try await Subscription()
    box.platform.clock.advance(Self.day * 30)
    let other = try await Platform()
    let scheduler = other.scheduler(over: box.platform.journal)
    let report = try await scheduler.round()
    #expect(report.failures.map { ($0.error as? GatewayError)?.code } == ["agreement_not_chargeable"])
    #expect(try await scheduler.round().failures.isEmpty)
    try await box.pass(.seconds(3_600))
    #expect(box.asked.count == 1)
  }
}

private struct Unexpected: Error {}
