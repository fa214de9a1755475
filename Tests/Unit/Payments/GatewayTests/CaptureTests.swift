import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Capturing` {
  let shop: Shop
  init() async throws { shop = try await Shop() }

  private func authorized() async throws -> Payment {
    try await shop.gateway.authorize(Shop.order(), with: shop.token())
  }

  @Test func `takes all that is held, under the acquirer's name of the authorization`() async throws {
    let payment = try await authorized()
    let captured = try await shop.gateway.capture(payment.id).payment
    #expect(captured.status == .captured)
    #expect(captured.captured == 1250)
    let reference = try #require(shop.fake.authorizations.first).reference
    #expect(shop.fake.captures.map(\.authorization) == ["A-\(reference)"])
  }

  @Test func `captures of a payment are numbered, and a repeat has the number of its first request`() async throws {
    let acquirer = FakeAcquirer(
      AcquirerCapabilities(
        instruments: [.network], idempotency: .reference(window: .seconds(86_400)), inquiry: false, reversal: true,
        settleHorizon: .seconds(1)))
    let gateway = shop.gateway(asking: acquirer)
    let payment = try await gateway.authorize(Shop.order(), with: shop.token()).id
    acquirer.captures(.declined(Decline(reason: .other, code: "13")))
    _ = try await gateway.capture(payment, .eur(100))
    acquirer.captures(.unknown(Interruption(.timeout)))
    _ = try await gateway.capture(payment, .eur(200))
    acquirer.captures { reference, _ in FakeAcquirer.approval(reference) }
    _ = try await gateway.capture(payment, .eur(300))
    shop.clock.advance(.seconds(600))
    _ = try await gateway.recover()
    #expect(acquirer.captures.map(\.number) == [1, 2, 3, 2])
    #expect(acquirer.captures[1].reference == acquirer.captures[3].reference)
    _ = try await gateway.refund(payment, .eur(100))
    #expect(acquirer.refunds.map(\.number) == [nil])
  }

  @Test func `more than is held is refused before the acquirer is asked`() async throws {
    let payment = try await authorized()
    await #expect(throws: GatewayError.operationRefused(.exceeds(available: .eur(1250)))) {
      try await shop.gateway.capture(payment.id, .eur(1251))
    }
    await #expect(throws: GatewayError.operationRefused(.invalidAmount(.eur(-1)))) {
      try await shop.gateway.capture(payment.id, .eur(-1))
    }
    #expect(shop.fake.captures.isEmpty)
  }

  @Test func `that is not possible says what the payment takes instead, and nothing where it takes none`() {
    let declined = GatewayError.operationRefused(.notPossible(.refund, .declined)).reason
    #expect(declined == "a payment that is declined takes no refund")
    let captured = GatewayError.operationRefused(.notPossible(.void, .captured)).reason
    #expect(captured == "a payment that is captured takes no void; where something is left, it takes: refund")
    let nothing = GatewayError.operationRefused(.exceeds(available: .eur(0))).reason
    #expect(nothing == "nothing is left of the payment for this")
  }

  @Test func `a declined order takes no capture, and an unknown payment is not found`() async throws {
    shop.fake.authorizes(.declined(Decline(reason: .doNotHonor, code: "05")))
    let payment = try await authorized()
    await #expect(throws: GatewayError.operationRefused(.notPossible(.capture, .declined))) {
      try await shop.gateway.capture(payment.id)
    }
    let unknown = PaymentID("unknown")
    await #expect(throws: GatewayError.operationRefused(.noSuchPayment(unknown))) {
      try await shop.gateway.capture(unknown)
    }
  }

  @Test func `paying takes the money at once when the order says so`() async throws {
    let manual = try await shop.gateway.pay(Shop.order("a"), with: shop.token(for: Shop.order("a")))
    #expect(manual.status == .authorized)
    let order = Shop.order("b", capture: .immediate)
    #expect(try await shop.gateway.pay(order, with: shop.token(for: order)).status == .captured)
  }

  @Test func `a capture without an answer leaves the shopper's success as it is`() async throws {
    shop.fake.captures(.unknown(Interruption(.timeout)))
    let order = Shop.order(capture: .immediate)
    let token = try shop.token(for: order)
    let payment = try await shop.gateway.pay(order, with: token)
    #expect(payment.status == .authorized)
    #expect(try await shop.journal.payment(payment.id)?.reportedOutcome == .success)
    let capture = try await shop.journal.operations(of: payment.id).first { $0.kind == .capture }
    #expect(capture?.state == .unknown)
    // A repeat finds the reservation, and takes nothing twice.
    #expect(try await shop.gateway.pay(order, with: token).status == .authorized)
    #expect(shop.fake.captures.count == 1)
    shop.fake.finds(.answer(FakeAcquirer.approval(shop.fake.captures[0].reference)))
    #expect(try await shop.gateway.inquire(payment.id).status == .captured)
  }

  @Test func `a merchant's capture that is declined says whether it may be approved later`() async throws {
    let payment = try await authorized()
    for reason in [DeclineReason.issuerUnavailable, .configuration, .notPermitted] {
      let decline = Decline(reason: reason, code: "00")
      shop.fake.captures(.declined(decline))
      let outcome = try await shop.gateway.capture(payment.id)
      #expect((outcome.operation.decline, outcome.payment.status) == (decline, .authorized))
    }
    shop.clock.advance(.seconds(86_400))
    #expect(try await shop.gateway.recover().isEmpty, "the merchant decides whether to try again")
    #expect(try await shop.journal.alarms().isEmpty)
  }
}

/// *Success* was reported to the shopper, and the capture failed.
@Suite struct `A capture that the order wants at once` {
  let shop: Shop
  private let order = Shop.order(capture: .immediate)
  init() async throws { shop = try await Shop() }

  private func refused(_ reason: DeclineReason) async throws -> PaymentID {
    shop.fake.captures(.declined(Decline(reason: reason, code: "99")))
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    #expect((payment.status, payment.reportedOutcome) == (.authorized, .success))
    return payment.id
  }

  private func approves() { shop.fake.captures { reference, _ in FakeAcquirer.approval(reference) } }

  private var alarms: [String] {
    get async throws { try await shop.journal.alarms().map(\.reason) }
  }

  /// How many captures recovery begins when the time has passed, and not a second before.
  private func captures(after pause: Duration) async throws -> Int {
    shop.clock.advance(pause - .seconds(1))
    #expect(try await shop.gateway.recover().captures == 0)
    shop.clock.advance(.seconds(1))
    return try await shop.gateway.recover().captures
  }

  @Test func `is tried again by recovery after 1, 2, 4 minutes, each time as a new operation`() async throws {
    let payment = try await refused(.issuerUnavailable)
    for minutes in [1, 2, 4] { #expect(try await captures(after: .seconds(60 * minutes)) == 1) }
    #expect(Set(shop.fake.captures.map(\.reference)).count == 4)
    #expect(try await alarms.isEmpty)
    approves()
    #expect(try await captures(after: .seconds(60 * 8)) == 1)
    #expect(try await shop.gateway.payment(payment)?.status == .captured)
    #expect(try await shop.gateway.recover().isEmpty)
  }

  @Test func `is not tried again by a repeat of the shopper's call`() async throws {
    _ = try await refused(.issuerUnavailable)
    approves()
    shop.clock.advance(.seconds(30))
    #expect(try await shop.gateway.pay(order, with: shop.token(for: order)).status == .authorized)
    #expect(shop.fake.captures.count == 1)
  }

  @Test func `raises an alarm at the fifth try, and goes on until the end of the hold`() async throws {
    let payment = try await refused(.issuerUnavailable)
    for minutes in [1, 2, 4] { #expect(try await captures(after: .seconds(60 * minutes)) == 1) }
    #expect(try await alarms.isEmpty)
    #expect(try await captures(after: .seconds(60 * 8)) == 1)
    #expect(try await alarms == ["capture_overdue"])
    for _ in 0..<200 {
      shop.clock.advance(.seconds(3_600))
      _ = try await shop.gateway.recover()
    }
    let ended = try #require(try await shop.gateway.payment(payment))
    #expect((ended.status, ended.captured) == (.voided, 0))
    #expect(try await alarms == ["capture_overdue"])
    #expect((160...180).contains(shop.fake.captures.count), "\(shop.fake.captures.count) captures in 7 days")
    let audit = try await shop.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
  }

  @Test func `refused for our configuration raises an alarm at once, which ends when the money is captured`()
    async throws
  {
    let payment = try await refused(.configuration)
    #expect(try await alarms == ["capture_misconfigured"])
    approves()
    #expect(try await captures(after: .seconds(60)) == 1)
    #expect(try await shop.gateway.payment(payment)?.status == .captured)
    #expect(try await alarms.isEmpty)
    let said = try await shop.journal.database.read { store in
      try store.rows("SELECT event FROM audit ORDER BY seq").map { try $0.text("event") }
    }
    #expect(said.contains("alarm raised: capture_misconfigured") && said.contains("alarm ended: capture_misconfigured"))
  }

  @Test func `declined for good raises an alarm and is not tried again, and the end of its hold raises another`()
    async throws
  {
    let payment = try await refused(.notPermitted)
    #expect(try await alarms == ["capture_declined"])
    try await shop.journal.acknowledge(payment)
    shop.clock.advance(.seconds(86_400))
    #expect(try await shop.gateway.recover().isEmpty)
    shop.clock.advance(.seconds(86_400 * 6))
    #expect(try await shop.gateway.recover().expiries == 1)
    #expect(try await shop.gateway.payment(payment)?.status == .voided)
    #expect(try await alarms == ["uncaptured_hold_ended"])
    #expect(shop.fake.captures.count == 1)
  }

  @Test func `is still owed after the merchant's own capture was refused`() async throws {
    let payment = try await refused(.issuerUnavailable)
    _ = try await shop.gateway.capture(payment, .eur(1000))
    approves()
    #expect(try await captures(after: .seconds(60)) == 1)
    #expect(try await shop.gateway.payment(payment)?.captured == 1250)
  }
}

@Suite struct `Inquiring` {
  let shop: Shop
  init() async throws { shop = try await Shop() }

  private func unknown() async throws -> Payment {
    shop.fake.authorizes(.unknown(Interruption(.timeout)))
    return try await shop.gateway.authorize(Shop.order(), with: shop.token())
  }

  @Test func `adopts what the acquirer answered, and never asks to authorize again`() async throws {
    let payment = try await unknown()
    let reference = try #require(shop.fake.authorizations.first).reference
    shop.fake.finds(.answer(FakeAcquirer.approval(reference)))
    let resolved = try await shop.gateway.inquire(payment.id)
    #expect(resolved.status == .authorized)
    #expect(shop.fake.inquiries.map(\.reference) == [reference])
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `takes what it finds held, once, if the order wanted it taken at once`() async throws {
    let payment = try await unknown()
    shop.fake.finds(.answer(FakeAcquirer.approval(try #require(shop.fake.authorizations.first).reference)))
    shop.clock.advance(.seconds(1))
    #expect(try await shop.gateway.resolve(payment.id, .immediate).status == .captured)
    #expect(try await shop.gateway.resolve(payment.id, .immediate).captured == 1250)
    #expect(shop.fake.captures.count == 1)
  }

  @Test(arguments: [(CaptureMode.manual, 0), (.immediate, 1)])
  func `makes no second capture of a second question`(mode: CaptureMode, captures: Int) async throws {
    let payment = try await unknown()
    shop.fake.captures(.declined(Decline(reason: .issuerUnavailable, code: "91")))
    shop.fake.finds(.answer(FakeAcquirer.approval(try #require(shop.fake.authorizations.first).reference)))
    shop.clock.advance(.seconds(1))
    for _ in 0..<3 { #expect(try await shop.gateway.resolve(payment.id, mode).status == .authorized) }
    #expect(shop.fake.captures.count == captures)
  }

  /// A reloaded page asks through `inquire`.
  @Test func `however often a page asks, the acquirer is asked when it is time to`() async throws {
    let payment = try await unknown()
    shop.fake.finds(.unavailable(Interruption(.timeout)))
    for _ in 0..<100 { #expect(try await shop.gateway.resolve(payment.id, .manual).status == .unknown) }
    #expect(shop.fake.inquiries.isEmpty)
    shop.clock.advance(.seconds(1))
    for _ in 0..<100 { _ = try await shop.gateway.resolve(payment.id, .manual) }
    #expect(shop.fake.inquiries.count == 1)
    #expect(try await shop.journal.operations(of: payment.id).map(\.tries) == [1])
  }

  @Test(arguments: [
    (Inquiry.notFound, PaymentStatus.unknown), (.unavailable(Interruption(.timeout)), .unknown),
    (.answer(.pending(Pending(acquirerReference: "P"))), .pending),
  ])
  func `without an answer the payment stays open, and may be asked about again`(
    found: Inquiry, status: PaymentStatus
  ) async throws {
    let payment = try await unknown()
    shop.fake.finds(found)
    #expect(try await shop.gateway.inquire(payment.id).status == status)
    #expect(try await shop.gateway.inquire(payment.id).status == status)
    #expect(shop.fake.inquiries.count == 2)
  }

  @Test func `a decline found later frees the order`() async throws {
    let payment = try await unknown()
    shop.fake.finds(.answer(.declined(Decline(reason: .doNotHonor, code: "05"))))
    #expect(try await shop.gateway.inquire(payment.id).status == .declined)
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    #expect(try await shop.gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
  }

  @Test func `an operation with a waiting caller is left alone`() async throws {
    let claim = try await shop.journal.claim(Shop.order(), spending: .sample(1), card: .sample)
    guard case .new(let attempt) = claim else { return }
    #expect(try await shop.gateway.inquire(attempt.payment).status == .authorizing)
    #expect(shop.fake.inquiries.isEmpty)
  }

  @Test func `a payment with a known outcome is not inquired about`() async throws {
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect(try await shop.gateway.inquire(payment.id) == payment)
    #expect(shop.fake.inquiries.isEmpty)
  }
}

/// The status that the sheet gets, now and whenever it asks again.
@Suite struct `The reported status` {
  private let order = Shop.order(capture: .immediate)

  private func reportedStatus(_ shop: Shop) async throws -> PaymentStatus? {
    try await shop.journal.payment(of: order.id)?.reportedStatus
  }

  @Test func `is the end of the call, and stays when the money goes back`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    #expect(payment.reportedStatus == .captured)
    #expect(try await shop.gateway.refund(payment.id).payment.status == .refunded)
    #expect(try await reportedStatus(shop) == .captured)
  }

  @Test func `stays when the money is taken later, by recovery`() async throws {
    let shop = try await Shop()
    let token = try shop.token(for: order)
    shop.fake.captures(.notSent("connection refused"))
    #expect(try await shop.gateway.pay(order, with: token).reportedStatus == .authorized)
    shop.fake.captures { reference, _ in FakeAcquirer.approval(reference) }
    shop.clock.advance(Journal.lease)
    #expect(try await shop.gateway.recover().captures == 1)
    let again = try await shop.gateway.pay(order, with: token)
    #expect((again.status, again.reportedStatus) == (.captured, .authorized))
  }

  @Test func `is not fixed while the outcome is open, and a failure stays one`() async throws {
    let open = try await Shop()
    open.fake.authorizes(.unknown(Interruption(.timeout)))
    _ = try await open.gateway.pay(order, with: open.token(for: order))
    #expect(try await reportedStatus(open) == nil)
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(policy: policy)
    shop.fake.authorizes(.unknown(Interruption(.timeout)))
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    shop.fake.reverses(.reversed)
    shop.clock.advance(.seconds(1))
    _ = try await shop.gateway.recover()
    let after = try await shop.journal.markReported(payment.id)
    #expect((after.status, after.reportedOutcome, after.reportedStatus) == (.voided, .failure, .unknown))
  }
}
