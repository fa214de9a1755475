import JWTKit
import Orders
import DirectWire
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

private struct Claims: JWTPayload {
  let iss: String
  let sub: String
  let basket: String
  let iat: Int
  let exp: Int
  func verify(using key: some JWTAlgorithm) async throws {}
}

@Suite struct `A guest token` {
  private func issuer(_ key: ES256PrivateKey = ES256PrivateKey()) async throws -> GuestTokenIssuer {
    try await GuestTokenIssuer(
      privateKeyPEM: key.pemRepresentation, keyID: "2026-11", issuer: "https://pay.example", lifetime: .seconds(3_600))
  }

  @Test func `is checked by the merchant with the published keys alone`() async throws {
    let issuer = try await issuer()
    let text = try await issuer.token(for: OrderID("o-1"), of: Shop.basket, issued: Shop.noon)
    let claims = try await JWTKeyCollection().add(jwksJSON: issuer.keySet).verify(text, as: Claims.self)
    #expect(claims.iss == "https://pay.example")
    #expect(claims.sub == "o-1")
    #expect(claims.basket == Shop.basket.rawValue)
    #expect(Int64(claims.iat) == Shop.noon.seconds)
    #expect(claims.exp - claims.iat == 3_600)
  }

  @Test func `of another key is not believed`() async throws {
    let text = try await issuer().token(for: OrderID("o-1"), of: Shop.basket, issued: Shop.noon)
    let others = try await JWTKeyCollection().add(jwksJSON: issuer().keySet)
    await #expect(throws: (any Error).self) { try await others.verify(text, as: Claims.self) }
  }

  @Test func `is published as a key without its secret`() async throws {
    let text = try await issuer().keySet
    #expect(text.contains(#""kty":"EC""#) && text.contains(#""crv":"P-256""#) && text.contains(#""kid":"2026-11""#))
    #expect(!text.contains(#""d":"#) && !text.contains("=") && !text.contains("+"))
  }

  @Test func `is given to guests whose payment is good`() async throws {
    let issuer = try await issuer()
    for (customer, isGuest) in [(nil, true), ("c-123", false)] as [(String?, Bool)] {
      let shop = try await Shop(guestTokens: issuer)
      var document = BasketDocument.dinner
      document.customer = customer
      try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
      let placed = try await shop.pays()
      #expect((placed.guestToken != nil) == isGuest)
      #expect(placed.order.customer == customer)
    }
  }
}
