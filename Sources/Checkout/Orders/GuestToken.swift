import Crypto
import Foundation
import JWTKit
package import Storage
package import TenderPayments

/// Issues guest tokens: what a shopper without an account shows to the merchant to see an order. A JWT signed with
/// ES256, which anyone checks against the published key set, without asking us.
///
/// The public halves of all keys are in the store. Every node publishes and accepts all of them, whichever it signs with:
/// so a key is replaced at one node after the other, and the tokens of the old one stay valid.
///
/// Claims: `iss`, `sub` (the order), `basket`, `guest` (the same for every order of a browser), `iat` and `exp`.
package struct GuestTokenIssuer: Sendable {
  private let issuer: String
  private let lifetime: Duration
  private let keys: JWTKeyCollection
  private let signer: GuestTokenSigner
  private let database: Database

  /// Signs with a key, whose public half is in the store afterwards.
  ///
  /// - Parameters:
  ///   - privateKeyPEM: a P-256 key.
  ///   - database: opened with the migrations of ``OrderService``.
  package init(
    privateKeyPEM: String, issuer: String, lifetime: Duration = .seconds(30 * 86_400), database: Database
  ) async throws {
    let key = try ES256PrivateKey(pem: privateKeyPEM)
    let own = try PublishedKey(key.publicKey)
    (self.issuer, self.lifetime, self.database) = (issuer, lifetime, database)
    signer = try GuestTokenSigner(privateKeyPEM: privateKeyPEM, keyID: own.kid)
    keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: own.kid))
    let pem = key.publicKey.pemRepresentation
    try await database.write { try GuestTokenKeys.add(pem, as: own.kid, in: $0) }
  }

  /// - Parameter issued: when the order was placed, so that a repeated answer carries the same claims.
  package func token(for order: OrderID, of basket: BasketID, guest: String, issued: Timestamp) throws -> String {
    let claims = GuestClaims(
      iss: IssuerClaim(value: issuer), sub: SubjectClaim(value: order.rawValue), basket: basket.rawValue,
      guest: guest, iat: issued.seconds, exp: issued.adding(lifetime).seconds)
    return try signer.sign(StoredJSON.text(claims))
  }

  /// The order of a token that a node of this issuer has signed, also when it has expired; nil for any other text.
  package func order(in token: String) async -> OrderID? {
    guard token.utf8.count <= Self.longest, let claims = await claims(of: token),
      Array(claims.iss.value.utf8) == Array(issuer.utf8)
    else { return nil }
    return OrderID(claims.sub.value)
  }

  private func claims(of token: String) async -> GuestClaims? {
    if let claims = try? await keys.verify(token, as: GuestClaims.self) { return claims }
    guard let published = try? await readKeys() else { return nil }
    let others = JWTKeyCollection()
    for key in published { await others.add(ecdsa: key.key, kid: JWKIdentifier(string: key.id)) }
    return try? await others.verify(token, as: GuestClaims.self)
  }

  private func readKeys() async throws -> [(id: String, key: ES256PublicKey)] {
    try await database.read { try GuestTokenKeys.all(in: $0) }.map { ($0.id, try ES256PublicKey(pem: $0.pem)) }
  }

  private static let longest = 2_048

  /// The key set, RFC 7517: `{"keys":[{"alg":"ES256","crv":"P-256","kid":…,"kty":"EC","use":"sig","x":…,"y":…}]}`.
  package var keySet: String {
    get async throws { try StoredJSON.text(["keys": try await readKeys().map { try PublishedKey($0.key) }]) }
  }
}

/// Signs claims as a JWT (RFC 7515, section 7.1) with ES256.
///
/// A payment waits for its guest token, and JWTKit encodes the same header anew for each and walks through each text byte
/// by byte, which takes longer than the signature. It verifies what this signs.
private struct GuestTokenSigner: Sendable {
  private let key: P256.Signing.PrivateKey
  /// In base64url, with the dot behind it.
  private let header: String

  init(privateKeyPEM: String, keyID: String) throws {
    key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
    let header = try StoredJSON.text(["alg": "ES256", "kid": keyID, "typ": "JWT"])
    self.header = Base64URL.encode(header.utf8) + "."
  }

  /// - Parameter claims: JSON.
  func sign(_ claims: String) throws -> String {
    let input = header + Base64URL.encode(claims.utf8)
    let signature = try key.signature(for: Array(input.utf8)).rawRepresentation
    return input + "." + Base64URL.encode(signature)
  }
}

/// The table `guest_token_keys`: a key is added, and stays until an operator takes it out.
enum GuestTokenKeys {
  static let migration = Migration(
    "guest-token-keys-1",
    """
    CREATE TABLE guest_token_keys (
      id TEXT PRIMARY KEY NOT NULL,
      public_key TEXT NOT NULL,
      added_at BIGINT NOT NULL
    );
    """)

  static func add(_ pem: String, as id: String, in store: Transaction) throws {
    try store.run(
      "INSERT INTO guest_token_keys (id, public_key, added_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", .text(id),
      .text(pem), .time(store.now))
  }

  /// The newest first.
  static func all(in store: Transaction) throws -> [(id: String, pem: String)] {
    try store.rows("SELECT id, public_key FROM guest_token_keys ORDER BY added_at DESC, id").map {
      (try $0.text("id"), try $0.text("public_key"))
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

  /// Its name is its thumbprint, RFC 7638.
  init(_ key: ES256PublicKey) throws {
    guard let point = key.parameters else { throw JWTError.generic(identifier: "guest", reason: "no key") }
    (x, y) = (point.x.asBase64URL, point.y.asBase64URL)
    let text = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    kid = Data(SHA256.hash(data: Array(text.utf8))).base64EncodedString().asBase64URL
  }
}

extension String {
  /// From base64 with padding.
  fileprivate var asBase64URL: String {
    String(filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }
}
