import Acquiring
import Gateway
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Raising a hold` {
  let shop: Shop
  init() async throws { shop = try await Shop() }

  /// - Parameter answer: to an increment.
  private func gateway(
    raises: Bool = true, _ answer: @escaping @Sendable (FollowUpRequest) -> AcquirerAnswer
  ) -> (gateway: PaymentGateway, fake: FakeAcquirer) {
    let fake = FakeAcquirer(
      AcquirerCapabilities(
        instruments: [.network], parts: raises ? [.all, .increment] : .all,
        idempotency: .reference(window: .seconds(86_400)), inquiry: true, reversal: true, settleHorizon: .seconds(1)))
    var acquirer = fake.acquirer
    acquirer.increment = { request, _ in answer(request) }
    let gateway = PaymentGateway(
      opener: shop.opener, journal: shop.journal, acquirer: acquirer, clock: shop.clock.wall,
      scheduler: shop.clock.scheduler)
    return (gateway, fake)
  }

  @Test func `asks by the acquirer's name of the authorization, and then captures the whole`() async throws {
    let (gateway, fake) = gateway { request in
      #expect(request.authorization.hasPrefix("A-") && request.amount == .eur(250) && !request.isWhole)
      return FakeAcquirer.approval(request.reference)
    }
    let payment = try await gateway.authorize(Shop.order(), with: shop.token()).id
    let outcome = try await gateway.increment(payment, by: .eur(250))
    #expect((outcome.operation.kind, outcome.operation.state) == (.increment, .approved))
    #expect(try await gateway.capture(payment).payment.captured == 1500)
    #expect(fake.captures.map(\.amount) == [.eur(1500)])
  }

  @Test func `is refused where the route cannot, before anything is written`() async throws {
    let (gateway, _) = gateway(raises: false) { _ in .notSent("") }
    let payment = try await gateway.authorize(Shop.order(), with: shop.token())
    await #expect(throws: GatewayError.partNotPossible(.increment, "sandbox")) {
      try await gateway.increment(payment.id, by: .eur(250))
    }
    #expect(try await shop.journal.operations(of: payment.id).count == 1)
  }

  @Test func `without an answer is found by recovery, and the hold is raised once`() async throws {
    let (gateway, fake) = gateway { _ in .unknown(Interruption(.timeout)) }
    let payment = try await gateway.authorize(Shop.order(), with: shop.token()).id
    let open = try await gateway.increment(payment, by: .eur(250)).operation
    #expect(open.state == .unknown)
    fake.finds(.answer(FakeAcquirer.approval(open.reference)))
    shop.clock.advance(.seconds(600))
    _ = try await gateway.recover()
    #expect(fake.inquiries.last?.kind == .increment)
    _ = try await gateway.recover()
    #expect(try await shop.journal.payment(payment)?.authorized == 1500)
  }
}
