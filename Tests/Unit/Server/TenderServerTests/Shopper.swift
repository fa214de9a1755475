import Administration
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import Testing

/// A shopper with a basket: the calls that a page and a device make, step by step.
struct Shopper: Sendable {
  let system: TestSystem
  private(set) var shop: Shopfront
  let basket: String
  private(set) var quote = ""
  private(set) var total = ""
  private(set) var request: JSONValue = .null

  /// Stores a basket and opens the sheet.
  static func enters(
    _ system: TestSystem, _ shop: Shopfront? = nil, amount: Int64 = 1250, currency: String? = nil,
    service: String = "delivery", capture: String = "immediate", also more: [String: JSONValue] = [:]
  ) async throws -> Shopper {
    let shop = shop ?? system.harbour
    var shopper = Shopper(system: system, shop: shop, basket: RandomBytes.system.hex(16))
    let stored = try await shop.signed(
      "PUT", "/v2/\(shop.merchant.id)/baskets/\(shopper.basket)",
      shopper.document(amount, currency ?? shop.merchant.currencyCode, service, capture, more),
      at: system.clock.wall.now())
    try #require(stored.status == 200, "\(stored.errorText)")
    try await shopper.opens()
    return shopper
  }

  private init(system: TestSystem, shop: Shopfront, basket: String) {
    (self.system, self.shop, self.basket) = (system, shop, basket)
  }

  /// The same shopper, whose next calls reach another server.
  func at(_ shop: Shopfront) -> Shopper {
    var shopper = self
    shopper.shop = shop
    return shopper
  }

  mutating func opens() async throws {
    let answer = try await shop.page.require("GET", "/applepay/basket/\(basket)")
    request = answer["request"] ?? .null
    quote = try #require(answer["quoteId"]?.text)
    total = try #require(request["total"]?["amount"]?.text)
  }

  /// Chooses an address and the first method there.
  mutating func chooses(_ contact: String = "gb-london") async throws {
    let redacted = try await self.contact(contact)["redacted"] ?? .null
    let moved = try await shop.page.require("POST", "/applepay/basket/\(basket)/update", ["shippingContact": redacted])
    let method = try #require(moved["update"]?["newShippingMethods"]?.elements.first?["identifier"])
    let answer = try await shop.page.require("POST", "/applepay/basket/\(basket)/update", ["shippingMethod": method])
    quote = try #require(answer["quoteId"]?.text)
    total = try #require(answer["update"]?["newTotal"]?["amount"]?.text)
  }

  func contact(_ id: String) async throws -> JSONValue {
    let all = try await system.sandbox.require("GET", "/device/contacts").elements
    return try #require(all.first { $0["id"]?.text == id })
  }

  func session() async throws -> JSONValue {
    try await shop.page.require("POST", "/applepay/validate", ["basketId": .string(basket)])
  }

  /// A payment token for this sheet; every part can be made another.
  func token(
    card: String = "visa-debit", amount: String? = nil, currency: String? = nil, applicationData: JSONValue? = nil
  ) async throws -> JSONValue {
    try await system.sandbox.require(
      "POST", "/device/tokens",
      [
        "cardId": .string(card), "merchantSession": try await session(), "amount": .string(amount ?? total),
        "currency": .string(currency ?? shop.merchant.currencyCode),
        "applicationData": applicationData ?? request["applicationData"] ?? .null,
      ], headers: [.init("Origin", shop.origin)])
  }

  /// A payment token whose page says this of the card.
  func token(naming method: JSONValue) async throws -> JSONValue {
    guard case .object(var token) = try await token() else { return .null }
    token["paymentMethod"] = method
    return .object(token)
  }

  func payment(_ token: JSONValue, contact: String = "gb-london", quote: String? = nil) async throws -> JSONValue {
    [
      "basketId": .string(basket), "quoteId": .string(quote ?? self.quote), "token": token,
      "shippingContact": try await self.contact(contact),
    ]
  }

  func pays(_ payment: JSONValue) async throws -> JSONClient.Answer {
    try await shop.page.call("POST", "/applepay/payment", payment)
  }

  func pays(card: String = "visa-debit") async throws -> JSONClient.Answer {
    try await pays(try await payment(try await token(card: card)))
  }

  func outcome() async throws -> JSONClient.Answer { try await shop.page.call("GET", "/applepay/payment/\(basket)") }

  /// What the acquirer's own ledger has of this order.
  func holds() async throws -> [JSONValue] {
    let key = try #require(try await system.sandbox.require("GET", "/sandbox/ca.json")["acquirerKey"]?.text)
    let ledger = try await system.sandbox.require(
      "GET", "/acquirer/v1/authorizations", headers: [.init("Authorization", "Bearer \(key)")])
    return (ledger["authorizations"]?.elements ?? []).filter { $0["merchantReference"]?.text == reference }
  }

  var reference: String { "T-\(basket.prefix(12))" }

  /// - Parameter more: properties to add, or to have other values.
  func document(
    _ amount: Int64, _ currency: String, _ service: String, _ capture: String = "immediate",
    _ more: [String: JSONValue] = [:]
  ) -> JSONValue {
    let usual: JSONValue = [
      "currencyCode": .string(currency), "countryCode": .string(shop.merchant.countryCode),
      "merchantReference": .string(reference), "businessName": .string(shop.merchant.displayName),
      "serviceTypes": ["delivery", "collection"], "serviceType": .string(service),
      "items": [["id": "fish", "label": "Fish and chips", "unitAmount": .integer(amount), "quantity": 1]],
      "zones": [
        ["id": "london", "countryCode": "GB", "postalPrefixes": ["EC"], "methods": ["bike"]],
        ["id": "japan", "countryCode": "JP", "postalPrefixes": [], "methods": ["bike"]],
      ],
      "shippingMethods": [["identifier": "bike", "label": "Bike", "detail": "Soon", "amount": 250]],
      "coupons": [], "capture": .string(capture),
    ]
    guard case .object(var document) = usual else { return usual }
    for (key, value) in more { document[key] = value }
    return .object(document)
  }
}
