import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `What is adopted after a restore` {
  @Test func `counts what orders say once, whatever else tells of it`() async throws {
    let shop = try await Shop()
    let (first, second) = (Shop.order("order-1"), Shop.order("order-2"))
    let held = try await shop.gateway.authorize(first, with: shop.token(for: first))
    let pending = try await shop.gateway.authorize(second, with: shop.token(for: second))
    shop.fake.captures(.pending(Pending(acquirerReference: "C0")))
    #expect(try await shop.gateway.capture(pending.id, .eur(300)).payment.captured == 0)
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(3_600))
    let journal = try await backup.restore()
    func adopt(_ payment: Payment, _ captured: Int64, _ refunded: Int64 = 0) async throws -> AdoptionReport {
      try await journal.adopt(
        [
          OrderBalances(
            payment: payment.id, authorized: .eur(1250), captured: .eur(captured), refunded: .eur(refunded))
        ], of: "fake", merchant: "shop")
    }
    func report(_ lines: [AcquirerReport.Line]) async throws -> AdoptionReport {
      try await journal.adopt(AcquirerReport(lines: lines), of: "fake", merchant: "shop")
    }
    func line(_ name: String, _ units: Int64, called other: String? = nil) -> AcquirerReport.Line {
      AcquirerReport.Line(
        reference: AttemptReference(name), operation: .capture, amount: .eur(units), result: .approved,
        time: shop.clock.wall.now(), of: AttemptReference(held.id.rawValue), called: other)
    }
    #expect(try await adopt(pending, 300).adopted == 0, "it is pending here")
    #expect(try await journal.payment(pending.id)?.captured == 0)
    // The difference is as large twice.
    #expect(try await adopt(held, 300, 100).adopted == 2)
    #expect(try await adopt(held, 600, 100).adopted == 1)
    #expect(try await adopt(held, 600, 100).adopted == 0)
    #expect(try await journal.payment(held.id)?.captured == 600)
    let own = try await shop.journal.operations(of: held.id)[0].reference
    #expect(try await report([line("DASH1", 300), line(own.rawValue, 300)]).adopted == 0)
    // Events of the lost time may be of that money, so that a person looks.
    var speaking = shop.fake.acquirer
    speaking.readEvents = { _ in
      EventBatch(events: [
        AcquirerEvent(
          id: "e1", subject: .operationOfAnyone(called: "R1", of: own.rawValue, moving: .refund), amount: .eur(100),
          content: .answer(.approved(Approval(acquirerReference: "R1"))))
      ])
    }
    let restored = backup.gateway(journal, [ConfiguredRoute(speaking)])
    _ = try await restored.receive(
      InboundEvent(headers: [], body: [], arrivedAt: shop.clock.now), through: "fake")
    let after = try #require(try await journal.payment(held.id))
    #expect(after.captured == 600 && after.refunded == 100)
    #expect(try await journal.verifyAudit().isIntact)
  }

  @Test func `numbers the events of a lost payment above those that were sent, whenever the provider decided it`()
    async throws
  {
    let shop = try await Shop()
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(60))
    let order = Shop.order("order-1")
    let lost = try await shop.gateway.authorize(order, with: shop.token(for: order))
    shop.clock.advance(.seconds(60))
    let journal = try await backup.restore()
    shop.clock.advance(.seconds(900))
    let line = AcquirerReport.Line(
      reference: AttemptReference(lost.id.rawValue), operation: .authorize, amount: .eur(1250), result: .approved,
      time: shop.clock.wall.now(), called: "N1")
    #expect(try await journal.adopt(AcquirerReport(lines: [line]), of: "fake", merchant: "shop").adopted == 1)
    let numbers = try await journal.sequences(of: lost.id)
    #expect(!numbers.isEmpty && numbers.allSatisfy { $0 > shop.clock.wall.now().seconds - 3_600 }, "\(numbers)")
  }

  @Test func `takes a line of a report once, whether it says the provider's name or not`() async throws {
    let shop = try await Shop()
    let order = Shop.order("order-1")
    let held = try await shop.gateway.authorize(order, with: shop.token(for: order))
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(3_600))
    let journal = try await backup.restore()
    for (reference, name, captured) in [
      ("DASH1", nil, 300), ("DASH1", "PSP1", 300), ("DASH2", "PSP2", 500), ("DASH2", nil, 500), ("DASH2", "PSP2", 500),
    ] as [(String, String?, Int64)] {
      let line = AcquirerReport.Line(
        reference: AttemptReference(reference), operation: .capture,
        amount: .eur(reference == "DASH1" ? 300 : 200), result: .approved, time: shop.clock.wall.now(),
        of: AttemptReference(held.id.rawValue), called: name)
      _ = try await journal.adopt(AcquirerReport(lines: [line]), of: "fake", merchant: "shop")
      #expect(try await journal.payment(held.id)?.captured == captured, "\(reference) \(name ?? "without a name")")
    }
    #expect(try await journal.restoreReport()?.routes.map(\.adopted) == [2])
    let undecided = AcquirerReport.Line(
      reference: AttemptReference("DASH3"), operation: .capture, amount: .eur(100), result: .pending,
      time: shop.clock.wall.now(),
      of: AttemptReference(held.id.rawValue))
    let later = try await journal.adopt(AcquirerReport(lines: [undecided]), of: "fake", merchant: "shop")
    #expect(later.later == 1 && later.isOpen, "a route that is open stays open: \(later)")
  }

  @Test func `refuses the charge of a period that a listing says was charged`() async throws {
    let violations = try await Provider.checkoutCom.visit(isSealed: true) { visit in
      let order = Shop.order("order-1")
      let token = try visit.shop.token(for: order, card: "visa-credit", agreement: true)
      let id = try await visit.gateway.begin(with: token, for: order).agreement
      visit.shop.clock.advance(.seconds(86_400 * 31))
      let backup = try await Backup(of: visit.shop)
      visit.shop.clock.advance(.seconds(60))
      let lost = try await visit.gateway.charge(id) { $0.capture = .manual }
      visit.shop.clock.advance(.seconds(60))
      let journal = try await backup.restore()
      let (restored, route) = (backup.gateway(journal, [try visit.route()]), visit.provider.rawValue)
      await #expect(throws: GatewayError.routeNotReconciled(route)) { try await restored.charge(id) }
      visit.shop.clock.advance(.seconds(600))
      #expect(try await restored.adoptListing(of: route).adopted == 1)
      let charged = GatewayError.agreementRefused(.charged(1, lost.id))
      await #expect(throws: charged) { try await restored.charge(id) }
      visit.shop.clock.advance(.seconds(86_400 * 33))
      await #expect(throws: charged) { try await restored.charge(id) { $0.period = 1 } }
      await #expect(throws: charged) { try await restored.charge(id) { ($0.period, $0.isByPerson) = (1, true) } }
      // The next period was not charged before.
      _ = try await restored.prepare(AgreementCharge(id, of: "shop"))
    }
    #expect(violations == [])
  }

  @Test func `leaves the charge of a period of an accepted gap to a person`() async throws {
    // The auditor knows only the store that is lost.
    _ = try await Provider.adyen.visit(isSealed: false) { visit in
      let order = Shop.order("order-1")
      let token = try visit.shop.token(for: order, card: "visa-credit", agreement: true)
      let id = try await visit.gateway.begin(with: token, for: order).agreement
      visit.shop.clock.advance(.seconds(86_400 * 31))
      let backup = try await Backup(of: visit.shop)
      visit.shop.clock.advance(.seconds(60))
      let journal = try await backup.restore()
      let (restored, route) = (backup.gateway(journal, [try visit.route()]), visit.provider.rawValue)
      try await journal.database.write { store in
        try journal.restore?.open(route, as: .gapAccepted, note: "no report", in: store)
      }
      await #expect(throws: GatewayError.callMayBeLost(.authorize)) { try await restored.charge(id) }
      let byPerson = try await restored.charge(id) { ($0.capture, $0.isByPerson) = (.manual, true) }
      #expect(byPerson.status == .authorized)
      visit.shop.clock.advance(.seconds(86_400 * 31))
      #expect(try await restored.charge(id) { $0.capture = .manual }.status == .authorized)
    }
  }

  @Test(arguments: [true, false])
  func `leaves what a gap may hide to a person, also after a newer restore`(isAccepted: Bool) async throws {
    let store = try await RestoredShop(isCaptured: false)
    let fake = ConfiguredRoute(store.shop.fake.acquirer)
    if isAccepted {
      let journal = store.journal
      try await journal.database.write { try journal.restore?.open("fake", as: .gapAccepted, note: "none", in: $0) }
    }
    store.shop.clock.advance(.seconds(86_400))
    let second = try await store.again()
    #expect(try await second.report().isOpen)
    let gateway = second.backup.gateway(second.journal, [fake])
    await #expect(throws: GatewayError.callMayBeLost(.capture)) { try await gateway.capture(second.payment, .eur(300)) }
    #expect(try await gateway.perform(FollowUp.capture(second.payment, .eur(300)).byPerson).payment.captured == 300)
    let (first, restore) = (try #require(store.journal.restore), try #require(second.journal.restore))
    let gap = try await store.journal.database.read { transaction in
      [
        try restore.mayHaveLostCharge(due: first.lostFrom, through: "fake", in: transaction),
        try restore.mayHaveLostCharge(due: first.restoredAt, through: "fake", in: transaction),
        try restore.mayHaveLostCharge(due: first.lostFrom, through: "other", in: transaction),
      ]
    }
    #expect(gap == [true, false, false])
    store.shop.clock.advance(.seconds(86_400 * 8))
    #expect(try await gateway.refund(second.payment, .eur(200)).payment.refunded == 200)
  }

  @Test func `leaves the next reload to a person or to a call that names it, where one was lost and came back`()
    async throws
  {
    let violations = try await Provider.checkoutCom.visit(isSealed: true) { visit in
      let order = Shop.order("order-1")
      let token = try visit.shop.token(for: order, card: "visa-credit", agreement: true)
      let id = try await visit.gateway.begin(.reload, with: token, for: order).agreement
      visit.shop.clock.advance(.seconds(86_400))
      let backup = try await Backup(of: visit.shop)
      visit.shop.clock.advance(.seconds(60))
      var lost: [Payment] = []
      for _ in 0..<2 { lost.append(try await visit.gateway.charge(id) { $0.capture = .manual }) }
      visit.shop.clock.advance(.seconds(60))
      let journal = try await backup.restore()
      let (restored, route) = (backup.gateway(journal, [try visit.route()]), visit.provider.rawValue)
      visit.shop.clock.advance(.seconds(600))
      #expect(try await restored.adoptListing(of: route).adopted == 2)
      // It may be the repeat of a call that was lost.
      await #expect(throws: GatewayError.callMayBeLost(.authorize)) { try await restored.charge(id) }
      for period in [1, 2] as [Int64] {
        await #expect(throws: GatewayError.agreementRefused(.noSuchPeriod(period))) {
          try await restored.charge(id) { $0.period = period }
        }
      }
      // Asked without sending, so that the lost store's books stay comparable.
      let charges = try await journal.database.write { store in
        _ = try? journal.takePeriod(3, of: id, of: "shop", for: OrderID("order-9"), in: store)
        return try Journal.charges(of: id, in: store)
      }
      #expect(charges.map(\.period) == [0, 1, 2, 3] && charges[1].payment?.id == lost[0].id)
    }
    _ = violations
  }

  private static let pending = AcquirerAnswer.pending(Pending(acquirerReference: "P0"))

  private static let withoutInquiry = AcquirerCapabilities(
    name: "fake", instruments: [.network], idempotency: .none, inquiry: false, reversal: true,
    settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))

  @Test func `gives what was open at the backup the outcome that a report has of it`() async throws {
    let shop = try await Shop()
    func authorize(_ name: String) async throws -> Payment {
      let order = Shop.order(name)
      return try await shop.gateway.authorize(order, with: shop.token(for: order))
    }
    // Its reversal is open too.
    shop.fake.authorizes(Self.pending)
    shop.fake.reverses(.accepted(acquirerReference: "R0"))
    let undoing = try await authorize("order-8")
    var unasked = shop.fake.acquirer
    unasked.capabilities = Self.withoutInquiry
    shop.clock.advance(.seconds(120))
    _ = try await PaymentGateway(
      opener: shop.opener, journal: shop.journal, acquirer: unasked, clock: shop.clock.wall
    ).recover()
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    let (done, refused) = (try await authorize("order-1"), try await authorize("order-2"))
    let other = try await authorize("order-3")
    shop.fake.captures(Self.pending)
    for payment in [done, refused, other] { _ = try await shop.gateway.capture(payment.id, .eur(400)) }
    shop.fake.authorizes(Self.pending)
    let (approved, declined) = (try await authorize("order-4"), try await authorize("order-5"))
    let (unsaid, undone) = (try await authorize("order-6"), try await authorize("order-7"))
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(3_600))
    let journal = try await backup.restore()
    func line(
      _ payment: Payment, _ kind: AcquirerReport.Operation, _ units: Int64, _ result: AcquirerReport.Result = .approved
    ) async throws -> AcquirerReport.Line {
      let own = try await shop.journal.operations(of: payment.id).first { $0.kind.rawValue == kind.rawValue }
      return AcquirerReport.Line(
        reference: own?.reference ?? AttemptReference("DASH1"), operation: kind, amount: .eur(units), result: result,
        time: shop.clock.wall.now(), of: AttemptReference(payment.id.rawValue), called: "N-\(payment.id)")
    }
    var lines = [
      // The capture is lost, and its payment was open.
      try await line(approved, .capture, 1000), try await line(done, .capture, 400),
      try await line(refused, .capture, 400, .declined), try await line(other, .capture, 300),
      try await line(approved, .authorize, 1250), try await line(declined, .authorize, 1250, .declined),
      try await line(unsaid, .authorize, 1250, .pending), try await line(undone, .authorize, 1250),
      try await line(undoing, .authorize, 1250),
    ]
    for payment in [undone, undoing] {
      lines.append(
        AcquirerReport.Line(
          reference: AttemptReference(payment.id.rawValue), operation: .reverse, amount: .eur(1250), result: .approved,
          time: shop.clock.wall.now()))
    }
    let report = try await journal.adopt(AcquirerReport(lines: lines), of: "fake", merchant: "shop")
    #expect(report.isOpen && report.adopted == 7 && report.contradicted == 1 && report.later == 0, "\(report)")
    #expect(try await journal.payment(done.id)?.captured == 400)
    #expect(try await journal.payment(approved.id)?.captured == 1000)
    let after = try #require(try await journal.payment(refused.id))
    #expect(after.status == .authorized && after.captured == 0)
    #expect(try await journal.payment(declined.id)?.status == .declined)
    #expect(try await journal.payment(unsaid.id)?.status == .pending)
    for payment in [undone, undoing] {
      #expect(try await journal.payment(payment.id)?.status == .voided)
      #expect(try await journal.operations(of: payment.id).map(\.state) == [.reversed, .approved])
    }
    #expect(try await journal.payment(other.id)?.captured == 0, "it names another amount")
    #expect(try await journal.alarms().map(\.reason) == ["event_amount_mismatch"])
    let again = try await journal.adopt(AcquirerReport(lines: lines), of: "fake", merchant: "shop")
    #expect(again.adopted == 0)
    #expect(try await journal.verifyAudit().isIntact)
  }

  @Test func `takes a payment that was open at the backup for approved where the merchant's orders have it`()
    async throws
  {
    let shop = try await Shop()
    shop.fake.authorizes(Self.pending)
    let order = Shop.order("order-1")
    let open = try await shop.gateway.authorize(order, with: shop.token(for: order))
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(3_600))
    let journal = try await backup.restore()
    func adopt(_ authorized: Int64, _ captured: Int64) async throws -> AdoptionReport {
      let orders = OrderBalances(
        payment: open.id, authorized: .eur(authorized), captured: .eur(captured), refunded: .eur(0), name: "N1")
      return try await journal.adopt([orders], of: "fake", merchant: "shop")
    }
    let unsaid = try await adopt(0, 0)
    #expect(unsaid.later == 1 && !unsaid.isOpen)
    let report = try await adopt(1100, 1000)
    #expect(report.isOpen && report.adopted == 3, "\(report)")
    let after = try #require(try await journal.payment(open.id))
    #expect((after.authorized, after.captured) == (1100, 1000), "the rest was released")
    #expect(try await journal.verifyAudit().isIntact)
  }

  @Test func `reverses nothing that was open at the backup before its route has a report`() async throws {
    let shop = try await Shop()
    shop.fake.authorizes(Self.pending)
    shop.fake.reverses(.reversed)
    var acquirer = shop.fake.acquirer
    acquirer.capabilities = Self.withoutInquiry
    let (first, second) = (Shop.order("order-1"), Shop.order("order-2"))
    let approved = try await shop.gateway.authorize(first, with: shop.token(for: first))
    let unsaid = try await shop.gateway.authorize(second, with: shop.token(for: second))
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(3_600))
    let journal = try await backup.restore()
    let restored = backup.gateway(journal, [ConfiguredRoute(acquirer)])
    func recover() async throws {
      shop.clock.advance(.seconds(120))
      _ = try await restored.recover()
    }
    try await recover()
    #expect(shop.fake.reversals.isEmpty)
    let line = AcquirerReport.Line(
      reference: AttemptReference(approved.id.rawValue), operation: .authorize, amount: .eur(1250), result: .approved,
      time: shop.clock.wall.now(), called: "N1")
    #expect(try await journal.adopt(AcquirerReport(lines: [line]), of: "fake", merchant: "shop").isOpen)
    try await recover()
    #expect(shop.fake.reversals.map(\.reference.rawValue) == [unsaid.id.rawValue])
    #expect(try await journal.payment(approved.id)?.status == .authorized)
    #expect(try await journal.payment(unsaid.id)?.status == .voided)
  }
}
