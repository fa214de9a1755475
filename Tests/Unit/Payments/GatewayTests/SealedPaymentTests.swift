import Acquiring
import Gateway
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A sealed payment token` {
  private static let sealed = AcquirerCapabilities(
    name: "fake", instruments: [.sealed], idempotency: .none, inquiry: true, reversal: true,
    settleHorizon: .seconds(10))

  @Test func `goes on unopened, and the payment says what was not checked`() async throws {
    let shop = try await Shop(capabilities: Self.sealed)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect(payment.status == .authorized)
    #expect(!payment.amountConfirmed)
    #expect(payment.card.deviceAccountSuffix == nil)
    guard case .sealed = shop.fake.authorizations.first?.instrument else { throw Died() }
  }

  @Test func `is verified as far as possible without a key`() async throws {
    let shop = try await Shop(capabilities: Self.sealed)
    await #expect(throws: (any Error).self) {
      try await shop.gateway.authorize(Shop.order(), with: shop.token(applicationData: "basket of order-9"))
    }
    await #expect(throws: (any Error).self) {
      try await shop.gateway.authorize(Shop.order(), with: shop.tokenWithoutApplicationData())
    }
    let token = try shop.token()
    shop.clock.advance(.seconds(301))
    await #expect(throws: (any Error).self) { try await shop.gateway.authorize(Shop.order(), with: token) }
    #expect(shop.fake.authorizations.isEmpty)
  }

  @Test func `of another amount reaches the provider, who alone can refuse it`() async throws {
    let shop = try await Shop(capabilities: Self.sealed)
    shop.fake.authorizes(.declined(Decline(reason: .configuration, code: "13")))
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token(amount: .eur(1)))
    #expect(payment.status == .declined)
  }
}
