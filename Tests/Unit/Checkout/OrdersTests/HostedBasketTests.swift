import Acquiring
import Ledger
import Orders
import Storage
import TenderPayments
import TenderSheet
import Testing

@Suite struct `A basket on the platform's own page` {
  private func page(_ shop: Shop, attempts: Int64 = 10, for duration: Duration = .seconds(600)) async throws {
    try await shop.orderService.put(
      .dinner, as: Shop.basket, of: Shop.merchant,
      on: HostedPageTerms(expiresAt: Shop.noon.adding(duration), attempts: attempts))
  }

  private func code(_ body: () async throws -> Void) async -> OrderError.Code? {
    do { try await body() } catch { return (error as? OrderError)?.code }
    return nil
  }

  @Test func `names itself to the wallet, and not the domain that all share`() async throws {
    let shop = try await Shop(MerchantTerms(platformDomain: "shop.example"))
    try await page(shop)
    let request = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).request
    #expect(request.applicationData == Array("tender:v1:\(Shop.merchant):\(Shop.basket)".utf8))
  }

  @Test func `shows lines, total, end and attempts`() async throws {
    let shop = try await Shop()
    try await page(shop, attempts: 3)
    let shown = try await shop.orderService.hostedBasket(Shop.basket, of: Shop.merchant)
    #expect(!shown.lines.isEmpty && shown.total.isPositive && shown.payment == nil && !shown.isCancelled)
    #expect(shown.attemptsAllowed == 3 && shown.attemptsUsed == 0)
    #expect(shown.expiresAt == Shop.noon.adding(.seconds(600)))
  }

  @Test func `is tried as often as is allowed, in the commit of the attempt`() async throws {
    let shop = try await Shop()
    try await page(shop, attempts: 2)
    shop.acquirer.answers(.declined(Decline(reason: .insufficientFunds, code: "51")))
    for used: Int64 in [1, 2] {
      #expect(try await shop.pays().payment.status == .declined)
      #expect(try await shop.orderService.hostedBasket(Shop.basket, of: Shop.merchant).attemptsUsed == used)
    }
    #expect(await code { _ = try await shop.pays() } == .attemptsUsedUp)
    #expect(try await shop.count("payments") == 2)
  }

  @Test func `cannot be paid after its end`() async throws {
    let shop = try await Shop()
    try await page(shop, for: .seconds(60))
    let quote = try await shop.opens()
    shop.clock.move(.seconds(61))
    #expect(await code { _ = try await shop.pays(quote: quote) } == .basketExpired)
  }

  @Test func `does not take the place of another, nor another its`() async throws {
    let shop = try await Shop()
    try await page(shop)
    let taken = await code { try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant) }
    #expect(taken == .basketIDTaken)
  }

  @Test func `is deleted with its quotes, but not while there is an order of it`() async throws {
    let shop = try await Shop()
    try await page(shop)
    _ = try await shop.opens()
    #expect(try await shop.database.write { try !OrderService.isOrdered(Shop.basket, in: $0) })
    try await shop.database.write { try OrderService.forget(Shop.basket, in: $0) }
    #expect(try await shop.count("baskets") == 0)
    #expect(try await shop.count("quotes") == 0)
    try await page(shop)
    _ = try await shop.pays()
    #expect(try await shop.database.write { try OrderService.isOrdered(Shop.basket, in: $0) })
  }
}
