import Acquiring
import Gateway
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

/// A payment belongs to the acquirer and account that it was authorized at. No other is ever asked about it.
@Suite struct `A payment of an acquirer that is not configured any more` {
  private static let alarm = "acquirer_not_configured"

  /// The same store with another acquirer.
  private func other(_ name: String = "other", account: String? = nil) -> FakeAcquirer {
    FakeAcquirer(
      AcquirerCapabilities(
        name: name, account: account, instruments: [.network], idempotency: .none, inquiry: true, reversal: true,
        settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7)))
  }

  private func unknown(_ shop: Shop) async throws -> Payment {
    shop.fake.authorizes(.unknown(Interruption(.timeout)))
    return try await shop.gateway.authorize(Shop.order(), with: shop.token())
  }

  private func rounds(_ gateway: PaymentGateway, _ shop: Shop) async throws {
    for _ in 0..<4 {
      shop.clock.advance(.seconds(120))
      _ = try await gateway.recover()
    }
  }

  @Test(arguments: [("other", nil), ("fake", "second")] as [(String, String?)])
  func `stays unknown with an alarm, until its own acquirer can be asked again`(
    name: String, account: String?
  ) async throws {
    let shop = try await Shop()
    let payment = try await unknown(shop)
    let other = other(name, account: account)
    other.finds(.notFound)
    let gateway = shop.gateway(asking: other)
    try await rounds(gateway, shop)
    _ = try await gateway.inquire(payment.id)
    #expect(try await gateway.payment(payment.id)?.status == .unknown)
    #expect(other.inquiries.isEmpty && other.reversals.isEmpty)
    #expect(try await shop.journal.alarms().map(\.reason) == [Self.alarm])
    let waiting = try #require(try await gateway.unfinishedElsewhere().first)
    #expect((waiting.route, waiting.openOperations, waiting.liveHolds) == ("fake", 1, 0))
    shop.fake.finds { .answer(FakeAcquirer.approval($0)) }
    try await rounds(shop.gateway, shop)
    #expect(try await shop.gateway.payment(payment.id)?.status == .authorized)
  }

  @Test func `is not reversed at another acquirer after failure was reported`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(policy: policy)
    let payment = try await unknown(shop)
    let other = other()
    try await rounds(shop.gateway(asking: other), shop)
    #expect(try await shop.gateway.payment(payment.id)?.status == .unknown)
    #expect(other.reversals.isEmpty)
  }

  @Test func `takes no capture, void or refund, and keeps its balances`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    _ = try await shop.gateway.capture(payment, .eur(500))
    let (other, before) = (other(), try await shop.gateway.payment(payment))
    let gateway = shop.gateway(asking: other)
    let refusal = GatewayError.acquirerNotConfigured("fake")
    await #expect(throws: refusal) { try await gateway.capture(payment) }
    await #expect(throws: refusal) { try await gateway.void(payment) }
    await #expect(throws: refusal) { try await gateway.refund(payment) }
    #expect(try await gateway.payment(payment) == before)
    #expect(other.captures.isEmpty && other.voids.isEmpty && other.refunds.isEmpty)
    let waiting = try #require(try await gateway.unfinishedElsewhere().first)
    #expect((waiting.route, waiting.openOperations, waiting.liveHolds) == ("fake", 0, 1))
    #expect(try await shop.gateway.unfinishedElsewhere().isEmpty)
    #expect(try await shop.gateway.refund(payment).operation.state == .approved)
  }

  @Test func `is neither captured nor released when that is due, but raises an alarm`() async throws {
    let shop = try await Shop()
    shop.fake.captures(.notSent("connection refused"))
    let due = Shop.order(capture: .immediate)
    let ends = Shop.order("order-2")
    _ = try await shop.gateway.pay(due, with: shop.token(for: due))
    _ = try await shop.gateway.authorize(ends, with: shop.token(for: ends))
    let other = other()
    let gateway = shop.gateway(asking: other)
    shop.clock.advance(.seconds(86_400 * 7))
    let report = try await gateway.recover()
    #expect((report.captures, report.expiries, report.alarms.count) == (0, 0, 2))
    #expect(other.captures.isEmpty && other.voids.isEmpty)
    #expect(try await shop.journal.alarms().map(\.reason) == [Self.alarm, Self.alarm])
    #expect(try await gateway.recover().alarms.isEmpty)
  }

  @Test func `is not decided by an event of another acquirer`() async throws {
    let shop = try await Shop()
    let payment = try await unknown(shop)
    let verdict = try await shop.journal.receive(
      ProviderEvent(
        route: "fake/second", id: "e1", reference: try #require(shop.fake.authorizations.first).reference,
        amount: .eur(1250), outcome: .approved(Approval(acquirerReference: "A"))))
    #expect(verdict == .refused("another_connector"))
    #expect(try await shop.gateway.payment(payment.id)?.status == .unknown)
    #expect(try await shop.journal.alarms().map(\.reason) == ["another_connector"])
  }
}
