import Foundation
import JWTKit
package import TenderPayments

/// Issues guest tokens: what a shopper without an account shows to the merchant to see an order. A JWT signed with
/// ES256, which anyone checks against the published key set, without asking us.
///
/// Claims: `iss`, `sub` (the order), `basket`, `guest` (the same for every order of a browser), `iat` and `exp`.
package struct GuestTokenIssuer: Sendable {
  private let issuer: String
  private let lifetime: Duration
  private let keys: JWTKeyCollection
  private let key: ES256PrivateKey
  private let keyID: String

  /// - Parameters:
  ///   - privateKeyPEM: a P-256 key.
  ///   - keyID: published beside the key, so that it can be replaced while old tokens are about.
  package init(privateKeyPEM: String, keyID: String, issuer: String, lifetime: Duration = .seconds(30 * 86_400))
    async throws
  {
    self.key = try ES256PrivateKey(pem: privateKeyPEM)
    self.keyID = keyID
    self.issuer = issuer
    self.lifetime = lifetime
    self.keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyID))
  }

  /// - Parameter issued: when the order was placed, so that a repeated answer carries the same claims.
  package func token(
    for order: OrderID, of basket: BasketID, guest: String, issued: Timestamp
  ) async throws -> String {
    let claims = GuestClaims(
      iss: IssuerClaim(value: issuer), sub: SubjectClaim(value: order.rawValue), basket: basket.rawValue,
      guest: guest, iat: issued.seconds, exp: issued.adding(lifetime).seconds)
    return try await keys.sign(claims, kid: JWKIdentifier(string: keyID))
  }

  /// The order of a token that this issuer has signed, also when it has expired; nil for any other text.
  package func order(in token: String) async -> OrderID? {
    guard token.utf8.count <= Self.longest, let claims = try? await keys.verify(token, as: GuestClaims.self),
      Array(claims.iss.value.utf8) == Array(issuer.utf8)
    else { return nil }
    return OrderID(claims.sub.value)
  }

  private static let longest = 2_048

  /// The key set, RFC 7517: `{"keys":[{"alg":"ES256","crv":"P-256","kid":…,"kty":"EC","use":"sig","x":…,"y":…}]}`.
  package var keySet: String {
    get throws {
      guard let point = key.publicKey.parameters else { throw JWTError.generic(identifier: "guest", reason: "no key") }
      let key = PublishedKey(kid: keyID, x: point.x.asBase64URL, y: point.y.asBase64URL)
      return try StoredJSON.text(["keys": [key]])
    }
  }
}

private struct GuestClaims: JWTPayload {
  let iss: IssuerClaim
  let sub: SubjectClaim
  let basket: String
  let guest: String
  /// Whole seconds since 1970.
  let iat: Int64
  let exp: Int64

  func verify(using key: some JWTAlgorithm) async throws {}
}

private struct PublishedKey: Encodable {
  let alg = "ES256"
  let crv = "P-256"
  let kid: String
  let kty = "EC"
  let use = "sig"
  let x: String
  let y: String
}

extension String {
  /// From base64 with padding.
  fileprivate var asBase64URL: String {
    String(filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }
}
