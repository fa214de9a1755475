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

  @Test(arguments: ProviderVisit.kinds)
  func
    `begins agreements and charges them again where the provider keeps the credential, and is refused with a name where it does not`(
      kind: ProviderVisit.Kind
    ) async throws
  {
    let violations = try await kind.provider.visit(isSealed: kind.isSealed) { visit in
      for (number, terms) in [PaymentAgreement.monthly, .reload].enumerated() {
        let order = Shop.order("order-\(number)")
        func begin(_ card: String) async throws -> (agreement: AgreementID, payment: Payment) {
          try await visit.gateway.begin(
            terms, with: visit.shop.token(for: order, card: card, agreement: true), for: order)
        }
        guard kind.provider.agreements(isSealed: kind.isSealed).contains(terms.kind) else {
          await #expect(throws: GatewayError.agreementNotOffered("shop")) { try await begin("visa-credit") }
          continue
        }
        let (id, first) = try await begin("visa-credit")
        #expect(first.status == .authorized)
        visit.shop.clock.advance(.seconds(86_400 * 31))
        for period in 1...3 {
          let later = try await visit.gateway.charge(id) { ($0.capture, $0.amount) = (.manual, .eur(1_300)) }
          #expect(later.status == .authorized && later.card.network == .visa, "period \(period)")
          #expect(try await visit.done(visit.gateway.capture(later.id)).status == .captured)
          visit.shop.clock.advance(.seconds(86_400 * 31))
        }
      }
    }
    #expect(violations == [])
  }

  @Test(arguments: ProviderVisit.kinds)
  func `of a device's own number begins an agreement whose later payments Visa declines`(
    kind: ProviderVisit.Kind
  ) async throws {
    guard kind.provider.agreements(isSealed: kind.isSealed).contains(.recurring) else { return }
    let violations = try await kind.provider.visit(isSealed: kind.isSealed) { visit in
      let order = Shop.order()
      let (id, first) = try await visit.gateway.begin(
        with: visit.shop.token(for: order, card: "visa-debit", agreement: true), for: order)
      #expect(first.status == .authorized)
      visit.shop.clock.advance(.seconds(86_400 * 31))
      let later = try await visit.gateway.charge(id)
      #expect(later.status == .declined && later.decline?.declineClass == .final)
    }
    #expect(violations == [])
  }
}
