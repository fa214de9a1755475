import JWTKit
import Ledger
import Orders
import DirectWire
import Storage
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

private struct Claims: JWTPayload {
  let iss: String
  let sub: String
  let basket: String
  let guest: String
  let iat: Int
  let exp: Int
  func verify(using key: some JWTAlgorithm) async throws {}
}

@Suite struct `A guest token` {
  private let files: [TemporaryStore]
  private let database: Database
  /// Of another server.
  private let foreign: Database

  init() async throws {
    files = [try TemporaryStore(), try TemporaryStore()]
    database = try await files[0].open(Journal.migrations + OrderService.migrations)
    foreign = try await files[1].open(Journal.migrations + OrderService.migrations)
  }

  private func issuer(
    _ key: ES256PrivateKey = ES256PrivateKey(), in other: Database? = nil
  ) async throws -> GuestTokenIssuer {
    try await GuestTokenIssuer(
      privateKeyPEM: key.pemRepresentation, issuer: "https://pay.example", lifetime: .seconds(3_600),
      database: other ?? database)
  }

  private func foreignIssuer() async throws -> GuestTokenIssuer { try await issuer(in: foreign) }

  @Test func `is checked by the merchant with the published keys alone`() async throws {
    let issuer = try await issuer()
    let text = try issuer.token(for: OrderID("o-1"), of: Shop.basket, guest: "g-1", issued: Shop.noon)
    let claims = try await JWTKeyCollection().add(jwksJSON: issuer.keySet).verify(text, as: Claims.self)
    #expect(claims.iss == "https://pay.example")
    #expect(claims.sub == "o-1")
    #expect(claims.basket == Shop.basket.rawValue)
    #expect(claims.guest == "g-1")
    #expect(Int64(claims.iat) == Shop.noon.seconds)
    #expect(claims.exp - claims.iat == 3_600)
  }

  @Test func `of another key is not believed`() async throws {
    let text = try await issuer().token(for: OrderID("o-1"), of: Shop.basket, guest: "g-1", issued: Shop.noon)
    let others = try await JWTKeyCollection().add(jwksJSON: foreignIssuer().keySet)
    await #expect(throws: (any Error).self) { try await others.verify(text, as: Claims.self) }
  }

  @Test func `is published as a key without its secret`() async throws {
    let text = try await issuer().keySet
    #expect(text.contains(#""kty":"EC""#) && text.contains(#""crv":"P-256""#) && text.contains(#""kid":""#))
    #expect(!text.contains(#""d":"#) && !text.contains("=") && !text.contains("+"))
  }

  @Test func `is given to guests whose payment is good`() async throws {
    for (customer, isGuest) in [(nil, true), ("c-123", false)] as [(String?, Bool)] {
      let shop = try await Shop(guestTokenKey: ES256PrivateKey().pemRepresentation)
      var document = BasketDocument.dinner
      document.customer = customer
      try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
      let placed = try await shop.pays()
      #expect((placed.guestToken != nil) == isGuest)
      #expect(placed.order.customer == customer)
    }
  }

  @Test func `names its order to its own issuer, also when it has expired, and to no other`() async throws {
    let key = ES256PrivateKey()
    let issuer = try await issuer(key)
    let text = try issuer.token(
      for: OrderID("o-1"), of: Shop.basket, guest: "g-1", issued: Timestamp(seconds: 1_000))
    #expect(await issuer.order(in: text) == OrderID("o-1"))
    #expect(try await foreignIssuer().order(in: text) == nil)
    let renamed = try await GuestTokenIssuer(
      privateKeyPEM: key.pemRepresentation, issuer: "https://other.example", database: database)
    #expect(await renamed.order(in: text) == nil)
    for wrong in ["", "o-1", text.dropLast(3) + "AAA", text + String(repeating: "A", count: 2_000)] {
      #expect(await issuer.order(in: String(wrong)) == nil)
    }
  }
}

@Suite struct `A guest` {
  private static let second = BasketID("0123456789abcdef0123456789abcdef")

  /// Pays a basket as a guest, with the guest token of an earlier order.
  private func pays(
    _ shop: Shop, _ basket: BasketID = Shop.basket, customer: String? = nil, _ token: String? = nil
  ) async throws -> PlacedOrder {
    var document = BasketDocument.dinner
    (document.serviceType, document.customer) = ("collection", customer)
    document.merchantReference = "HK-\(basket.rawValue.prefix(2))"
    try await shop.orderService.put(document, as: basket, of: Shop.merchant)
    let quote = try await shop.orderService.sheet(basket, of: Shop.merchant).quote
    let request = PlaceOrderRequest(
      basket: basket, quote: quote.id, token: try await shop.token(for: quote.id, of: basket),
      shippingContact: .dublin, guestToken: token)
    return try await shop.orderService.place(request, of: Shop.merchant, before: .after(TestRun.whole))
  }

  private func shop() async throws -> Shop {
    try await Shop(guestTokenKey: ES256PrivateKey().pemRepresentation)
  }

  @Test func `stays the same guest with the token of the last order, and is another one without`() async throws {
    let shop = try await shop()
    let first = try await pays(shop)
    let guest = try #require(first.order.guest)
    shop.clock.move(.seconds(1))
    #expect(try await pays(shop, Self.second, first.guestToken).order.guest == guest)
    let third = try await pays(shop, BasketID("3123456789abcdef0123456789abcdef"), "forged")
    #expect(third.order.guest != nil && third.order.guest != guest)
    #expect(guest.utf8.count == 32)
    let answer = try await shop.orderService.guest(guest, of: Shop.merchant)
    #expect(answer.orders.map(\.merchantReference) == ["HK-01", "HK-kN"] && answer.merchantCustomerId == nil)
    #expect(answer.orders.map(\.basketId) == [Self.second, Shop.basket])
  }

  @Test func `is claimed by one customer for good, and look-ups then show both`() async throws {
    let shop = try await shop()
    let guest = try #require(try await pays(shop).order.guest)
    for _ in 0..<2 {
      let answer = try await shop.orderService.claim(guest, of: Shop.merchant, for: "c-7")
      #expect(answer.merchantCustomerId == "c-7" && answer.orders.count == 1)
    }
    let order = try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order
    #expect(order?.customer?.guestId == guest && order?.customer?.merchantCustomerId == "c-7")
    await refusal(.guestClaimed) { try await shop.orderService.claim(guest, of: Shop.merchant, for: "c-8") }
    await refusal(.basketInvalid) { try await shop.orderService.claim(guest, of: Shop.merchant, for: " ") }
  }

  @Test func `of another merchant, or nobody's, is unknown`() async throws {
    let shop = try await shop()
    let guest = try #require(try await pays(shop).order.guest)
    let other = MerchantID("another")
    await refusal(.guestUnknown) { try await shop.orderService.guest(guest, of: other) }
    await refusal(.guestUnknown) { try await shop.orderService.claim(guest, of: other, for: "c-7") }
    await refusal(.guestUnknown) { try await shop.orderService.guest("nobody", of: Shop.merchant) }
  }

  @Test func `who has signed in is a customer and no guest`() async throws {
    let shop = try await shop()
    let token = try await pays(shop).guestToken
    let placed = try await pays(shop, Self.second, customer: "c-1", token)
    #expect(placed.order.guest == nil && placed.order.customer == "c-1" && placed.guestToken == nil)
  }
}
