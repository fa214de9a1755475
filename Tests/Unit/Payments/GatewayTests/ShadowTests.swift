import Acquiring
import Connectors
import ApplePayToken
import Gateway
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A payment that is only examined` {
  private func stripe(_ transport: ShadowTransport) throws -> Acquirer {
    try ConnectorCatalogue.stripe.sample(http: transport.sender, log: transport.log)
  }

  @Test func `is opened, routed and built, and its token can still pay`() async throws {
    let (shop, transport, order) = (try await Shop(), ShadowTransport(), Shop.order())
    let token = try shop.token(for: order)
    let findings = await shop.gateway.shadow(
      order, with: token, choosing: RouteChoice(), at: nil, through: RouteTable(try stripe(transport)))
    #expect(findings.refusal == nil && findings.hasApplicationData && findings.signedAmount == order.amount)
    #expect(findings.route == "stripe" && findings.payment?.network == .visa)
    #expect(transport.requests.count == 1)
    #expect(shop.fake.authorizations.isEmpty)
    #expect(try await shop.gateway.payment(for: order.id) == nil)
    #expect(try await shop.gateway.authorize(order, with: token).status == .authorized)
  }

  @Test func `is built in both steps where the provider opens the token`() async throws {
    let (shop, transport, order) = (try await Shop(), ShadowTransport(), Shop.order())
    let token = try shop.token(for: order)
    let keys: Set<[UInt8]> = [token.publicKeyHash]
    let gateway = shop.gateway(through: RouteTable([ConfiguredRoute(shop.fake.acquirer, sealedKeys: keys)]))
    let routes = RouteTable([ConfiguredRoute(try stripe(transport), sealedKeys: keys)])
    let findings = await gateway.shadow(order, with: token, choosing: RouteChoice(), at: nil, through: routes)
    #expect(findings.refusal == nil && findings.signedAmount == nil && findings.route == "stripe")
    #expect(transport.requests.count == 2)
  }

  @Test func `is not built if its token is refused, and is judged at the time when it arrived`() async throws {
    let (shop, transport, order) = (try await Shop(), ShadowTransport(), Shop.order())
    let token = try shop.token(for: order)
    let arrival = shop.clock.now
    shop.clock.advance(.seconds(3_600))
    let routes = RouteTable(try stripe(transport))
    let late = await shop.gateway.shadow(order, with: token, choosing: RouteChoice(), at: nil, through: routes)
    #expect(late.refusal?.stage == .signingTime && late.route == nil && transport.requests.isEmpty)
    let inTime = await shop.gateway.shadow(order, with: token, choosing: RouteChoice(), at: arrival, through: routes)
    #expect(inTime.refusal == nil && inTime.route == "stripe")
  }

  @Test func `is not built if no rule takes it`() async throws {
    let (shop, transport, order) = (try await Shop(), ShadowTransport(), Shop.order())
    let routes = RouteTable(
      [ConfiguredRoute(try stripe(transport))], rules: [order.merchant: [try RouteRule("stripe currency=JPY")]])
    let findings = await shop.gateway.shadow(
      order, with: try shop.token(for: order), choosing: RouteChoice(), at: nil, through: routes)
    #expect(findings.route == nil && findings.rules.map(\.obstacle) == [.currency] && transport.requests.isEmpty)
  }
}
