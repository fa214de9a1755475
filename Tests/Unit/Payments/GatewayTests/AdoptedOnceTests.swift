import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// A store that was restored an hour after its backup, with a payment of 12.50 of which the backup has a capture of all.
struct RestoredShop {
  let shop: Shop
  let backup: Backup
  let journal: Journal
  let payment: PaymentID

  init(isCaptured: Bool = true) async throws {
    shop = try await Shop()
    let order = Shop.order("order-1")
    payment = try await shop.gateway.authorize(order, with: shop.token(for: order)).id
    if isCaptured { _ = try await shop.gateway.capture(payment) }
    backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(3_600))
    journal = try await backup.restore()
    shop.clock.advance(.seconds(60))
  }

  private init(_ shop: Shop, _ backup: Backup, _ journal: Journal, _ payment: PaymentID) {
    (self.shop, self.backup, self.journal, self.payment) = (shop, backup, journal, payment)
  }

  /// The store restored once more, from a backup of now.
  func again() async throws -> RestoredShop {
    let lostFrom = shop.clock.wall.now()
    shop.clock.advance(.seconds(60))
    try await journal.database.write {
      _ = try RestoredStore.begin("second", lostFrom: lostFrom, routes: [], in: $0)
    }
    return RestoredShop(shop, backup, try await Journal(journal.database).readingRestore(), payment)
  }

  /// A reference that this program gave at a time.
  static func own(_ time: Timestamp) -> String { time.idPrefix + String(repeating: "ab", count: 10) }

  func orders(captured: Int64, refunded: Int64 = 0) async throws -> AdoptionReport {
    try await journal.adopt(
      [
        OrderBalances(payment: payment, authorized: .eur(1250), captured: .eur(captured), refunded: .eur(refunded))
      ], of: "fake", merchant: "shop")
  }

  func line(
    _ reference: String, _ kind: AcquirerReport.Operation, _ units: Int64, called name: String? = nil,
    at time: Timestamp? = nil
  ) -> AcquirerReport.Line {
    AcquirerReport.Line(
      reference: AttemptReference(reference), operation: kind, amount: .eur(units), result: .approved,
      time: time ?? shop.clock.wall.now(), of: AttemptReference(payment.rawValue), called: name)
  }

  func report(_ lines: AcquirerReport.Line...) async throws -> AdoptionReport {
    try await journal.adopt(AcquirerReport(lines: lines), of: "fake", merchant: "shop")
  }

  func event(_ name: String, _ kind: MoneyMovement, _ units: Int64, id: String = "event") async throws -> String {
    try await journal.receive(
      ProviderEvent(
        route: "fake", id: "\(id)-\(name)", reference: AttemptReference(payment.rawValue), amount: .eur(units),
        outcome: .moved(kind, name: name))
    ).name
  }

  func balances() async throws -> [Int64] {
    let after = try #require(try await journal.payment(payment))
    return [after.captured, after.refunded]
  }

  func alarms() async throws -> [String] { try await journal.alarms().map(\.reason) }
}

@Suite struct `What a merchant's orders gave back after a restore` {
  @Test func `is of one operation that a report names, and the next one is booked`() async throws {
    let store = try await RestoredShop()
    #expect(try await store.orders(captured: 1250, refunded: 100).adopted == 1)
    let lines = [store.line("DASH1", .refund, 100, called: "R1"), store.line("DASH2", .refund, 100, called: "R2")]
    let first = try await store.report(lines[0], lines[1])
    #expect((first.adopted, first.known, first.contradicted) == (1, 1, 0), "\(first)")
    for _ in 0..<2 {
      let again = try await store.report(lines[0], lines[1])
      #expect((again.adopted, again.known, again.contradicted) == (0, 2, 0), "\(again)")
    }
    #expect(try await store.event("R1", .refund, 100) == "known")
    #expect(try await store.event("R2", .refund, 100) == "known")
    #expect(try await store.balances() == [1250, 200])
    #expect(try await store.event("R3", .refund, 50) == "applied", "it is used up")
    #expect(try await store.balances() == [1250, 250])
    #expect(try await store.alarms().isEmpty)
    #expect(try await store.journal.verifyAudit().isIntact)
  }

  @Test func `is not of a larger operation, nor of one under a name that was of another amount`() async throws {
    let store = try await RestoredShop()
    #expect(try await store.orders(captured: 1250, refunded: 100).adopted == 1)
    let more = try await store.report(store.line("DASH1", .refund, 150))
    #expect((more.adopted, more.contradicted) == (0, 1), "\(more)")
    #expect(try await store.event("R1", .refund, 400) == "contradicted")
    #expect(try await store.event("R2", .refund, 60) == "contradicted", "it may be of it")
    #expect(try await store.alarms() == ["moved_elsewhere"])
    #expect(try await store.report(store.line("DASH2", .refund, 60)).known == 1)
    #expect(try await store.report(store.line("DASH2", .refund, 40)).contradicted == 1)
    #expect(try await store.balances() == [1250, 100])
  }

  @Test(arguments: [400, 500] as [Int64])
  func `may be of a person's operation that is later than the orders, of which newer orders tell`(
    refunded: Int64
  ) async throws {
    let store = try await RestoredShop()
    #expect(try await store.orders(captured: 1250, refunded: 400).adopted == 1)
    store.shop.clock.advance(.seconds(86_400))
    #expect(try await store.event("R9", .refund, 100) == "contradicted", "an event does not say when")
    // The provider books a refund when it sends it, which may be a day after the merchant has counted it.
    let line = store.line("DASH9", .refund, 100, called: "R9")
    let report = try await store.report(line)
    #expect((report.adopted, report.contradicted) == (0, 1), "\(report)")
    #expect(try await store.balances() == [1250, 400])
    #expect(try await store.report(store.line("DASH8", .refund, 500, called: "R8")).adopted == 1, "it is more")
    #expect(try await store.orders(captured: 1250, refunded: refunded + 500).adopted == (refunded == 400 ? 0 : 1))
    #expect(try await store.report(line).known == 1)
    #expect(try await store.event("R9", .refund, 100, id: "again") == "known")
    #expect(try await store.balances() == [1250, refunded + 500])
    #expect(try await store.alarms() == ["moved_elsewhere"])
  }

  @Test func `is of what a report names without the provider's name, so that its event is no other`() async throws {
    let store = try await RestoredShop()
    #expect(try await store.orders(captured: 1250, refunded: 400).adopted == 1)
    #expect(try await store.report(store.line("DASH1", .refund, 400)).known == 1)
    #expect(try await store.event("R1", .refund, 400) == "contradicted")
    #expect(try await store.report(store.line("R1", .refund, 400, called: "R1")).contradicted == 1)
    #expect(try await store.report(store.line("DASH1", .refund, 400, called: "R1")).known == 1)
    #expect(try await store.event("R1", .refund, 400, id: "again") == "known")
    #expect(try await store.event("R2", .refund, 400) == "applied")
    #expect(try await store.balances() == [1250, 800])
  }

  @Test func `is of each of a report's operations that share a name`() async throws {
    let store = try await RestoredShop()
    #expect(try await store.orders(captured: 1250, refunded: 200).adopted == 1)
    let lines = [store.line("DASH1", .refund, 100, called: "PAY"), store.line("DASH2", .refund, 100, called: "PAY")]
    for _ in 0..<2 { #expect(try await store.report(lines[0], lines[1]).known == 2) }
    #expect(try await store.event("R3", .refund, 100) == "applied", "nothing is left")
    #expect(try await store.balances() == [1250, 300])
  }

  @Test func `is of no operation of ours that a later restore lost`() async throws {
    let store = try await RestoredShop(isCaptured: false)
    let first = RestoredShop.own(store.shop.clock.wall.now().adding(.seconds(-600)))
    #expect(try await store.orders(captured: 300).adopted == 1)
    let second = try await store.again()
    let lost = RestoredShop.own(second.shop.clock.wall.now().adding(.seconds(-30)))
    let report = try await second.report(second.line(lost, .capture, 200, called: "C2"))
    #expect((report.adopted, report.contradicted) == (1, 0), "\(report)")
    #expect(try await second.balances() == [500, 0])
    #expect(try await second.report(second.line(first, .capture, 300, called: "C1")).known == 1)
    #expect(try await second.balances() == [500, 0])
  }

  @Test func `has no name at the provider`() async throws {
    let store = try await RestoredShop(isCaptured: false)
    #expect(try await store.orders(captured: 300).adopted == 1)
    let capture = try #require(try await store.journal.operations(of: store.payment).last)
    #expect(capture.kind == .capture && capture.acquirerReference == nil)
    store.shop.clock.advance(.seconds(86_400 * 8))
    let gateway = store.backup.gateway(store.journal, [ConfiguredRoute(store.shop.fake.acquirer)])
    #expect(try await gateway.refund(store.payment, .eur(100)).payment.refunded == 100)
    #expect(store.shop.fake.refunds.map(\.capture) == [nil])
  }
}

@Suite struct `What a report or listing gives back after a restore` {
  @Test func `is a person's or ours by its name, whatever the clocks said`() async throws {
    let store = try await RestoredShop(isCaptured: false)
    // The clock of the machine that was lost was ahead.
    let ours = RestoredShop.own(store.shop.clock.wall.now().adding(.seconds(1_200)))
    let both = [store.line(ours, .capture, 300, called: "N1"), store.line("N1", .capture, 200, called: "N1")]
    let first = try await store.report(both[0], both[1])
    #expect((first.adopted, first.contradicted) == (2, 0), "\(first)")
    #expect(try await store.report(both[0], both[1]).adopted == 0)
    #expect(try await store.balances() == [500, 0])
    #expect(try await store.event("N1", .capture, 200) == "known")
    #expect(try await store.event("N1", .capture, 300, id: "later") == "contradicted", "a person's, and not ours")
    #expect(try await store.balances() == [500, 0])
  }

  @Test func `is not a person's later operation of the amount of ours`() async throws {
    let store = try await RestoredShop(isCaptured: false)
    let ours = RestoredShop.own(store.shop.clock.wall.now().adding(.seconds(1_200)))
    #expect(try await store.report(store.line(ours, .capture, 300, called: "N1")).adopted == 1)
    #expect(try await store.event("N1", .capture, 300) == "applied")
    #expect(try await store.balances() == [600, 0])
  }

  @Test func `is a person's though the clock that marked the restore was ahead`() async throws {
    let store = try await RestoredShop()
    store.shop.clock.set(ahead: .seconds(-600))
    #expect(try await store.report(store.line("R1", .refund, 400, called: "R1")).adopted == 1)
    #expect(try await store.event("R1", .refund, 400) == "known")
    #expect(try await store.balances() == [1250, 400])
  }

  @Test func `may be a person's event where its name is not said`() async throws {
    let store = try await RestoredShop()
    #expect(try await store.report(store.line("DASH1", .refund, 400)).adopted == 1)
    #expect(try await store.event("R1", .refund, 400) == "contradicted")
    #expect(try await store.balances() == [1250, 400])
    #expect(try await store.report(store.line("DASH1", .refund, 400, called: "R1")).known == 1)
    #expect(try await store.event("R1", .refund, 400, id: "again") == "known")
    #expect(try await store.event("R2", .refund, 400) == "applied")
    #expect(try await store.balances() == [1250, 800])
  }

  @Test func `is all that persons took under one name, or contradicts it`() async throws {
    let store = try await RestoredShop(isCaptured: false)
    #expect(try await store.event("N1", .capture, 300) == "applied")
    #expect(try await store.event("N1", .capture, 200, id: "second") == "applied")
    #expect(try await store.report(store.line("N1", .capture, 500, called: "N1")).known == 1)
    #expect(try await store.report(store.line("N1", .capture, 600, called: "N1")).contradicted == 1)
    #expect(try await store.balances() == [500, 0])
    #expect(try await store.alarms() == ["moved_elsewhere"])
  }

  @Test(arguments: ["7fffffffffffffffffffffffffffffff", "ffffffffffff8fffffffffffffffffff"])
  func `is no payment of a time that is yet to come`(_ id: String) async throws {
    let store = try await RestoredShop()
    let line = AcquirerReport.Line(
      reference: AttemptReference(id), operation: .authorize, amount: .eur(1250), result: .approved,
      time: store.shop.clock.wall.now(), called: "N9")
    #expect(try await store.report(line).foreign == 1)
    let orders = OrderBalances(
      payment: PaymentID(id), authorized: .eur(1250), captured: .eur(300), refunded: .eur(0), name: "N9")
    #expect(try await store.journal.adopt([orders], of: "fake", merchant: "shop").foreign == 1)
    #expect(try await store.journal.payment(PaymentID(id)) == nil)
  }

  @Test func `is what an event told, where a report does not say its name`() async throws {
    let store = try await RestoredShop()
    #expect(try await store.event("R1", .refund, 400) == "applied")
    let nameless = try await store.report(store.line("DASH1", .refund, 400))
    #expect((nameless.adopted, nameless.contradicted) == (0, 1), "\(nameless)")
    #expect(try await store.report(store.line("DASH1", .refund, 400, called: "R1")).known == 1)
    #expect(try await store.report(store.line("DASH2", .refund, 300)).adopted == 1, "it is of another amount")
    #expect(try await store.balances() == [1250, 700])
    #expect(try await store.alarms() == ["moved_elsewhere"])
  }

  @Test func `is ours of before the backup, where a report says the provider's name of it`() async throws {
    let store = try await RestoredShop()
    let own = try await store.journal.operations(of: store.payment)
    let capture = try #require(own.first { $0.kind == .capture }?.acquirerReference)
    #expect(try await store.report(store.line(capture, .capture, 1250, called: capture)).known == 1)
    #expect(try await store.balances() == [1250, 0])
    #expect(try await store.alarms().isEmpty)
  }

  @Test func `is told by a name, also where an earlier report had it as the reference`() async throws {
    let store = try await RestoredShop()
    #expect(try await store.report(store.line("R5", .refund, 30)).adopted == 1)
    #expect(try await store.report(store.line("DASH5", .refund, 30, called: "R5")).known == 1)
    #expect(try await store.report(store.line("DASH6", .refund, 20, called: "R6")).adopted == 1)
    #expect(try await store.report(store.line("R6", .refund, 20)).known == 1)
    #expect(try await store.balances() == [1250, 50])
  }

  @Test(arguments: [200, 300] as [Int64])
  func `is ours beside a person's of the same name, whatever its amount and whichever came first`(
    units: Int64
  ) async throws {
    let store = try await RestoredShop(isCaptured: false)
    let ours = RestoredShop.own(store.shop.clock.wall.now().adding(.seconds(-600)))
    let name = try #require(try await store.journal.operations(of: store.payment).first?.acquirerReference)
    #expect(try await store.event(name, .capture, units) == "applied")
    let both = [store.line(ours, .capture, 300, called: name), store.line(name, .capture, units, called: name)]
    for adopted in [1, 0] {
      let report = try await store.report(both[0], both[1])
      #expect((report.adopted, report.contradicted) == (adopted, 0), "\(report)")
    }
    #expect(try await store.balances() == [300 + units, 0])
    #expect(try await store.journal.operations(of: store.payment).contains { $0.reference.rawValue == ours })
  }

  @Test func `may be ours or a person's where both have the payment's name and amount, and only one is listed`()
    async throws
  {
    let store = try await RestoredShop(isCaptured: false)
    let ours = RestoredShop.own(store.shop.clock.wall.now().adding(.seconds(-600)))
    let name = try #require(try await store.journal.operations(of: store.payment).first?.acquirerReference)
    #expect(try await store.event(name, .capture, 300) == "applied")
    #expect(try await store.report(store.line(ours, .capture, 300, called: name)).contradicted == 1)
    #expect(try await store.balances() == [300, 0])
  }

  @Test func `is no operation of another kind under the same reference`() async throws {
    let store = try await RestoredShop(isCaptured: false)
    #expect(try await store.report(store.line(store.payment.rawValue, .capture, 300, called: "C1")).contradicted == 1)
    #expect(try await store.balances() == [0, 0])
    #expect(try await store.alarms() == ["moved_elsewhere"])
  }

  @Test func `is each of the lines that share a name, and not the one that a line repeats`() async throws {
    let store = try await RestoredShop()
    let lines = [store.line("DASH1", .refund, 100, called: "PAY"), store.line("DASH2", .refund, 100, called: "PAY")]
    #expect(try await store.report(lines[0], lines[1]).adopted == 2)
    #expect(try await store.report(lines[0], lines[1]).known == 2)
    #expect(try await store.balances() == [1250, 200])
    #expect(try await store.alarms().isEmpty)
    let alike = store.line("PAY2", .refund, 50, called: "PAY2")
    let report = try await store.report(alike, alike)
    #expect((report.adopted, report.contradicted) == (1, 1), "\(report)")
    #expect(try await store.balances() == [1250, 250])
  }
}
