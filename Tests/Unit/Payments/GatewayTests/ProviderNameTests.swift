import Acquiring
import Gateway
import Ledger
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

  private let approved = AcquirerEvent.Content.answer(.approved(Approval(acquirerReference: "P1")))

  @Test func `answers the operation that has that name`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    shop.fake.captures(.pending(Pending(acquirerReference: "P1")))
    _ = try await shop.gateway.capture(payment.id)
    #expect(try await receive(event("P1", approved), shop).verdicts.map(\.name) == ["applied"])
    #expect(try await shop.gateway.payment(payment.id)?.status == .captured)
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

  @Test func `is not accepted through a route that is not configured`() async throws {
    let shop = try await Shop()
    await #expect(throws: EventRefusal.notExpected) {
      try await shop.gateway.receive(
        InboundEvent(headers: [], body: [], arrivedAt: shop.clock.now), through: "another")
    }
  }

  @Test func `about money that we did not move raises one alarm, and leaves the balances`() async throws {
    let shop = try await Shop()
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    let authorization = try #require(try await shop.journal.operations(of: payment.id).first)
    let name = try #require(authorization.acquirerReference)
    let refund = AcquirerEvent(
      id: "e1", subject: .authorization(name), amount: .eur(500), content: .movement(.refund))
    #expect(try await receive(refund, shop).verdicts == [.contradicted("moved_elsewhere")])
    #expect(try await receive(refund, shop).verdicts == [.known])
    #expect(try await shop.journal.alarms().map(\.reason) == ["moved_elsewhere"])
    #expect(try await shop.gateway.payment(payment.id)?.refunded == 0)
    #expect(try await shop.journal.verifyAudit().isIntact)
    let ours = AcquirerEvent(
      id: "e2", subject: .operation(authorization.reference), amount: .eur(500), content: .movement(.chargeback))
    #expect(try await receive(ours, shop).verdicts == [.contradicted("moved_elsewhere")])
    let foreign = AcquirerEvent(
      id: "e3", subject: .authorization("nothing-of-ours"), amount: .eur(500), content: .movement(.refund))
    #expect(try await receive(foreign, shop).verdicts == [.refused("unknown_reference")])
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
    let gateway = PaymentGateway(opener: shop.opener, journal: shop.journal, acquirer: acquirer, clock: shop.clock.wall)
    #expect(try await gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
    #expect(shop.fake.authorizations.map(\.prepared) == ["token-1"])

    let other = Shop.order("order-2")
    acquirer.prepare = { _, _ in .failed(Interruption(.timeout, detail: "no answer")) }
    let failing = PaymentGateway(opener: shop.opener, journal: shop.journal, acquirer: acquirer, clock: shop.clock.wall)
    #expect(try await failing.authorize(other, with: shop.token(for: other)).status == .failed)
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `ends a reversal that was accepted, which is asked for once`() async throws {
    let silent = AcquirerCapabilities(
      name: "fake", instruments: [.network], idempotency: .none, inquiry: false, reversal: true,
      settleHorizon: .seconds(10))
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
}
