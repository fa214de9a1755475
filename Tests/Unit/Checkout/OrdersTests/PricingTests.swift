import Orders
import DirectWire
import Storage
import TenderPayments
import TenderSheet
import Testing

/// A state of the sheet, and what it costs. Goods: fish 12.90, two soups 9.00 that only the centre gets.
struct PriceRow: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let total: Int64
  let state: SheetState
  let errors: [SheetError.Code]
  let missing: [String]

  init(
    _ description: String, _ total: Int64, _ service: ServiceType = .delivery, _ destination: Destination = .unknown,
    method: String? = nil, coupon: String? = nil, card: PaymentMethodType? = nil, errors: [SheetError.Code] = [],
    missing: [String] = []
  ) {
    testDescription = description
    self.total = total
    state = SheetState(
      service: service, destination: destination, shippingMethod: method, couponCode: coupon, paymentMethod: card)
    (self.errors, self.missing) = (errors, missing)
  }

  static let central = Destination.zone("central")
  static let county = Destination.zone("county")

  static let all = [
    PriceRow("as it opens: goods, fee, first method", 2_490),
    PriceRow("another method before the address", 2_840, method: "van"),
    PriceRow("a method that is not offered there", 2_490, .delivery, central, method: "van"),
    PriceRow("the centre, by bike", 2_490, .delivery, central),
    PriceRow("the county, by van, without soup", 1_940, .delivery, county, missing: ["soup"]),
    PriceRow("nowhere, goods and fee alone", 2_240, .delivery, .unserviceable, errors: [.addressUnserviceable]),
    PriceRow("collection has no fee, no delivery and all soup", 2_190, .collection),
    PriceRow("collection does not look at the address", 2_190, .collection, county),
    PriceRow("a credit card costs", 2_520, .delivery, central, card: .credit),
    PriceRow("a debit card does not", 2_490, .delivery, central, card: .debit),
    PriceRow("nor an unknown card", 2_490, .delivery, central, card: .unknown),
    PriceRow("ten percent off the goods alone", 2_271, .delivery, central, coupon: "LUNCH10"),
    PriceRow("in any letters", 2_271, .delivery, central, coupon: " lunch10"),
    PriceRow(
      "ten percent off what is left of the goods", 1_811, .delivery, county, coupon: "LUNCH10", missing: ["soup"]),
    PriceRow("five euro off", 1_990, .delivery, central, coupon: "FIVER"),
    PriceRow("never more off than the goods", 300, .delivery, central, coupon: "HUGE"),
    PriceRow("a code that is not known", 2_490, .delivery, central, coupon: "NO", errors: [.couponCodeInvalid]),
    PriceRow("a code that has ended", 2_490, .delivery, central, coupon: "OLD", errors: [.couponCodeExpired]),
    PriceRow("a code that ends in a minute", 2_390, .delivery, central, coupon: "NOON"),
  ]
}

@Suite struct `Pricing by the basket's rules` {
  private func basket(_ change: (inout BasketDocument) -> Void = { _ in }) throws -> Basket {
    var document = BasketDocument.dinner
    change(&document)
    return try Basket(document, id: Shop.basket, merchant: Shop.merchant)
  }

  private func total(_ priced: Priced) throws -> Int64 {
    try priced.lines.map(\.amount).total(in: #require(priced.lines.first).amount.currency).minorUnits
  }

  @Test(arguments: PriceRow.all) func `adds up`(_ row: PriceRow) throws {
    let priced = try QuoteRules.price(basket(), row.state, at: Shop.noon)
    #expect(try total(priced) == row.total)
    #expect(priced.errors.map(\.code) == row.errors)
    #expect(priced.unavailableItems == row.missing)
  }

  @Test(arguments: [(2_999, 250), (3_000, 0), (3_001, 0)] as [(Int64, Int64)])
  func `sends dear goods for nothing`(_ goods: Int64, _ shipping: Int64) throws {
    let basket = try basket { $0.items = [.init(id: "a", label: "A", unitAmount: goods)] }
    let priced = try QuoteRules.price(basket, SheetState(service: .delivery), at: Shop.noon)
    #expect(try total(priced) == goods + 50 + shipping)
    #expect(priced.shippingMethods.first?.amount.minorUnits == shipping)
  }

  @Test func `puts the selected method first, because the sheet selects the first`() throws {
    let state = SheetState(service: .delivery, shippingMethod: "van")
    let priced = try QuoteRules.price(basket(), state, at: Shop.noon)
    #expect(priced.shippingMethods.map(\.identifier) == ["van", "bike"])
    #expect(priced.lines.last?.label == "Van")
  }

  @Test func `names each line, in the order goods, discount, fees, card, delivery`() throws {
    let state = SheetState(
      service: .delivery, destination: .zone("county"), couponCode: "FIVER", paymentMethod: .credit)
    let priced = try QuoteRules.price(basket(), state, at: Shop.noon)
    #expect(
      priced.lines.map { "\($0.label) \($0.amount.decimalString)" } == [
        "Fish and chips 12.90", "2 × Soup (not available there) 0.00", "Five off -5.00", "Service fee 0.50",
        "Credit card 0.30", "Van 6.00",
      ])
  }

  @Test func `has nothing to send where no item can be had`() throws {
    let basket = try basket { $0.items.removeFirst() }
    let state = SheetState(service: .delivery, destination: .zone("county"))
    #expect(try QuoteRules.price(basket, state, at: Shop.noon).errors.map(\.code) == [.addressUnserviceable])
  }

  @Test func `where nothing is delivered offers no method and no total, and keeps what was chosen`() throws {
    let state = SheetState(service: .delivery, destination: .unserviceable, shippingMethod: "van")
    let priced = try QuoteRules.price(try basket(), state, at: Shop.noon)
    #expect(priced.shippingMethods.isEmpty && priced.lines.allSatisfy { $0.kind == .pending })
    #expect(priced.state.shippingMethod == "van")
    #expect(!priced.lines.contains { $0.label == "Van" || $0.label == "Bike" })
  }

  @Test func `rounds a percentage to the currency's minor unit`() throws {
    let basket = try basket { document in
      document.currencyCode = Currency(code: "KWD") ?? document.currencyCode
      document.items = [.init(id: "a", label: "A", unitAmount: 1_234)]
      document.coupons = [.init(code: "TEN", label: "Ten", percentBasisPoints: 1_000)]
    }
    let priced = try QuoteRules.price(basket, SheetState(service: .collection, couponCode: "TEN"), at: Shop.noon)
    #expect(try priced.lines.map { try $0.amount.sheetText } == ["1.234", "-0.123"])
  }

  @Test func `adds up in yen`() throws {
    let basket = try basket { document in
      document.currencyCode = Currency(code: "JPY") ?? document.currencyCode
    }
    let priced = try QuoteRules.price(
      basket, SheetState(service: .collection, couponCode: "LUNCH10"), at: Shop.noon)
    #expect(try priced.lines.map { try $0.amount.sheetText } == ["1290", "900", "-219"])
  }

  @Test func `of a pending basket shows no amount`() throws {
    let basket = try basket { ($0.pending, $0.capture) = (true, .manual) }
    let priced = try QuoteRules.price(basket, SheetState(service: .delivery), at: Shop.noon)
    #expect(priced.lines.allSatisfy { $0.kind == .pending })
  }
}

@Suite struct `Fees with rates and zones` {
  private func priced(
    _ fees: [BasketDocument.Fee], _ state: SheetState, _ change: (inout BasketDocument) -> Void = { _ in }
  ) throws -> [String] {
    var document = BasketDocument.dinner
    document.fees = fees
    change(&document)
    let basket = try Basket(document, id: Shop.basket, merchant: Shop.merchant)
    return try QuoteRules.price(basket, state, at: Shop.noon).lines.filter { ["Tax", "Remote"].contains($0.label) }
      .map { "\($0.label) \($0.amount.decimalString)" }
  }

  private static let tax = BasketDocument.Fee(label: "Tax", basisPoints: 1_350)

  /// The goods are 21.90.
  @Test(
    arguments: [
      (1_350, "Tax 2.96"), (1, nil), (2, nil), (3, "Tax 0.01"), (10_000, "Tax 21.90"), (23, "Tax 0.05"),
    ] as [(Int64, String?)])
  func `take hundredths of a percent, rounded half away from zero`(_ points: Int64, _ line: String?) throws {
    let lines = try priced([.init(label: "Tax", basisPoints: points)], SheetState(service: .collection))
    #expect(lines == (line.map { [$0] } ?? []))
  }

  @Test func `round a half up`() throws {
    let lines = try priced([.init(label: "Tax", basisPoints: 50)], SheetState(service: .collection)) {
      $0.items = [.init(id: "a", label: "A", unitAmount: 100)]
    }
    #expect(lines == ["Tax 0.01"])
  }

  @Test func `are taken of the goods less their discount, and not of other fees`() throws {
    let state = SheetState(service: .delivery, destination: .zone("central"), couponCode: "FIVER")
    #expect(try priced([Self.tax, .init(label: "Packing", amount: 100)], state) == ["Tax 2.28"])
  }

  @Test(
    arguments: [
      (.delivery, .zone("county"), ["Remote 0.65"]), (.delivery, .zone("central"), []), (.delivery, .unknown, []),
      (.collection, .zone("county"), []),
    ] as [(ServiceType, Destination, [String])])
  func `of a zone are charged there alone`(
    _ service: ServiceType, _ destination: Destination, _ lines: [String]
  ) throws {
    let fees = [BasketDocument.Fee(label: "Remote", basisPoints: 500, zones: ["county"])]
    #expect(try priced(fees, SheetState(service: service, destination: destination)) == lines)
  }

  @Test func `of a zone may be amounts and depend on the card`() throws {
    let fees = [BasketDocument.Fee(label: "Remote", amount: 70, paymentMethodTypes: ["credit"], zones: ["county"])]
    var state = SheetState(service: .delivery, destination: .zone("county"))
    #expect(try priced(fees, state) == [])
    state.paymentMethod = .credit
    #expect(try priced(fees, state) == ["Remote 0.70"])
  }

  @Test func `are in fils where the currency has them`() throws {
    let lines = try priced([.init(label: "Tax", basisPoints: 500)], SheetState(service: .collection)) {
      $0.currencyCode = Currency(code: "KWD") ?? $0.currencyCode
      $0.items = [.init(id: "a", label: "A", unitAmount: 1_234)]
    }
    #expect(lines == ["Tax 0.062"])
  }
}

@Suite struct `A sheet that lists no items` {
  private func request(
    _ change: (inout BasketDocument) -> Void = { _ in }
  ) async throws -> (Shop, PaymentRequest) {
    let shop = try await Shop()
    var document = BasketDocument.dinner
    document.lines = .subtotal
    change(&document)
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    return (shop, try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).request)
  }

  private func lines(_ items: [SummaryItem]) -> [String] { items.map { "\($0.label) \($0.amount.decimalString)" } }

  @Test func `has a subtotal, and each fee, discount and delivery`() async throws {
    let (_, request) = try await request { $0.couponCode = "FIVER" }
    #expect(
      lines(request.lineItems) == ["Subtotal 21.90", "Five off -5.00", "Service fee 0.50", "Bike 2.50"])
    #expect(request.total.amount.minorUnits == 1_990)
  }

  @Test func `has no subtotal above a lone total`() async throws {
    let (_, request) = try await request { ($0.serviceType, $0.fees) = ("collection", []) }
    #expect(request.lineItems.isEmpty && request.total.amount.minorUnits == 2_190)
  }

  @Test func `still names the items that cannot be had at the address`() async throws {
    let (shop, _) = try await request { $0.locale = "de-AT" }
    let (quote, update) = try await shop.orderService.update(
      Shop.basket, of: Shop.merchant, .shippingContact(RedactedContact(postalCode: "D18", countryCode: "IE")))
    #expect(
      lines(update.newLineItems) == [
        "Zwischensumme 12.90", "2 × Soup (dort nicht erhältlich) 0.00", "Service fee 0.50", "Van 6.00",
      ])
    #expect(quote.lines.first?.label == "Fish and chips")
  }

  @Test func `is the merchant's usual, unless the basket says`() async throws {
    let shop = try await Shop(MerchantTerms(lines: .subtotal, locale: "nl"))
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let usual = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(usual.request.lineItems.first?.label == "Subtotaal" && usual.locale == "nl")
    var document = BasketDocument.dinner
    (document.lines, document.locale) = (.items, "it-IT")
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    let own = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(own.request.lineItems.first?.label == "Fish and chips" && own.locale == "it-IT")
  }

  @Test(arguments: [("sv", "Koden är okänd."), ("tlh", "This code is not known."), ("ja-JP", "このコードは無効です。")])
  func `speaks the basket's language`(_ locale: String, _ message: String) async throws {
    let (shop, _) = try await request { $0.locale = locale }
    let update = try await shop.orderService.update(Shop.basket, of: Shop.merchant, .couponCode("NO")).update
    #expect(update.errors.map(\.message) == [message])
    #expect(try await shop.orderService.locale(of: Shop.basket) == ShopperLocale(locale))
  }
}

@Suite struct `A place on the sheet` {
  /// Country, visible code, full code, whether it is served, total while redacted.
  static let rows: [(String, String?, Bool, Int64)] = [
    ("IE", "D01 X2Y3", true, 2_490), ("ie", "d02", true, 2_490), ("IE", "D18", true, 1_940),
    ("IE", "T12", false, 0), ("IE", nil, true, 2_490), ("GB", "SW1A", true, 1_940), ("GB", "E1", false, 0),
    ("US", "94105", false, 0),
  ]

  @Test(arguments: rows) func `decides zone and price`(
    _ country: String, _ code: String?, _ isServed: Bool, _ total: Int64
  ) async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let contact = RedactedContact(postalCode: code, countryCode: country)
    let (quote, update) = try await shop.orderService.update(Shop.basket, of: Shop.merchant, .shippingContact(contact))
    #expect(quote.total.minorUnits == total)
    #expect(update.errors.map(\.code) == (isServed ? [] : [.addressUnserviceable]))
    #expect(quote.isPayable == isServed)
    if let code {
      #expect(
        try await shop.orderService.checkPostalCode(code, country: country, Shop.basket, of: Shop.merchant) == isServed)
    }
  }

  @Test func `leaves nothing of itself in the store`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let contact = RedactedContact(locality: "Ringsend", postalCode: "D18 Q7Q7", countryCode: "IE")
    _ = try await shop.orderService.update(Shop.basket, of: Shop.merchant, .shippingContact(contact))
    let rows = try await shop.database.read { store in
      try store.rows("SELECT sheet_state || lines AS text FROM quotes").map { try $0.text("text") }
        + store.rows("SELECT service || destination AS text FROM baskets").map { try $0.text("text") }
    }
    #expect(rows.count == 2)
    #expect(rows.allSatisfy { !$0.contains("Ringsend") && !$0.contains("Q7Q7") && !$0.contains("D18") })
  }
}
