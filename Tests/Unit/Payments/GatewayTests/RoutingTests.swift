import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// Several routes in one gateway: a new payment chooses, and everything after its authorization goes where it was made.
@Suite struct `A payment with several routes` {
  private static func acquirer(_ name: String, authorizesTwice: Bool = false) -> FakeAcquirer {
    FakeAcquirer(
      AcquirerCapabilities(
        name: name, instruments: [.network], idempotency: .none,
        authorizationIdempotency: authorizesTwice ? .reference(window: .seconds(86_400)) : .none, inquiry: true,
        reversal: true, settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7)))
  }

  private let first = acquirer("first")
  private let second = acquirer("second")

  private func gateway(
    _ shop: Shop, _ rules: [String] = [], reversed: Bool = false, sale: MerchantSale = MerchantSale()
  ) throws -> PaymentGateway {
    let routes = [ConfiguredRoute(first.acquirer), ConfiguredRoute(second.acquirer)]
    let merchant = Shop.order().merchant
    return shop.gateway(
      through: RouteTable(
        reversed ? routes.reversed() : routes,
        rules: rules.isEmpty ? [:] : [merchant: try rules.map { try RouteRule($0) }], sales: [merchant: sale]
      ))
  }

  @Test func `goes to the first whose rule it fits`() async throws {
    let shop = try await Shop()
    let gateway = try gateway(
      shop, ["first network=amex", "first amount=1.00-2.00 currency=EUR", "second network=visa"])
    #expect(try await gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
    #expect(first.authorizations.isEmpty && second.authorizations.count == 1)
  }

  @Test func `is refused before anything is written where no rule fits`() async throws {
    let shop = try await Shop()
    let gateway = try gateway(shop, ["first network=amex"])
    await #expect(throws: GatewayError.noRoute(Shop.order().merchant)) {
      try await gateway.authorize(Shop.order(), with: shop.token())
    }
    #expect(try await shop.journal.payments().isEmpty)
  }

  @Test func `keeps its route for captures and refunds, whatever comes first in the configuration afterwards`()
    async throws
  {
    let shop = try await Shop()
    let payment = try await gateway(shop).authorize(Shop.order(), with: shop.token())
    let later = try gateway(shop, reversed: true)
    _ = try await later.capture(payment.id)
    _ = try await later.refund(payment.id)
    #expect(first.captures.count == 1 && first.refunds.count == 1)
    #expect(second.captures.isEmpty && second.refunds.isEmpty)
  }

  @Test func `takes the next route, under a new reference, when provably nothing was sent`() async throws {
    let shop = try await Shop()
    first.authorizes(.notSent("connection refused"))
    let gateway = try gateway(shop)
    let payment = try await gateway.authorize(Shop.order(), with: shop.token())
    #expect(payment.status == .authorized)
    let operations = try await shop.journal.operations(of: payment.id)
    #expect(operations.map(\.state) == [.failed, .approved])
    #expect(Set(operations.map(\.reference)).count == 2)
    _ = try await gateway.capture(payment.id)
    #expect(first.captures.isEmpty && second.captures.count == 1)
    #expect(try await shop.journal.verifyAudit().isIntact)
  }

  @Test func `keeps the merchant's account, descriptor and category, whatever the configuration says afterwards`()
    async throws
  {
    let shop = try await Shop()
    let sale = MerchantSale(
      statementDescriptor: "HARBOUR*KITCHEN", merchantCategory: "5812",
      accounts: ["first": "account-a", "second": "account-b"])
    let payment = try await gateway(shop, sale: sale).authorize(Shop.order(), with: shop.token())
    let asked = try #require(first.authorizations.first).sale
    #expect(asked.merchantAccount == "account-a" && asked.merchantCategory == "5812")
    #expect(asked.statementDescriptor == "HARBOUR*KITCHEN")
    _ = try await gateway(shop).capture(payment.id)
    _ = try await gateway(shop).refund(payment.id)
    #expect(first.captures.map(\.merchantAccount) == ["account-a"])
    #expect(first.refunds.map(\.merchantAccount) == ["account-a"])
    let stored = try await shop.journal.database.read { store in
      try store.row("SELECT merchant_account, statement_descriptor, merchant_category FROM payments")
    }
    #expect(try stored?.text("merchant_account") == "account-a")
    #expect(try stored?.text("statement_descriptor") == "HARBOUR*KITCHEN")
    #expect(try stored?.text("merchant_category") == "5812")
  }

  @Test func `has the merchant's account of the route that takes it in the end`() async throws {
    let shop = try await Shop()
    first.authorizes(.notSent("connection refused"))
    let sale = MerchantSale(accounts: ["first": "account-a", "second": "account-b"])
    let gateway = try gateway(shop, sale: sale)
    let payment = try await gateway.authorize(Shop.order(), with: shop.token())
    _ = try await gateway.capture(payment.id)
    #expect(second.authorizations.map(\.sale.merchantAccount) == ["account-b"])
    #expect(second.captures.map(\.merchantAccount) == ["account-b"])
  }

  @Test func `does not believe the next route's event about the operation that was not sent`() async throws {
    let shop = try await Shop()
    first.authorizes(.notSent("connection refused"))
    let payment = try await gateway(shop).authorize(Shop.order(), with: shop.token())
    let verdict = try await shop.journal.receive(
      ProviderEvent(
        route: "second", id: "e1", reference: try #require(first.authorizations.first).reference,
        amount: .eur(1250), outcome: .approved(Approval(acquirerReference: "A"))))
    #expect(verdict == .refused("another_connector"))
    #expect(try await shop.journal.operations(of: payment.id).map(\.state) == [.failed, .approved])
  }

  @Test func `answers a key with the operation of the next route`() async throws {
    let shop = try await Shop()
    first.authorizes(.notSent("connection refused"))
    let key = IdempotentCall(merchant: Shop.order().merchant, call: "pay", key: IdempotencyKey("k"), body: [1])
    let gateway = try gateway(shop)
    let answer = try await gateway.pay(Shop.order(), with: shop.token(), under: key)
    let reference = try #require(second.authorizations.first).reference
    #expect(answer.outcome.operation.reference == reference)
    #expect(try await gateway.pay(Shop.order(), with: shop.token(), under: key).outcome == answer.outcome)
  }

  @Test func `stays unknown where it was sent, and no other route is asked`() async throws {
    let shop = try await Shop()
    first.authorizes(.unknown(Interruption(.timeout)))
    #expect(try await gateway(shop).authorize(Shop.order(), with: shop.token()).status == .unknown)
    #expect(second.authorizations.isEmpty)
  }

  @Test func `fails when none of its routes can be reached`() async throws {
    let shop = try await Shop()
    first.authorizes(.notSent("connection refused"))
    second.authorizes(.notSent("connection refused"))
    #expect(try await gateway(shop).authorize(Shop.order(), with: shop.token()).status == .failed)
  }

  @Test func `is sent a second time under its reference only where the acquirer repeats its answer`() async throws {
    let shop = try await Shop()
    let repeating = Self.acquirer("repeating", authorizesTwice: true)
    repeating.authorizes { reference, _ in
      repeating.authorizations.count == 1 ? .unknown(Interruption(.timeout)) : FakeAcquirer.approval(reference)
    }
    let gateway = shop.gateway(through: RouteTable(repeating.acquirer))
    #expect(try await gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
    #expect(repeating.authorizations.count == 2)
    #expect(Set(repeating.authorizations.map(\.reference)).count == 1)
  }
}
