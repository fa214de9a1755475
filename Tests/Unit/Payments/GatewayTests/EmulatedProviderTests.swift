import Gateway
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

/// Wallet, gateway, ledger and connector, and the emulator of a provider behind HTTP.
@Suite struct `A payment through an emulated provider` {
  @Test(arguments: ProviderVisit.kinds)
  func `is captured in parts, partly refunded and voided, to the minor unit in both ledgers`(
    kind: ProviderVisit.Kind
  ) async throws {
    let violations = try await kind.provider.visit(isSealed: kind.isSealed) { visit in
      try await visit.capturesInParts()
      try await visit.voids()
      try await visit.paysAfterDecline()
      #expect(try await visit.differences() == [])
    }
    #expect(violations == [])
  }

  @Test(arguments: ProviderVisit.kinds)
  func `of nothing verifies the card where the provider can, and is refused where it cannot`(
    kind: ProviderVisit.Kind
  ) async throws {
    let violations = try await kind.provider.visit(isSealed: kind.isSealed) { visit in
      let order = Shop.order("order-1", 0)
      guard kind.provider.verifiesCards else {
        await #expect(throws: GatewayError.noRoute("shop")) {
          try await visit.authorize(order, visit.shop.token(for: order))
        }
        return
      }
      #expect(try await visit.authorize(order, visit.shop.token(for: order)).status == .verified)
      let other = Shop.order("order-2", 0)
      let declined = try await visit.authorize(other, visit.shop.token(for: other, card: "visa-insufficient-funds"))
      #expect(declined.status == .declined)
      try await visit.events()
      #expect(try await visit.differences() == [])
    }
    #expect(violations == [])
  }
}
