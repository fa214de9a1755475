import Acquiring
import Crypto
import DirectWire
import Gateway
import Ledger
import Orders
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

/// A ride or a refuelling: what it costs is known when it is over.
@Suite struct `A basket with an estimate` {
  private func shop(_ change: (inout BasketDocument) -> Void = { _ in }) async throws -> Shop {
    let shop = try await Shop()
    var document = BasketDocument.dinner
    (document.pending, document.capture, document.estimate) = (true, .manual, 6_000)
    change(&document)
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    return shop
  }

  @Test func `shows a pending total of zero, and holds the estimate`() async throws {
    let shop = try await shop()
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(sheet.request.total.kind == .pending && sheet.request.total.amount == .eur(0))
    let placed = try await shop.pays()
    #expect(placed.payment.status == .authorized && placed.payment.authorized == 6_000)
    #expect(shop.acquirer.authorizations.map(\.amount) == [.eur(6_000)])
    let order = try #require(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order)
    #expect(order.amount.amount == 6_000 && order.estimated == true)
  }

  @Test func `shows its lines as pending, and in the shopper's language what is held, at each change`() async throws {
    let shop = try await shop { $0.locale = "de" }
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).request
    let held = SummaryItem(label: "Auf Ihrer Karte vorgemerkt", amount: .eur(6_000))
    #expect(sheet.lineItems.last == held && sheet.lineItems.count > 1)
    #expect(sheet.lineItems.dropLast().allSatisfy { $0.kind == .pending && $0.amount == .eur(0) })
    let moved = try await shop.orderService.update(
      Shop.basket, of: Shop.merchant, .shippingContact(FullContact.dublin.place))
    #expect(moved.update.newLineItems.last == held && moved.update.newTotal.kind == .pending)
    // Nothing is held where nothing is delivered.
    let far = try await shop.orderService.update(
      Shop.basket, of: Shop.merchant, .shippingContact(FullContact.dublin.with(postalCode: "T12 AB34").place))
    #expect(!far.update.errors.isEmpty && !far.update.newLineItems.contains(held))
  }

  @Test func `of one line shows the line, and what is held`() async throws {
    let shop = try await shop {
      $0.items = [.init(id: "ride", label: "A ride", unitAmount: 0)]
      ($0.serviceTypes, $0.fees) = (["none"], [])
    }
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).request
    #expect(sheet.lineItems.map(\.label) == ["A ride", "Held on your card"])
    #expect(sheet.lineItems.map(\.kind) == [.pending, .final] && sheet.lineItems.last?.amount == .eur(6_000))
  }

  @Test func `is shown on the receipt as what is held, with its lines pending`() async throws {
    let shop = try await shop()
    let placed = try await shop.pays()
    #expect(placed.receipt.isEstimate && placed.receipt.lines.allSatisfy { $0.kind == .pending })
    let again = try #require(try await shop.orderService.resolve(Shop.basket, of: Shop.merchant))
    #expect(again.receipt == placed.receipt)
    let order = try #require(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order)
    #expect(order.lines?.isEmpty == false && order.lines?.allSatisfy { $0.pending == true } == true)
  }

  @Test func `is captured for less, and the rest of the estimate is released`() async throws {
    let shop = try await shop()
    let payment = try await shop.pays().payment.id
    _ = try await shop.gateway.perform(.capture(payment, .eur(4_321), isFinal: true))
    let captured = try #require(try await shop.gateway.journal.payment(payment))
    #expect(captured.status == .captured && captured.captured == 4_321)
  }

  @Test(arguments: [6_000, 1]) func `is not paid by a payment token for another amount than zero`(
    _ amount: Int64
  ) async throws {
    let shop = try await shop()
    let quote = try await shop.opens()
    let token = try await shop.token(for: quote, amount: .eur(amount))
    await #expect(throws: (any Error).self) { try await shop.pays(token: token, quote: quote) }
    #expect(shop.acquirer.authorizations.isEmpty)
  }

  @Test func `tells the merchant of no estimate once the total was final`() async throws {
    let shop = try await shop { ($0.pending, $0.estimate) = (false, nil) }
    _ = try await shop.pays()
    #expect(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order?.estimated == nil)
  }
}

/// A subscription's free month: the card is verified, and nothing is taken.
@Suite struct `A basket that costs nothing` {
  private static let free: BasketDocument = {
    var document = BasketDocument.dinner
    document.items = [.init(id: "a", label: "A free month", unitAmount: 0)]
    (document.serviceTypes, document.fees) = (["collection"], [])
    return document
  }()

  @Test func `verifies the shopper's card where a route can, and is an order`() async throws {
    let shop = try await Shop(capabilities: FakeAcquirer.verifying)
    try await shop.orderService.put(Self.free, as: Shop.basket, of: Shop.merchant)
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(sheet.request.total.kind == .final && sheet.request.total.amount == .eur(0))
    let placed = try await shop.pays()
    #expect(placed.payment.status == .verified && placed.payment.captured == 0)
    #expect(shop.acquirer.authorizations.map(\.amount) == [.eur(0)] && shop.acquirer.captures.isEmpty)
    let order = try #require(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order)
    #expect(order.status == .verified && order.amount.amount == 0)
  }

  @Test func `is refused where no route verifies cards`() async throws {
    let shop = try await Shop()
    await refusal(.totalNotPositive) { try await shop.orderService.put(Self.free, as: Shop.basket, of: Shop.merchant) }
  }
}

@Suite struct `A payment token that the merchant's server hands in` {
  private static let reference = "HK-1042"

  private func binding(_ shop: Shop, _ reference: String = reference) async throws -> BasketBinding? {
    try await shop.orderService.binding(ofReference: reference, of: Shop.merchant)
  }

  @Test func `is tied to the merchant's basket of the same reference`() async throws {
    let shop = try await Shop()
    #expect(try await binding(shop) == nil)
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let found = try #require(try await binding(shop))
    let request = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).request
    #expect(found.applicationDataHash == Array(SHA256.hash(data: request.applicationData)))
    #expect(found.basket == Shop.basket && found.estimate == nil)
    #expect(try await binding(shop, "HK-1043") == nil)
    #expect(try await shop.orderService.binding(ofReference: Self.reference, of: MerchantID("kitsune")) == nil)
  }

  @Test func `is tied to the newest of several baskets, and to none that has another reference by now`() async throws {
    let shop = try await Shop()
    let second = BasketID("kNc7pQ2xR8vT5wY1zB4dFh")
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    shop.clock.move(.seconds(1))
    try await shop.orderService.put(.dinner, as: second, of: Shop.merchant)
    #expect(try await binding(shop)?.basket == second)
    var renamed = BasketDocument.dinner
    renamed.merchantReference = "HK-2"
    try await shop.orderService.put(renamed, as: second, of: Shop.merchant)
    #expect(try await binding(shop)?.basket == Shop.basket)
    #expect(try await binding(shop, "HK-2")?.basket == second)
  }

  @Test func `is not tied to the basket of a page of the platform's`() async throws {
    let shop = try await Shop()
    let page = HostedPageTerms(expiresAt: Shop.noon.adding(.seconds(600)), attempts: 3)
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant, on: page)
    #expect(try await binding(shop) == nil)
  }

  @Test func `for a pending total is signed for zero, up to the estimate, and refused without one`() async throws {
    let shop = try await Shop()
    var document = BasketDocument.dinner
    (document.pending, document.capture, document.estimate) = (true, .manual, 6_000)
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    #expect(try await binding(shop)?.estimate == .eur(6_000))
    document.estimate = nil
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    await refusal(.totalPending) { try await binding(shop) }
  }
}
