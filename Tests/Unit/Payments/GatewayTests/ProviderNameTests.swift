import Acquiring
import Connectors
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// Events that name an operation as the provider does, and events about money that no operation of ours asked for.
@Suite struct `An event under the provider's name` {
  private func receive(_ event: AcquirerEvent, _ shop: Shop) async throws -> ReceivedEvents {
    var speaking = shop.fake.acquirer
    speaking.readEvents = { _ in EventBatch(events: [event]) }
    let gateway = PaymentGateway(
      opener: shop.opener, journal: shop.journal, acquirer: speaking, clock: shop.clock.wall,
      scheduler: shop.clock.scheduler)
    return try await gateway.receive(
      InboundEvent(headers: [], body: [], arrivedAt: shop.clock.now), through: "fake")
  }

  private func event(
    _ name: String, _ content: AcquirerEvent.Content, _ amount: Amount = .eur(1250), id: String = "e1"
  ) -> AcquirerEvent {
    AcquirerEvent(id: id, subject: .acquirerOperation(name), amount: amount, content: content)
  }

  /// Of an acquirer that cannot be asked, and cancels by our reference.
  private let silent = AcquirerCapabilities(
    name: "fake", instruments: [.network], idempotency: .none, inquiry: false, reversal: true,
    settleHorizon: .seconds(10))

  private let approved = AcquirerEvent.Content.answer(.approved(Approval(acquirerReference: "P1")))

  @Test func `answers the operation that has that name`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    shop.fake.captures(.pending(Pending(acquirerReference: "P1")))
    _ = try await shop.gateway.capture(payment.id)
    #expect(try await receive(event("P1", approved), shop).verdicts.map(\.name) == ["applied"])
    #expect(try await shop.gateway.payment(payment.id)?.status == .captured)
  }

  @Test func `is no name, in an answer, an event or a listing, where it has more than 1,024 bytes`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    let hold = try #require(try await shop.journal.operations(of: payment.id).first?.acquirerReference)
    let long = String(repeating: "x", count: 1_025)
    let approved = AcquirerAnswer.approved(Approval(acquirerReference: long))
    for (number, answer) in [approved, .pending(Pending(acquirerReference: long))].enumerated() {
      shop.fake.captures(answer)
      let order = Shop.order("order-\(number)")
      let held = try await shop.gateway.authorize(order, with: shop.token(for: order))
      _ = try await shop.gateway.capture(held.id, .eur(100))
      let capture = try await shop.journal.operations(of: held.id).last
      #expect(capture?.state == .unknown && capture?.acquirerReference == nil, "\(String(describing: capture))")
    }
    for event in [
      AcquirerEvent(
        id: "e1", subject: .authorization(hold), amount: .eur(100), content: .movement(.refund), name: long),
      AcquirerEvent(
        id: "e2", subject: .operation(AttemptReference("r")), amount: .eur(100), content: .answer(approved)),
    ] {
      await #expect(throws: EventRefusal.unintelligible) { _ = try await receive(event, shop) }
    }
    var listing = shop.fake.acquirer
    listing.report = { _, _, _ in
      AcquirerReport(lines: [
        AcquirerReport.Line(
          reference: AttemptReference("r"), operation: .refund, amount: .eur(100), result: .approved,
          time: Timestamp(seconds: 0),
          called: long)
      ])
    }
    let report = try #require(listing.convertingAmounts().report)
    await #expect(throws: AcquirerReport.Unavailable.self) {
      _ = try await report(Timestamp(seconds: 0)..<shop.clock.now, { _, _ in nil }, .after(TestRun.whole))
    }
  }

  @Test func `comes again while an operation of the route has no name yet, and is refused when none waits`()
    async throws
  {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect(try await receive(event("P1", approved), shop).verdicts == [.refused("unknown_reference")])
    shop.fake.captures(.unknown(Interruption(.timeout)))
    _ = try await shop.gateway.capture(payment.id)
    #expect(try await receive(event("P1", approved), shop).isEarly)
  }

  @Test func `answers our operation, or else is a person's and moves the authorization's money`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    let hold = try #require(try await shop.journal.operations(of: payment.id).first?.acquirerReference)
    func captured(_ name: String, _ units: Int64) -> AcquirerEvent {
      AcquirerEvent(
        id: name, subject: .operationOfAnyone(called: name, of: hold, moving: .capture), amount: .eur(units),
        content: .answer(.approved(Approval(acquirerReference: name))))
    }
    shop.fake.captures(.pending(Pending(acquirerReference: "P1")))
    _ = try await shop.gateway.capture(payment.id, .eur(500))
    #expect(try await receive(captured("P1", 500), shop).verdicts.map(\.name) == ["applied"])
    #expect(try await receive(captured("P2", 200), shop).verdicts.map(\.name) == ["applied"])
    #expect(try await receive(captured("P2", 200), shop).verdicts == [.known])
    let operations = try await shop.journal.operations(of: payment.id)
    #expect(operations.map(\.cause).suffix(2) == [.merchant, .provider])
    #expect(try await shop.gateway.payment(payment.id)?.captured == 700)
    // While an operation has no name yet, the event may be about that one.
    shop.fake.captures(.unknown(Interruption(.timeout)))
    _ = try await shop.gateway.capture(payment.id, .eur(50))
    #expect(try await receive(captured("P3", 50), shop).isEarly)
  }

  @Test func `is not accepted through a route that is not configured`() async throws {
    let shop = try await Shop()
    await #expect(throws: EventRefusal.notExpected) {
      try await shop.gateway.receive(
        InboundEvent(headers: [], body: [], arrivedAt: shop.clock.now), through: "another")
    }
  }

  /// A company's webhook: it calls the address of one route with the events of every account.
  @Test(arguments: [true, false], [true, false])
  func `about a payment of another route is received through that one, or refused, and never swallowed`(
    isSigned: Bool, isNamedByAccount: Bool
  ) async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    let name = try #require(try await shop.journal.operations(of: payment.id).first?.acquirerReference)
    let taken = AcquirerEvent(
      id: "e1", subject: .authorization(name), amount: .eur(500), content: .movement(.capture), name: "C-1")
    var (own, company) = (shop.fake.acquirer, shop.fake.acquirer)
    (own.capabilities.eventAccounts, company.capabilities.account) = (["Own"], "company")
    own.readEvents = { _ throws(EventRefusal) in
      guard isSigned else { throw .notAuthentic }
      return EventBatch(events: [taken])
    }
    company.readEvents = { _ in
      guard isNamedByAccount else { return EventBatch(events: [taken]) }
      var batch = EventBatch(events: [])
      batch.otherAccounts = ["Own", "Stranger"]
      return batch
    }
    let gateway = PaymentGateway(
      opener: shop.opener, journal: shop.journal,
      routes: RouteTable([ConfiguredRoute(company), ConfiguredRoute(own)]))
    let received = try await gateway.receive(
      InboundEvent(headers: [], body: [], arrivedAt: shop.clock.now), through: "fake/company")
    #expect(received.verdicts.map(\.name) == (isSigned ? ["applied"] : []))
    #expect(received.refusal == (isSigned ? nil : .ofAnotherRoute))
    #expect(received.passedOver == (isNamedByAccount ? 1 : 0))
    #expect(try await shop.gateway.payment(payment.id)?.captured == (isSigned ? 500 : 0))
  }

  @Test func `about money that we did not move is booked once, and told to the merchant`() async throws {
    let shop = try await Shop()
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    let authorization = try #require(try await shop.journal.operations(of: payment.id).first)
    let name = try #require(authorization.acquirerReference)
    let refund = AcquirerEvent(
      id: "e1", subject: .authorization(name), amount: .eur(500), content: .movement(.refund), name: "R-1")
    #expect(try await receive(refund, shop).verdicts.map(\.name) == ["applied"])
    #expect(try await receive(refund, shop).verdicts == [.known])
    let booked = try #require(try await shop.journal.operations(of: payment.id).last)
    #expect(booked.kind == .refund && booked.cause == .provider && booked.acquirerReference == "R-1")
    let dispute = AcquirerEvent(
      id: "e2", subject: .operation(authorization.reference), amount: .eur(500), content: .movement(.chargeback))
    #expect(try await receive(dispute, shop).verdicts.map(\.name) == ["applied"])
    let after = try #require(try await shop.gateway.payment(payment.id))
    #expect((after.status, after.refunded, after.chargedBack) == (.partiallyRefunded, 500, 500))
    #expect(try await shop.journal.alarms().isEmpty)
    let told = try await shop.journal.database.read { try OutboxEvent.all(of: payment.id, in: $0) }
    #expect(told.suffix(2).map(\.refunded) == [500, 500] && told.suffix(2).map(\.chargedBack) == [0, 500])
    await #expect(throws: GatewayError.self) { try await shop.gateway.refund(payment.id, .eur(251)) }
  }

  @Test func `about money that the balances do not have raises one alarm, and leaves them`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    let name = try #require(try await shop.journal.operations(of: payment.id).first?.acquirerReference)
    let refund = AcquirerEvent(
      id: "e1", subject: .authorization(name), amount: .eur(1251), content: .movement(.refund))
    #expect(try await receive(refund, shop).verdicts == [.contradicted("moved_elsewhere")])
    #expect(try await receive(refund, shop).verdicts == [.known])
    #expect(try await shop.journal.alarms().map(\.reason) == ["moved_elsewhere"])
    #expect(try await shop.gateway.payment(payment.id)?.refunded == 0)
    #expect(try await shop.journal.verifyAudit().isIntact)
    let foreign = AcquirerEvent(
      id: "e3", subject: .authorization("nothing-of-ours"), amount: .eur(500), content: .movement(.refund))
    #expect(try await receive(foreign, shop).verdicts == [.refused("unknown_reference")])
  }

  @Test func `about a chargeback that overtakes the capture is early, and is booked when it comes again`() async throws
  {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    let authorization = try #require(try await shop.journal.operations(of: payment).first).reference
    func event(_ id: String, _ movement: MoneyMovement, _ amount: Amount) -> AcquirerEvent {
      AcquirerEvent(id: id, subject: .operation(authorization), amount: amount, content: .movement(movement))
    }
    let dispute = event("e1", .chargeback, .eur(500))
    for _ in 0..<2 { #expect(try await receive(dispute, shop).isEarly) }
    #expect(try await shop.journal.alarms().map(\.reason) == ["moved_elsewhere"])
    #expect(try await receive(event("e2", .capture, .eur(1250)), shop).verdicts.map(\.name) == ["applied"])
    #expect(try await receive(dispute, shop).verdicts.map(\.name) == ["applied"])
    #expect(try await receive(dispute, shop).verdicts == [.known])
    #expect(try await shop.gateway.payment(payment)?.chargedBack == 500)
  }

  @Test func `that the hold has ended releases it, and calls a person where the money was due at once`() async throws {
    let shop = try await Shop()
    shop.fake.captures(.declined(Decline(reason: .issuerUnavailable, code: "91")))
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    let authorization = try #require(try await shop.journal.operations(of: payment.id).first)
    let expired = AcquirerEvent(
      id: "e1", subject: .operation(authorization.reference), amount: .eur(1250), content: .movement(.holdExpired))
    #expect(try await receive(expired, shop).verdicts.map(\.name) == ["applied"])
    let after = try #require(try await shop.gateway.payment(payment.id))
    #expect((after.status, after.authorized) == (.voided, 0))
    #expect(try await shop.journal.alarms().map(\.reason) == ["uncaptured_hold_ended"])
  }

  @Test func `of money that the provider moved is no difference in its report`() async throws {
    let shop = try await Shop()
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    let operations = try await shop.journal.operations(of: payment.id)
    let refund = AcquirerEvent(
      id: "e1", subject: .operation(operations[0].reference), amount: .eur(500), content: .movement(.refund),
      name: "R-1")
    let names = [operations[0].reference.rawValue, operations[1].reference.rawValue, "R-1"]
    let rows = zip(names, ["authorize,1250", "capture,1250", "refund,500"]).map {
      "\($0),\($1),EUR,approved,\(shop.clock.now)"
    }
    let text = (["reference,operation,amount,currency,result,time"] + rows).joined(separator: "\n")
    let report = try AcquirerReport(Array(text.utf8))
    #expect(try await shop.journal.differences(from: report).map(\.kind) == [.missingHere])
    _ = try await receive(refund, shop)
    #expect(try await shop.journal.differences(from: report).isEmpty)
  }

  @Test func `is about a refund that names the capture it gives back`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    _ = try await shop.gateway.capture(payment.id, .eur(1000))
    _ = try await shop.gateway.capture(payment.id, .eur(250))
    _ = try await shop.gateway.refund(payment.id, .eur(200))
    _ = try await shop.gateway.refund(payment.id, .eur(900))
    let captures = try await shop.journal.operations(of: payment.id).filter { $0.kind == .capture }
    #expect(shop.fake.refunds.map(\.capture) == [captures[1].acquirerReference, captures[0].acquirerReference])
    #expect(shop.fake.captures.map(\.isWhole) == [false, false])
  }

  @Test func `of a part is refused before anything is written where the acquirer moves all or nothing`() async throws {
    let whole = FakeAcquirer(
      AcquirerCapabilities(
        name: "whole", instruments: [.network], parts: [], idempotency: .none, inquiry: true, reversal: true,
        settleHorizon: .seconds(10)))
    let shop = try await Shop()
    let gateway = shop.gateway(asking: whole)
    let payment = try await gateway.authorize(Shop.order(), with: shop.token())
    await #expect(throws: GatewayError.partNotPossible(.capture, "whole")) {
      try await gateway.capture(payment.id, .eur(100))
    }
    #expect(try await gateway.capture(payment.id).payment.status == .captured)
    #expect(whole.captures.map(\.isWhole) == [true])
  }

  @Test func `follows an authorization in two steps, of which the first is stored`() async throws {
    let shop = try await Shop()
    var acquirer = shop.fake.acquirer
    acquirer.prepare = { _, _ in .ready("token-1") }
    acquirer.capabilities.preparedInstruments = [.network]
    let gateway = PaymentGateway(opener: shop.opener, journal: shop.journal, acquirer: acquirer, clock: shop.clock.wall)
    #expect(try await gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
    #expect(shop.fake.authorizations.map(\.prepared) == ["token-1"])

    let other = Shop.order("order-2")
    acquirer.prepare = { _, _ in .failed(Interruption(.timeout, detail: "no answer")) }
    let failing = PaymentGateway(opener: shop.opener, journal: shop.journal, acquirer: acquirer, clock: shop.clock.wall)
    #expect(try await failing.authorize(other, with: shop.token(for: other)).status == .failed)
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `is not asked for by an instrument that the provider takes in one step`() async throws {
    let shop = try await Shop()
    var acquirer = shop.fake.acquirer
    acquirer.prepare = { _, _ in .failed(Interruption(.timeout, detail: "not for this instrument")) }
    acquirer.capabilities.preparedInstruments = [.sealed]
    let gateway = PaymentGateway(opener: shop.opener, journal: shop.journal, acquirer: acquirer, clock: shop.clock.wall)
    #expect(try await gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
    #expect(shop.fake.authorizations.map(\.prepared) == [nil])
  }

  @Test(arguments: [nil, "token-1"])
  func `of a process that died is failed without an inquiry only where the first step has no result`(
    stored: String?
  ) async throws {
    let shop = try await Shop()
    guard
      case .new(let attempt) = try await shop.journal.claim(
        Shop.order(), spending: .sample(7), card: .sample, terms: ClaimTerms(route: "fake"))
    else { throw GatewayError.outOfTime }
    if let stored { #expect(try await shop.journal.markPrepared(attempt, as: stored)) }
    var acquirer = shop.fake.acquirer
    acquirer.prepare = { _, _ in .ready("never asked") }
    acquirer.capabilities.preparedInstruments = [.network]
    shop.clock.advance(.seconds(61))
    let gateway = PaymentGateway(
      opener: shop.opener, journal: shop.journal, acquirer: acquirer, clock: shop.clock.wall,
      scheduler: shop.clock.scheduler)
    _ = try await gateway.recover()
    let status = try await gateway.payment(attempt.payment)?.status
    #expect((status == .failed) == (stored == nil))
    #expect(shop.fake.inquiries.isEmpty == (stored == nil))
    #expect(shop.fake.reversals.isEmpty || stored != nil)
    #expect(try await !shop.journal.markPrepared(attempt, as: "too late"))
  }

  @Test func `ends a reversal that was accepted, which is asked for once`() async throws {
    let shop = try await Shop()
    let fake = FakeAcquirer(silent)
    fake.authorizes(.unknown(Interruption(.timeout)))
    fake.reverses(.accepted(acquirerReference: "C1"))
    let gateway = shop.gateway(asking: fake)
    let payment = try await gateway.authorize(Shop.order(), with: shop.token())
    for _ in 0..<4 {
      shop.clock.advance(.seconds(120))
      _ = try await gateway.recover()
    }
    #expect(fake.reversals.count == 1)
    let done = event("C1", .answer(.approved(Approval(acquirerReference: "C1"))))
    #expect(try await receive(done, shop).verdicts.map(\.name) == ["applied"])
    #expect(try await gateway.payment(payment.id)?.status.isLive == false)
  }

  @Test(arguments: [false, true])
  func `ends a reversal whose name was lost with the answer, also after a later one was refused`(
    isRefusedBefore: Bool
  ) async throws {
    let shop = try await Shop()
    let fake = FakeAcquirer(silent)
    fake.authorizes(.unknown(Interruption(.timeout)))
    fake.reverses(.unavailable(Interruption(.timeout)))
    let gateway = shop.gateway(asking: fake)
    let payment = try await gateway.authorize(Shop.order(), with: shop.token())
    shop.clock.advance(.seconds(120))
    _ = try await gateway.recover()
    fake.reverses(.accepted(acquirerReference: "C2"))
    shop.clock.advance(.seconds(3_600))
    _ = try await gateway.recover()
    let reference = try #require(fake.authorizations.first).reference
    let cancel = { (name: String, answer: AcquirerAnswer) in
      AcquirerEvent(
        id: name, subject: .reversal(of: reference, called: name), amount: .eur(1250), content: .answer(answer))
    }
    let done = cancel("C1", .approved(Approval(acquirerReference: "C1")))
    let refused = cancel("C2", .declined(Decline(reason: .other, code: "cancelled before")))
    for event in isRefusedBefore ? [refused, done] : [done, refused] { _ = try await receive(event, shop) }
    let status = try await gateway.payment(payment.id)?.status
    #expect(status?.isResolved == true && status?.isLive == false, "\(String(describing: status))")
    #expect(try await shop.journal.alarms().isEmpty)
    #expect(try await shop.journal.verifyAudit().isIntact)
  }

  @Test func `that refuses a reversal is believed without an amount: the provider has found no payment`() async throws {
    let shop = try await Shop()
    let fake = FakeAcquirer(silent)
    fake.authorizes(.unknown(Interruption(.timeout)))
    fake.reverses(.accepted(acquirerReference: "C1"))
    let gateway = shop.gateway(asking: fake)
    _ = try await gateway.authorize(Shop.order(), with: shop.token())
    shop.clock.advance(.seconds(120))
    _ = try await gateway.recover()
    let refused = event("C1", .answer(.declined(Decline(reason: .other, code: "not found"))), .eur(0), id: "e1")
    #expect(try await receive(refused, shop).verdicts.map(\.name) == ["applied"])
    #expect(try await shop.journal.alarms().map(\.reason) == ["reversal_refused"])
  }

  @Test func `asks for a reversal again that was refused before the approval came`() async throws {
    let shop = try await Shop()
    let fake = FakeAcquirer(silent)
    fake.authorizes(.unknown(Interruption(.timeout)))
    fake.reverses(.accepted(acquirerReference: "C1"))
    let gateway = shop.gateway(asking: fake)
    let payment = try await gateway.authorize(Shop.order(), with: shop.token())
    shop.clock.advance(.seconds(120))
    _ = try await gateway.recover()
    let reference = try #require(fake.authorizations.first).reference
    let late = AcquirerEvent(
      id: "e1", reference: reference, amount: .eur(1250), answer: .approved(Approval(acquirerReference: "A1")))
    #expect(try await receive(late, shop).verdicts.map(\.name) == ["applied"])
    let refused = event("C1", .answer(.declined(Decline(reason: .other, code: "not found"))), id: "e2")
    #expect(try await receive(refused, shop).verdicts.map(\.name) == ["applied"])
    fake.reverses(.accepted(acquirerReference: "C2"))
    shop.clock.advance(.seconds(86_400))
    _ = try await gateway.recover()
    #expect(fake.reversals.count == 2)
    let done = event("C2", .answer(.approved(Approval(acquirerReference: "C2"))), id: "e3")
    #expect(try await receive(done, shop).verdicts.map(\.name) == ["applied"])
    #expect(try await gateway.payment(payment.id)?.status == .voided)
  }
}
