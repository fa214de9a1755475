import Acquiring
import AcquirerSandbox
import Gateway
import Ledger
import PaymentTesting
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

extension Journal {
  /// What a payment is, without what only its own row knows.
  fileprivate func balances(_ id: PaymentID) async throws -> [String] {
    guard let payment = try await payment(id) else { return [] }
    return [payment.status.rawValue, "\(payment.authorized) \(payment.captured) \(payment.refunded)"]
  }

  /// Hands the waiting events over.
  fileprivate func lastPlace() async throws -> Int64 {
    try await database.write { store in
      _ = try OutboxEvent.take(for: .webhooks, payments: 10, in: store)
      return try store.row("SELECT position FROM outbox_head")?.integer("position") ?? 0
    }
  }

  func sequences(of id: PaymentID) async throws -> [Int64] {
    try await database.read { store in
      try store.rows("SELECT seq FROM outbox WHERE payment = $1 ORDER BY seq", .text(id.rawValue)).map {
        try $0.integer("seq")
      }
    }
  }
}

extension ProviderVisit {
  /// The order whose payment token was signed before, and is paid again.
  fileprivate func code(_ gateway: PaymentGateway, _ order: Order, _ token: EncryptedPaymentToken) async throws
    -> String
  {
    let call = try gateway.newCall()
    defer { call.end() }
    let choice = RouteChoice(sale: SaleDetails(cardName: "Card 0492", cardNetwork: .visa))
    do {
      _ = try await gateway.confirm(token, pays: order, choosing: choice, in: call)
      return "confirmed"
    } catch let error as GatewayError { return error.code }
  }

  func route() throws -> ConfiguredRoute {
    let keys: Set<[UInt8]> = isSealed ? [try shop.token().publicKeyHash] : []
    return ConfiguredRoute(acquirer, sealedKeys: keys)
  }
}

@Suite struct `A store that was restored` {
  private static let listing = ProviderVisit.kinds.filter { [.stripe, .checkoutCom, .braintree].contains($0.provider) }
  private static let others = ProviderVisit.kinds.filter { ![.stripe, .checkoutCom, .braintree].contains($0.provider) }

  @Test(arguments: listing)
  func `adopts from the provider's listing what happened since the backup, each once`(
    kind: ProviderVisit.Kind
  ) async throws {
    let violations = try await kind.provider.visit(isSealed: kind.isSealed) { visit in
      let gateway = visit.gateway
      let part = try await visit.held("order-1", 1250)
      let freed = try await visit.held("order-2", 990)
      let captured = try await visit.held("order-3", 700)
      _ = try await visit.done(gateway.capture(captured.id))
      try await visit.settle(captured.id)
      visit.shop.clock.advance(.seconds(3_600))
      let backup = try await Backup(of: visit.shop)
      visit.shop.clock.advance(.seconds(60))
      for units in [300, 300, 400] as [Int64] { _ = try await visit.done(gateway.capture(part.id, .eur(units))) }
      _ = try await visit.done(gateway.void(freed.id))
      _ = try await visit.done(gateway.refund(captured.id, .eur(300)))
      let order = Shop.order("order-4", 1500)
      let token = try visit.shop.token(for: order)
      let lost = try await visit.authorize(order, token)
      _ = try await visit.done(gateway.capture(lost.id, .eur(500)))
      try await visit.settle(lost.id)
      _ = try await visit.done(gateway.refund(lost.id, .eur(100)))
      visit.shop.clock.advance(.seconds(60))

      let journal = try await backup.restore()
      let restored = backup.gateway(journal, [try visit.route()])
      let route = visit.provider.rawValue
      visit.shop.clock.advance(.seconds(1))
      #expect(try await visit.code(restored, order, token) == "token_before_restore")
      let other = Shop.order("order-5")
      #expect(try await visit.code(restored, other, visit.shop.token(for: other)) == "route_not_reconciled")
      await #expect(throws: GatewayError.routeNotReconciled(route)) { try await restored.capture(part.id, .eur(100)) }
      #expect(try await restored.adoptListing(of: route).waitsUntil != nil)
      visit.shop.clock.advance(.seconds(600))
      let report = try await restored.adoptListing(of: route)
      #expect(report.isOpen && report.adopted == 8 && report.contradicted == 0 && report.later == 0, "\(report)")
      for payment in [part, freed, captured, lost] {
        #expect(try await journal.balances(payment.id) == visit.shop.journal.balances(payment.id))
        #expect(try await journal.payment(payment.id)?.merchant == "shop")
      }
      #expect(try await restored.adoptListing(of: route).adopted == 0)
      #expect(try await journal.restoreReport()?.endedAt != nil)
      #expect(try await journal.operations(of: part.id).last?.cause == .restore)

      #expect(try await visit.code(restored, order, visit.shop.token(for: order)) == "paid_before_restore")
      #expect(try await visit.code(restored, other, visit.shop.token(for: other)) == "confirmed")
      await #expect(throws: GatewayError.callMayBeLost(.capture)) { try await restored.capture(part.id, .eur(100)) }
      #expect(try await journal.sequences(of: part.id).last ?? 0 > 1_000_000)
      #expect(try await journal.alarms().map(\.reason) == ["restored"])
      #expect(try await journal.verifyAudit().isIntact)
    }
    #expect(violations == [])
  }

  @Test(arguments: others)
  func `stays closed where the provider lists nothing, until the merchant's orders are imported`(
    kind: ProviderVisit.Kind
  ) async throws {
    let violations = try await kind.provider.visit(isSealed: kind.isSealed) { visit in
      let part = try await visit.held("order-1", 1250)
      let backup = try await Backup(of: visit.shop)
      visit.shop.clock.advance(.seconds(60))
      _ = try await visit.done(visit.gateway.capture(part.id, .eur(1000)))
      let lost = try await visit.held("order-2", 990)
      let journal = try await backup.restore()
      let (restored, route) = (backup.gateway(journal, [try visit.route()]), visit.provider.rawValue)
      await #expect(throws: GatewayError.noListing(route)) { try await restored.adoptListing(of: route) }
      await #expect(throws: GatewayError.routeNotReconciled(route)) { try await restored.capture(part.id) }
      let orders = [
        OrderBalances(payment: part.id, authorized: .eur(1250), captured: .eur(1000), refunded: .eur(0)),
        OrderBalances(payment: lost.id, authorized: .eur(990), captured: .eur(0), refunded: .eur(0)),
      ]
      #expect(try await journal.adopt(orders, of: route, merchant: "shop").adopted == 2)
      #expect(try await journal.adopt(orders, of: route, merchant: "shop").adopted == 0)
      for payment in [part, lost] {
        #expect(try await journal.balances(payment.id) == visit.shop.journal.balances(payment.id))
      }
      #expect(try await journal.restoreReport()?.routes.map(\.state) == [.reconciled])
      #expect(try await journal.verifyAudit().isIntact)
    }
    #expect(violations == [])
  }

  /// What a person does at the provider in the lost time.
  private static let acts: [(provider: Provider, path: String)] = [
    (.stripe, "/stripe/payment_intents/NAME/"), (.checkoutCom, "/checkout-com/payments/NAME/"),
  ]

  @Test(arguments: acts, [true, false])
  func `books what a person did at the provider once, whether its event or the listing comes first`(
    _ act: (provider: Provider, path: String), isEventFirst: Bool
  ) async throws {
    let violations = try await act.provider.visit(isSealed: false) { visit in
      let gateway = visit.gateway
      let (held, captured) = (try await visit.held("order-1", 1250), try await visit.held("order-2", 990))
      _ = try await visit.done(gateway.capture(captured.id))
      visit.shop.clock.advance(.seconds(3_600))
      let backup = try await Backup(of: visit.shop)
      visit.shop.clock.advance(.seconds(60))
      func person(_ deed: String, _ payment: Payment, _ value: Int) async throws {
        let hold = try await visit.shop.journal.operations(of: payment.id).first { $0.kind == .authorize }
        let path = act.path.replacing("NAME", with: try #require(hold?.acquirerReference))
        try await visit.call("POST", path + deed, "{\"value\":\(value)}")
      }
      try await person("captures", held, 400)
      try await person("refunds", captured, 100)
      // Checkout.com lists what it has processed.
      try await visit.deliver(.unavailable)
      visit.shop.clock.advance(.seconds(60))

      let journal = try await backup.restore()
      let restored = backup.gateway(journal, [try visit.route()])
      visit.shop.clock.advance(.seconds(900))
      func receiveEvents() async throws {
        try await visit.deliver(restored.inbox(of: visit.provider.rawValue, at: visit.shop.clock.now))
      }
      if isEventFirst { try await receiveEvents() }
      let report = try await restored.adoptListing(of: visit.provider.rawValue)
      #expect(report.isOpen && report.contradicted == 0 && report.adopted == (isEventFirst ? 0 : 2), "\(report)")
      func expectBalances() async throws {
        #expect(try await journal.payment(held.id)?.captured == 400)
        #expect(try await journal.payment(captured.id)?.refunded == 100)
      }
      try await expectBalances()
      if !isEventFirst { try await receiveEvents() }
      #expect(try await restored.adoptListing(of: visit.provider.rawValue).adopted == 0)
      try await expectBalances()
      #expect(try await journal.alarms().isEmpty)
      // The store that was lost goes on with the same events, for the comparison of both ledgers.
      try await visit.events()
    }
    _ = violations
  }

  @Test func `has events of what is lost come again while their route is closed`() async throws {
    let shop = try await Shop()
    _ = try await shop.gateway.authorize(Shop.order("order-1"), with: shop.token(for: Shop.order("order-1")))
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(60))
    let order = Shop.order("order-2")
    let lost = try await shop.gateway.authorize(order, with: shop.token(for: order))
    let name = try #require(try await shop.journal.operations(of: lost.id).first?.acquirerReference)
    let journal = try await backup.restore()
    let own = AttemptReference(lost.id.rawValue)
    let approval = AcquirerAnswer.approved(Approval(acquirerReference: name))
    let events = [
      AcquirerEvent(
        id: "e1", subject: .authorization(name), amount: .eur(1250), content: .movement(.chargeback), name: "D1"),
      AcquirerEvent(id: "e2", subject: .operation(own), amount: .eur(1250), content: .answer(approval)),
      AcquirerEvent(id: "e3", subject: .acquirerOperation(name), amount: .eur(1250), content: .answer(approval)),
      AcquirerEvent(
        id: "e4", subject: .operationOfAnyone(called: "C1", of: name, moving: .capture), amount: .eur(400),
        content: .answer(.approved(Approval(acquirerReference: "C1")))),
      AcquirerEvent(
        id: "e5", subject: .reversal(of: own, called: "V1"), amount: .eur(1250), content: .answer(approval)),
    ]
    var speaking = shop.fake.acquirer
    speaking.readEvents = { _ in EventBatch(events: events) }
    let restored = backup.gateway(journal, [ConfiguredRoute(speaking)])
    let call = InboundEvent(headers: [], body: [], arrivedAt: shop.clock.now)
    let closed = try await restored.receive(call, through: "fake")
    #expect(closed.verdicts == events.map { _ in .early("unknown_reference") } && closed.isEarly)
    #expect(
      try await journal.database.read { try $0.row("SELECT count(*) AS kept FROM inbox")?.integer("kept") } == 0)
    let orders = [
      OrderBalances(payment: lost.id, authorized: .eur(1250), captured: .eur(1250), refunded: .eur(0), name: name)
    ]
    #expect(try await journal.adopt(orders, of: "fake", merchant: "shop").adopted == 2)
    let open = try await restored.receive(call, through: "fake")
    #expect(open.verdicts.first?.name == "applied" && !open.isEarly, "\(open.verdicts)")
    #expect(try await journal.payment(lost.id)?.chargedBack == 1250)
  }

  @Test(
    arguments: [
      (["shop"], "shop"), (["shop", "quay"], "unknown"), ([], "unknown"), (["quay"], "unknown"),
    ] as [([MerchantID], MerchantID)])
  func `gives a lost payment to the merchant whose payments alone may take its route`(
    configured: [MerchantID], owner: MerchantID
  ) async throws {
    let shop = try await Shop()
    _ = try await shop.gateway.authorize(Shop.order("order-1"), with: shop.token(for: Shop.order("order-1")))
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(60))
    let order = Shop.order("order-2")
    let lost = try await shop.gateway.authorize(order, with: shop.token(for: order))
    let journal = try await backup.restore()
    let routes = backup.gateway(journal, [ConfiguredRoute(shop.fake.acquirer)], merchants: configured).routes
    let balances = OrderBalances(payment: lost.id, authorized: .eur(1250), captured: .eur(0), refunded: .eur(0))
    let report = try await journal.adopt([balances], of: "fake", merchant: routes.onlyMerchant(of: "fake"))
    #expect(report.adopted == 1 && report.isOpen)
    #expect(try await journal.payment(lost.id)?.merchant == owner)
  }

  @Test func `moves no payment of another route by a route's orders`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order("order-1"), with: shop.token(for: Shop.order("order-1")))
    let backup = try await Backup(of: shop)
    let journal = try await backup.restore()
    try await journal.database.write { try journal.restore?.close(["other"], in: $0) }
    let balances = OrderBalances(payment: payment.id, authorized: .eur(1250), captured: .eur(400), refunded: .eur(0))
    let report = try await journal.adopt([balances], of: "other", merchant: nil)
    #expect((report.adopted, report.foreign) == (0, 1))
    #expect(try await journal.payment(payment.id)?.captured == 0)
  }

  @Test func `refuses after an accepted gap what may be a repeat, and does what cannot be one`() async throws {
    let shop = try await Shop()
    let first = try await shop.gateway.authorize(Shop.order("order-1"), with: shop.token(for: Shop.order("order-1")))
    let order = Shop.order("order-2")
    let second = try await shop.gateway.authorize(order, with: shop.token(for: order))
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(60))
    let journal = try await backup.restore()
    let restored = backup.gateway(journal, [ConfiguredRoute(shop.fake.acquirer)])
    await #expect(throws: GatewayError.routeNotReconciled("fake")) { try await restored.capture(first.id) }
    try await journal.database.write { store in
      try journal.restore?.open("fake", as: .gapAccepted, note: "no report", in: store)
    }
    await #expect(throws: GatewayError.callMayBeLost(.capture)) { try await restored.capture(first.id, .eur(100)) }
    #expect(try await restored.perform(FollowUp.capture(first.id, .eur(100)).byPerson).payment.captured == 100)
    #expect(try await restored.capture(second.id).payment.captured == 1250)
    await #expect(throws: GatewayError.callMayBeLost(.refund)) { try await restored.refund(second.id) }
    let number = try #require(journal.restore?.number)
    #expect(try await journal.sequences(of: second.id) == [1, 2, number * 1_000_000 + 1])

    shop.clock.advance(.seconds(1))
    let later = Shop.order("order-3")
    let third = try await restored.authorize(later, with: shop.token(for: later))
    #expect(try await restored.capture(third.id, .eur(100)).payment.captured == 100)
    #expect(try await journal.sequences(of: third.id) == [1, 2, 3])
    shop.clock.advance(.seconds(8 * 86_400))
    #expect(try await restored.refund(second.id).payment.refunded == 1250)
  }

  @Test func `asks about an authorization that was between its two steps at the backup, and believes no silence soon`()
    async throws
  {
    let shop = try await Shop()
    let taken = Mutex<Backup?>(nil)
    var acquirer = shop.fake.acquirer
    acquirer.capabilities.preparedInstruments = [.network]
    acquirer.prepare = { _, _ in
      let backup = try? await Backup(of: shop)
      taken.withLock { $0 = backup }
      return .ready("token-1")
    }
    let gateway = PaymentGateway(opener: shop.opener, journal: shop.journal, acquirer: acquirer, clock: shop.clock.wall)
    let order = Shop.order("order-1")
    let payment = try await gateway.authorize(order, with: shop.token(for: order))
    #expect(payment.status == .authorized)
    let made = taken.withLock { $0 }
    let backup = try #require(made)
    shop.clock.advance(.seconds(3_600))
    let journal = try await backup.restore()
    let restored = backup.gateway(journal, [ConfiguredRoute(acquirer)])
    shop.fake.finds(.notFound)
    shop.clock.advance(.seconds(1))
    _ = try await restored.recover()
    #expect(try await journal.payment(payment.id)?.status == .authorizing)
    shop.fake.finds(.answer(FakeAcquirer.approval(AttemptReference(payment.id.rawValue))))
    shop.clock.advance(.seconds(120))
    _ = try await restored.recover()
    #expect(try await journal.payment(payment.id)?.status == .authorized)
  }

  @Test func `leaves the due captures and ended holds of a closed route alone`() async throws {
    let shop = try await Shop()
    let order = Shop.order("order-1", capture: .immediate)
    shop.fake.captures(.notSent("no network"))
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(3_600))
    shop.fake.captures { reference, _ in FakeAcquirer.approval(reference) }
    let journal = try await backup.restore()
    let restored = backup.gateway(journal, [ConfiguredRoute(shop.fake.acquirer)])
    #expect(try await restored.recover().captures == 0)
    try await journal.database.write { store in
      try journal.restore?.open("fake", as: .reconciled, in: store)
    }
    #expect(try await restored.recover().captures == 1)
    #expect(try await journal.payment(payment.id)?.status == .captured)
  }

  @Test func `goes on with the places of all events above every one that was given`() async throws {
    let shop = try await Shop()
    _ = try await shop.gateway.authorize(Shop.order("order-1"), with: shop.token(for: Shop.order("order-1")))
    #expect(try await shop.journal.lastPlace() == 2)
    let backup = try await Backup(of: shop)
    shop.clock.advance(.seconds(60))
    let journal = try await backup.restore()
    let number = try #require(journal.restore?.number)
    #expect(number == shop.clock.wall.now().seconds)
    #expect(try await journal.lastPlace() == number * 1_000_000)
  }

  @Test func `numbers no event as an earlier restore of the same backup did`() async throws {
    let shop = try await Shop()
    let held = try await shop.gateway.authorize(Shop.order("order-1"), with: shop.token(for: Shop.order("order-1")))
    let backups = [try await Backup(of: shop), try await Backup(of: shop)]
    var (numbers, places): ([Int64], [Int64]) = ([], [])
    for backup in backups {
      shop.clock.advance(.seconds(60))
      let journal = try await backup.restore()
      let orders = OrderBalances(payment: held.id, authorized: .eur(1250), captured: .eur(300), refunded: .eur(0))
      #expect(try await journal.adopt([orders], of: "fake", merchant: "shop").adopted == 1)
      numbers.append(try await journal.sequences(of: held.id).last ?? 0)
      places.append(try await journal.lastPlace())
    }
    #expect(numbers[1] > numbers[0] && places[1] > places[0], "\(numbers) \(places)")
    #expect(places[1] < 1 << 53, "programs in JavaScript read it whole")
  }

  @Test func `names a payment's authorization like the payment, with a mark of its basket`() async throws {
    let shop = try await Shop()
    let orders = [Shop.order("order-1"), Shop.order("order-2")]
    var marks: [Substring] = []
    for order in orders {
      let payment = try await shop.gateway.authorize(order, with: shop.token(for: order))
      #expect(shop.fake.authorizations.last?.reference.rawValue == payment.id.rawValue)
      marks.append(payment.id.rawValue.suffix(10))
    }
    shop.fake.authorizes(.declined(Decline(reason: .doNotHonor, code: "05")))
    let third = Shop.order("order-3")
    let declined = try await shop.gateway.authorize(third, with: shop.token(for: third))
    shop.clock.advance(.seconds(1))
    let again = try await shop.gateway.authorize(third, with: shop.token(for: third))
    #expect(Set(marks).count == 2)
    #expect(declined.id != again.id && declined.id.rawValue.suffix(10) == again.id.rawValue.suffix(10))
  }
}
