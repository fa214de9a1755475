import Acquiring
import Gateway
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

/// An order that costs nothing: an authorization of zero says whether the card is good.
@Suite struct `Verifying a card` {
  let shop: Shop
  init() async throws { shop = try await Shop(capabilities: FakeAcquirer.verifying) }

  private let order = Shop.order("order-1", 0, capture: .immediate)

  @Test func `is a success that holds nothing, and nothing can follow it`() async throws {
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    #expect(payment.status == .verified && payment.reportedOutcome == .success && payment.status.isLive)
    #expect((payment.amount, payment.authorized, payment.captured) == (.eur(0), 0, 0))
    #expect(shop.fake.authorizations.map(\.amount) == [.eur(0)] && shop.fake.captures.isEmpty)
    for followUp: FollowUp in [
      .capture(payment.id), .void(payment.id), .refund(payment.id), .increment(payment.id, by: .eur(1)),
    ] {
      let refusal = await #expect(throws: GatewayError.self) { try await shop.gateway.perform(followUp) }
      #expect(refusal?.code == "operation_not_possible")
    }
    shop.clock.advance(.seconds(86_400 * 30))
    #expect(try await shop.gateway.recover().isEmpty)
    #expect(try await shop.journal.verifyAudit().violations == [])
  }

  @Test func `that the issuer refuses is a decline, and another card may try`() async throws {
    shop.fake.authorizes(.declined(Decline(reason: .invalidCard, code: "14")))
    #expect(try await shop.gateway.pay(order, with: shop.token(for: order)).status == .declined)
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    #expect(try await shop.gateway.pay(order, with: shop.token(for: order)).status == .verified)
  }

  @Test(arguments: [
    AcquirerAnswer.unknown(Interruption(.timeout)), .pending(Pending(acquirerReference: "A1")),
  ])
  func `without an answer fails at once, is sent once, and the shopper may try again`(answer: AcquirerAnswer)
    async throws
  {
    shop.fake.authorizes(answer)
    let failed = try await shop.gateway.pay(order, with: shop.token(for: order))
    #expect(failed.status == .failed && failed.reportedOutcome == .failure)
    #expect(shop.fake.authorizations.count == 1)
    shop.clock.advance(.seconds(3_600))
    #expect(try await shop.gateway.recover().isEmpty && shop.fake.inquiries.isEmpty && shop.fake.reversals.isEmpty)
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    #expect(try await shop.gateway.pay(order, with: shop.token(for: order)).status == .verified)
  }

  @Test func `that a process has left is given up by recovery without an inquiry`() async throws {
    guard
      case .new(let attempt) = try await shop.journal.claim(
        order, spending: .sample(1), card: .sample,
        terms: ClaimTerms(route: "fake"))
    else { throw Unexpected() }
    shop.clock.advance(.seconds(120))
    #expect(try await shop.gateway.recover().resolved == 1)
    #expect(try await shop.journal.payment(attempt.payment)?.status == .failed)
    #expect(shop.fake.inquiries.isEmpty && shop.fake.reversals.isEmpty)
    let event = ProviderEvent(
      route: "fake", id: "E1", reference: attempt.reference, amount: .eur(0),
      outcome: .approved(Approval(acquirerReference: "A1")))
    #expect(try await shop.journal.receive(event) == .known)
    #expect(try await shop.journal.verifyAudit().violations == [])
  }

  @Test func `goes to no second route when the first may have been asked`() async throws {
    var other = FakeAcquirer.verifying
    other.account = "other"
    let second = FakeAcquirer(other)
    let gateway = shop.gateway(
      through: RouteTable([ConfiguredRoute(shop.fake.acquirer), ConfiguredRoute(second.acquirer)]))
    shop.fake.authorizes(.unknown(Interruption(.timeout)))
    #expect(try await gateway.pay(order, with: shop.token(for: order)).status == .failed)
    #expect(second.authorizations.isEmpty)
  }

  @Test func `takes the first route that can, and is refused where none can`() async throws {
    let plain = FakeAcquirer()
    var other = FakeAcquirer.verifying
    other.account = "other"
    let second = FakeAcquirer(other)
    let routes = RouteTable([ConfiguredRoute(plain.acquirer), ConfiguredRoute(second.acquirer)])
    #expect(try await shop.gateway(through: routes).pay(order, with: shop.token(for: order)).status == .verified)
    #expect(plain.authorizations.isEmpty && second.authorizations.count == 1)
    let free = Shop.order("order-2", 0)
    await #expect(throws: GatewayError.noRoute("shop")) {
      try await shop.gateway(asking: plain).pay(free, with: shop.token(for: free))
    }
  }
}

struct Unexpected: Error {}
