import Acquiring
import Ledger
import Orders
import DirectWire
import TenderPayments
import TenderTesting
import Testing

/// A change to a good document, and what it must be refused for.
struct InvalidBasket: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let code: OrderError.Code
  let field: String?
  let damage: @Sendable (inout BasketDocument) -> Void

  init(
    _ field: String?, _ description: String, _ code: OrderError.Code = .basketInvalid,
    _ damage: @escaping @Sendable (inout BasketDocument) -> Void
  ) {
    (self.field, self.testDescription, self.code, self.damage) = (field, description, code, damage)
  }

  /// People joined to one emoji: one `Character`.
  private static let family = "\u{1F468}" + String(repeating: "\u{200D}\u{1F468}", count: 1_000)

  static let all = [
    InvalidBasket("countryCode", "small letters") { $0.countryCode = "ie" },
    InvalidBasket("countryCode", "not of ISO 3166-1") { $0.countryCode = "UK" },
    InvalidBasket("supportedCountries[1]", "assigned to nobody") { $0.supportedCountries = ["IE", "XX"] },
    InvalidBasket("zones[2].countryCode", "not of ISO 3166-1") { $0.zones[2].countryCode = "UK" },
    InvalidBasket("businessName", "blank") { $0.businessName = " " },
    InvalidBasket("businessName", "nothing to see") { $0.businessName = "\u{200B}\u{200D}" },
    InvalidBasket("merchantReference", "too long") { $0.merchantReference = String(repeating: "x", count: 101) },
    InvalidBasket("merchantReference", "two characters of seven kilobytes") {
      $0.merchantReference = "x\(InvalidBasket.family)"
    },
    InvalidBasket("note", "one character of seven kilobytes") { $0.note = InvalidBasket.family },
    InvalidBasket("coupons[0].code", "one character of seven kilobytes") { $0.coupons[0].code = InvalidBasket.family },
    InvalidBasket("shippingMethods[0].detail", "too long") {
      $0.shippingMethods[0].detail = String(repeating: "x", count: 501)
    },
    InvalidBasket("serviceTypes", "none") { $0.serviceTypes = [] },
    InvalidBasket("serviceTypes", "twice") { $0.serviceTypes = ["delivery", "delivery"] },
    InvalidBasket("serviceTypes[1]", "unknown") { $0.serviceTypes = ["delivery", "teleport"] },
    InvalidBasket("serviceType", "not among them") { $0.serviceType = "shipping" },
    InvalidBasket("items", "none") { $0.items = [] },
    InvalidBasket("items[1].id", "twice") { $0.items[1].id = "fish" },
    InvalidBasket("items[0].label", "control character") { $0.items[0].label = "a\u{7}" },
    InvalidBasket("items[0].label", "an override of the writing direction") { $0.items[0].label = "a\u{202E}b" },
    InvalidBasket("businessName", "a paragraph's end") { $0.businessName = "a\u{2029}b" },
    InvalidBasket("items[0].label", "a control character of two bytes") { $0.items[0].label = "a\u{9B}2J" },
    InvalidBasket("merchantReference", "two lines") { $0.merchantReference = "a\nb" },
    InvalidBasket("merchantReference", "an override of the writing direction") { $0.merchantReference = "a\u{202E}b" },
    InvalidBasket("customer", "a paragraph's end") { $0.customer = "a\u{2029}b" },
    InvalidBasket("items[0].unitAmount", "negative") { $0.items[0].unitAmount = -1 },
    InvalidBasket("items[0].quantity", "zero") { $0.items[0].quantity = 0 },
    InvalidBasket("items[0].unitAmount", "overflow") { ($0.items[0].unitAmount, $0.items[0].quantity) = (.max, 2) },
    InvalidBasket("items[0].unitAmount", "sum overflows") { $0.items[0].unitAmount = .max },
    InvalidBasket("items[0].unitAmount", "share overflows") { $0.items[0].unitAmount = 100_000_000_000_000_000 },
    InvalidBasket("items", "more than twelve digits together") { document in
      document.items += (0..<2).map { .init(id: "item \($0)", label: "A", unitAmount: 500_000_000_000) }
    },
    InvalidBasket("fees[1].amount", "sum overflows with a credit card") { $0.fees[1].amount = .max },
    InvalidBasket("fees[1].amount", "has no negative") { $0.fees[1].amount = .min },
    InvalidBasket("items[1].availableIn", "no such zone") { $0.items[1].availableIn = ["mars"] },
    InvalidBasket("fees[0].serviceTypes", "not offered") { $0.fees[0].serviceTypes = ["shipping"] },
    InvalidBasket("fees[1].paymentMethodTypes", "unknown") { $0.fees[1].paymentMethodTypes = ["gold"] },
    InvalidBasket("zones[0].postalPrefixes", "empty prefix") { $0.zones[0].postalPrefixes = [" "] },
    InvalidBasket("zones[1].methods", "no such method") { $0.zones[1].methods = ["drone"] },
    InvalidBasket("zones[2].countryCode", "three letters") { $0.zones[2].countryCode = "GBR" },
    InvalidBasket("shippingMethods[0].amount", "negative") { $0.shippingMethods[0].amount = -1 },
    InvalidBasket("shippingMethods[2].identifier", "twice") { $0.shippingMethods.append($0.shippingMethods[0]) },
    InvalidBasket("coupons[0]", "both kinds") { $0.coupons[0].amount = 1 },
    InvalidBasket("coupons[0]", "over 100 %") { $0.coupons[0].percentBasisPoints = 10_001 },
    InvalidBasket("coupons[1].code", "twice, in other letters") { $0.coupons[1].code = "lunch10" },
    InvalidBasket("capture", "pending and immediate") { $0.pending = true },
    InvalidBasket("estimate", "without a pending total") { $0.estimate = 5_000 },
    InvalidBasket("estimate", "nothing") { ($0.pending, $0.capture, $0.estimate) = (true, .manual, 0) },
    InvalidBasket("estimate", "too much") { ($0.pending, $0.capture, $0.estimate) = (true, .manual, .max) },
    InvalidBasket("supportedCountries[0]", "three letters") { $0.supportedCountries = ["IRL"] },
    InvalidBasket("quoteURL", "host not allowed") { $0.quoteURL = "https://elsewhere.example/quote" },
    InvalidBasket("quoteURL", "a separator under a combining mark") {
      $0.quoteURL = "https://shop.example/\u{301}@shop.example/quote"
    },
    InvalidBasket("quoteURL", "a letter beyond ASCII") { $0.quoteURL = "https://shop.example/caf\u{E9}" },
    InvalidBasket("route", "not configured") { $0.route = "braintree/eu" },
    InvalidBasket("route", "no route's name") { $0.route = "fake network=visa" },
    InvalidBasket("quoteURL", "no TLS") { $0.quoteURL = "http://shop.example/quote" },
    InvalidBasket(nil, "nothing to pay", .totalNotPositive) { document in
      document.items = [.init(id: "a", label: "A", unitAmount: 0)]
      document.serviceTypes = ["collection"]
      document.fees = []
    },
    InvalidBasket(nil, "less than nothing", .totalNotPositive) { $0.fees[0] = .init(label: "Off", amount: -100_000) },
    InvalidBasket("fees[0].basisPoints", "negative") { $0.fees[0] = .init(label: "Tax", basisPoints: -1) },
    InvalidBasket("fees[0].basisPoints", "nothing") { $0.fees[0] = .init(label: "Tax", basisPoints: 0) },
    InvalidBasket("fees[0].basisPoints", "over 100 %") { $0.fees[0] = .init(label: "Tax", basisPoints: 10_001) },
    InvalidBasket("fees[0]", "both kinds") { $0.fees[0].basisPoints = 100 },
    InvalidBasket("fees[0]", "neither kind") { $0.fees[0].amount = nil },
    InvalidBasket("fees[0].zones", "no such zone") { $0.fees[0].zones = ["mars"] },
    InvalidBasket("locale", "no language tag") { $0.locale = "German" },
    InvalidBasket("contactFields[1]", "unknown") { $0.contactFields = ["name", "shoeSize"] },
    InvalidBasket("contactFields", "twice") { $0.contactFields = ["name", "name"] },
  ]
}

@Suite struct `A basket` {
  private let terms = MerchantTerms(
    callbackSigner: RequestSigner(apiKeyId: "k", secret: "s"), callbackHosts: ["shop.example"])

  @Test func `may have texts of four bytes a character, and as many characters as in English`() async throws {
    let shop = try await Shop(terms)
    var document = BasketDocument.dinner
    document.merchantReference = String(repeating: "\u{20BB7}", count: 100)
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    document.merchantReference += "a"
    await refusal(.basketInvalid, field: "merchantReference") {
      try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    }
  }

  @Test(arguments: InvalidBasket.all) func `that makes no sense is refused by property`(_ invalid: InvalidBasket)
    async throws
  {
    let shop = try await Shop(terms)
    var document = BasketDocument.dinner
    invalid.damage(&document)
    await refusal(invalid.code, field: invalid.field) {
      try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    }
    #expect(try await shop.count("baskets") == 0)
  }

  @Test(arguments: [
    "", "short", "kNc7pQ2xR8vT5wY1zB4dF", "0123456789abcdef0123456789abcde", "kNc7pQ2xR8vT5wY1zB4d/g",
    "kNc7pQ2xR8vT5wY1zB4dFé", String(repeating: "x", count: 129),
  ]) func `with an id that can be guessed is refused`(_ id: String) async throws {
    let shop = try await Shop()
    await refusal(.basketIDWeak, field: "basketId") {
      try await shop.orderService.put(.dinner, as: BasketID(id), of: Shop.merchant)
    }
  }

  @Test(arguments: ["kNc7pQ2xR8vT5wY1zB4dFg", "0123456789abcdef0123456789abcdef", "-_-_-_-_-_-_-_-_-_-_-_"])
  func `with 128 random bits in its id is taken`(_ id: String) async throws {
    let shop = try await Shop()
    let answer = try await shop.orderService.put(.dinner, as: BasketID(id), of: Shop.merchant)
    #expect(answer.state == .open)
    #expect(answer.total.amount == 1_290 + 900 + 50 + 250)
    #expect(answer.expiresAt.timestamp == Shop.noon.adding(.seconds(86_400)))
  }

  @Test func `sent twice is there once, and its open sheet stays good`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let quote = try await shop.opens()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    #expect(try await shop.pays(quote: quote).payment.status == .captured)
  }

  @Test func `with new content makes what was shown stale`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let quote = try await shop.opens()
    var document = BasketDocument.dinner
    document.items[0].unitAmount = 1_390
    #expect(try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant).total.amount == 2_590)
    await refusal(.quoteStale) { try await shop.pays(quote: quote) }
  }

  @Test func `belongs to its merchant alone`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let other = MerchantID("other")
    await refusal(.basketIDTaken) { try await shop.orderService.put(.dinner, as: Shop.basket, of: other) }
    await refusal(.basketUnknown) { try await shop.orderService.basket(Shop.basket, of: other) }
    await refusal(.basketUnknown) { try await shop.orderService.sheet(Shop.basket, of: other) }
    await refusal(.basketUnknown) { try await shop.orderService.cancel(Shop.basket, of: other) }
  }

  @Test func `may name route and authorization, and the acquirer is told the business name`() async throws {
    let shop = try await Shop()
    var document = BasketDocument.dinner
    (document.route, document.authorization) = ("fake", .final)
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    #expect(try await shop.pays().payment.status == .captured)
    #expect(shop.acquirer.authorizations.map(\.sale.statementDescriptor) == [document.businessName])
    #expect(shop.acquirer.authorizations.map(\.sale.authorization) == [.final])
  }

  @Test func `tells the merchant what went back to the shopper without a request`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let payment = try await shop.pays().payment
    let journal = Journal(shop.database)
    let authorization = try #require(try await journal.operations(of: payment.id).first).reference
    for (movement, units) in [(MoneyMovement.refund, 300), (.chargeback, 200)] {
      _ = try await journal.receive(
        ProviderEvent(
          route: "fake", id: movement.rawValue, reference: authorization, amount: .eur(Int64(units)),
          outcome: .moved(movement, name: movement.rawValue)))
    }
    let order = try #require(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order)
    #expect(order.status == .partiallyRefunded && order.refunded == 300 && order.chargedBack == 200)
  }

  @Test func `ends after a day`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let quote = try await shop.opens()
    shop.clock.move(.seconds(86_400))
    await refusal(.basketExpired) { try await shop.orderService.sheet(Shop.basket, of: Shop.merchant) }
    await refusal(.basketExpired) { try await shop.pays(quote: quote) }
  }

  @Test func `that was tried to pay cannot be changed`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    _ = try await shop.pays()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    var document = BasketDocument.dinner
    document.note = "more salt"
    await refusal(.basketPlaced) { try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant) }
  }
}
