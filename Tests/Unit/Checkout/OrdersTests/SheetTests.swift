import Acquiring
import DirectWire
import Orders
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `An open sheet` {
  private func shop(_ change: (inout BasketDocument) -> Void = { _ in }) async throws -> Shop {
    let shop = try await Shop()
    var document = BasketDocument.dinner
    change(&document)
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    return shop
  }

  private func change(_ shop: Shop, _ change: SheetChange) async throws -> (quote: Quote, update: SheetUpdate) {
    try await shop.orderService.update(Shop.basket, of: Shop.merchant, change)
  }

  @Test func `asks for what a delivery needs, and names merchant and basket to the wallet`() async throws {
    let sheet = try await shop().orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(sheet.request.total.label == "Harbour Kitchen")
    #expect(sheet.request.total.amount == sheet.quote.total)
    #expect(sheet.request.shippingMethods.map(\.identifier) == ["bike", "van"])
    #expect(sheet.request.supportsCouponCode)
    #expect(sheet.request.applicationData == Array("tender:v1:harbour:kNc7pQ2xR8vT5wY1zB4dFg".utf8))
  }

  @Test func `tells the page the address rules of the zones, else of the merchant's country`() async throws {
    func countries(_ change: (inout BasketDocument) -> Void) async throws -> [String] {
      let shop = try await shop(change)
      let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
      #expect(try await shop.count("quotes") == 1)
      return Set(sheet.addressRules.map(\.countryCode)).sorted()
    }
    #expect(try await countries { _ in } == ["GB", "IE"])
    #expect(try await countries { ($0.zones, $0.items) = ([], [$0.items[0]]) } == ["IE"])
    #expect(try await countries { $0.addressCheck = BasketDocument.AddressCheck.none }.isEmpty)
    #expect(try await countries { $0.serviceType = "collection" }.isEmpty)
  }

  @Test func `names the merchant's domain to the wallet where a platform's key is encrypted to`() async throws {
    let shop = try await Shop(MerchantTerms(platformDomain: "shop.example.com"))
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(sheet.request.applicationData == Array("shop.example.com".utf8))
    // The payment token carries the hash of the domain, and the gateway compares it with the order's.
    #expect(try await shop.pays().payment.status == .captured)
  }

  @Test func `opens with the code that the shopper entered on the page, unless it is invalid`() async throws {
    let (valid, invalid) = (try await shop { $0.couponCode = "fiver" }, try await shop { $0.couponCode = "NO" })
    let opened = try await valid.orderService.sheet(Shop.basket, of: Shop.merchant)
    let plain = try await invalid.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(opened.request.couponCode == "FIVER" && plain.request.couponCode == nil)
    #expect(opened.quote.total.minorUnits == plain.quote.total.minorUnits - 500)
    #expect(opened.quote.isPayable && plain.quote.isPayable)
  }

  @Test func `that shows the same as before makes no new quote`() async throws {
    let shop = try await shop()
    let first = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    let again = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    #expect(first == again)
    #expect(try await shop.count("quotes") == 1)
  }

  @Test func `remembers one choice while the next is made`() async throws {
    let shop = try await shop()
    _ = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    _ = try await change(shop, .shippingContact(FullContact.dublin.place))
    _ = try await change(shop, .couponCode("FIVER"))
    let (quote, update) = try await change(shop, .paymentMethod(.credit))
    #expect(quote.total.minorUnits == 2_490 - 500 + 30)
    #expect(update.newTotal.amount == quote.total)
    #expect(update.newShippingMethods == nil)
    #expect(quote.state.destination == .zone("central"))
  }

  @Test func `is sent the methods again when the address changes`() async throws {
    let shop = try await shop()
    let update = try await change(shop, .shippingContact(RedactedContact(postalCode: "D18", countryCode: "IE"))).update
    #expect(update.newShippingMethods?.map(\.identifier) == ["van"])
  }

  @Test func `reports an invalid code once, and continues without it`() async throws {
    let shop = try await shop()
    let bad = try await change(shop, .couponCode("NO"))
    #expect(bad.update.errors.map(\.code) == [.couponCodeInvalid])
    #expect(bad.quote.total.minorUnits == 2_490)
    #expect(try await change(shop, .paymentMethod(.debit)).update.errors.isEmpty)
    #expect(try await change(shop, .couponCode("FIVER")).quote.total.minorUnits == 1_990)
    #expect(try await change(shop, .couponCode(" ")).quote.total.minorUnits == 2_490)
  }

  @Test func `cannot select what was not offered`() async throws {
    let shop = try await shop()
    _ = try await change(shop, .shippingContact(FullContact.dublin.place))
    await refusal(.shippingMethodUnknown, field: "shippingMethod") { try await change(shop, .shippingMethod("van")) }
    await refusal(.shippingMethodUnknown) { try await change(shop, .shippingMethod("drone")) }
  }

  @Test func `opens as it was prepared`() async throws {
    let shop = try await shop()
    let open = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    try await shop.orderService.prepare(
      Shop.basket, of: Shop.merchant, OrderDetails(serviceType: .collection, requestedFor: "19:30", note: "no salt"))
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(sheet.quote.total.minorUnits == 2_190)
    #expect(sheet.request.shippingType == .storePickup)
    #expect(sheet.quote.id != open.id)
    await refusal(.serviceUnavailable, field: "serviceType") {
      try await shop.orderService.prepare(Shop.basket, of: Shop.merchant, OrderDetails(serviceType: .shipping))
    }
  }

  @Test func `takes a shopper's note without marks of the writing direction, and none with control characters`()
    async throws
  {
    let shop = try await shop()
    func prepare(_ note: String) async throws {
      try await shop.orderService.prepare(
        Shop.basket, of: Shop.merchant, OrderDetails(serviceType: .collection, note: note))
    }
    await refusal(.basketInvalid, field: "note") { try await prepare("\u{1B}[2J") }
    try await prepare("\u{202E}no\u{200F} salt\r\nno\toil\u{2028}no pepper")
    try await prepare("\u{202E}\u{200F}")
    #expect(try await shop.pays().order.note == "no salt\nno oil\nno pepper")
  }

  @Test func `of a pending basket has a pending total`() async throws {
    let shop = try await shop { ($0.pending, $0.capture) = (true, .manual) }
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(sheet.request.total.kind == .pending)
    #expect(sheet.quote.isPending && sheet.quote.total.minorUnits == 0)
    await refusal(.totalPending) { try await shop.pays() }
  }

  @Test func `that changes without end leaves no more than a few quotes behind`() async throws {
    let shop = try await shop()
    shop.acquirer.answers(.declined(Decline(reason: .insufficientFunds, code: "51")))
    let ordered = try await shop.pays().order.quote
    for round in 0..<60 {
      shop.clock.move(.milliseconds(1))
      _ = try await change(shop, .paymentMethod(round.isMultiple(of: 2) ? .credit : .debit))
    }
    #expect(try await shop.count("quotes") <= 20)
    #expect(try await shop.orderService.resolve(Shop.basket, of: Shop.merchant)?.order.quote == ordered)
    shop.acquirer.answers(.approved(Approval(acquirerReference: "A2")))
    #expect(try await shop.pays().payment.status == .captured)
  }

  @Test func `stands up to many changes at once`() async throws {
    let shop = try await shop()
    let totals = await withTaskGroup(of: Int64?.self) { group in
      for index in 0..<16 {
        group.addTask {
          let type: PaymentMethodType = index.isMultiple(of: 2) ? .credit : .debit
          return try? await change(shop, .paymentMethod(type)).quote.total.minorUnits
        }
      }
      return await group.reduce(into: [Int64?]()) { $0.append($1) }
    }
    #expect(totals.compactMap { $0 }.allSatisfy { [2_490, 2_520].contains($0) })
    #expect(totals.contains { $0 != nil })
  }
}
