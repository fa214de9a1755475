package import ApplePayToken
import Crypto
package import Storage
package import StrictJSON
import SwiftASN1
package import TenderPayments
import X509

/// The provider's keys, one for each merchant whose payment tokens it decrypts. The merchant takes the signing request
/// to the developer portal; the private key never leaves.
package struct ProviderKeys: Sendable {
  /// Has a table `keys`.
  package let database: Database
  package let verifier: TokenVerifier
  package let clock: WallClock

  package init(database: Database, verifier: TokenVerifier, clock: WallClock) {
    self.database = database
    self.verifier = verifier
    self.clock = clock
  }

  /// A certificate signing request for the merchant's payment processing certificate; the same key each time.
  package func request(for merchantIdentifier: String) async throws -> String {
    let fresh = P256.Signing.PrivateKey().pemRepresentation
    let name = "processing:\(merchantIdentifier)"
    let pem = try await database.write { transaction in
      try transaction.run(
        "INSERT INTO keys (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(name), .blob(Array(fresh.utf8)))
      return try transaction.row("SELECT value FROM keys WHERE name = $1", .text(name))?.blob("value")
        ?? Array(fresh.utf8)
    }
    let key = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
    return try CertificateSigningRequest(
      version: .v1, subject: DistinguishedName { CommonName(merchantIdentifier) },
      privateKey: Certificate.PrivateKey(key), attributes: .init(), signatureAlgorithm: .ecdsaWithSHA256
    ).serializeAsPEM().pemString
  }

  /// Verifies and decrypts a payment token.
  ///
  /// - Parameter paymentData: Apple's `paymentData`.
  /// - Throws: `PaymentTokenError`.
  package func open(_ paymentData: JSONValue) async throws -> PaymentData {
    let rows = try await database.read { transaction in
      try transaction.rows("SELECT name, value FROM keys WHERE name LIKE 'processing:%' ORDER BY name").map {
        (try $0.text("name"), try $0.blob("value"))
      }
    }
    let keys = try rows.map { name, pem in
      try ProcessingKey(
        privateKeyPEM: String(decoding: pem, as: UTF8.self), merchantIdentifier: String(name.dropFirst(11)))
    }
    let opener = TokenOpener(verifier: verifier, keys: ProcessingKeyRing([Self.allMerchants: keys]))
    return try opener.open(try EncryptedPaymentToken(json: paymentData), for: Self.allMerchants, at: clock.now())
      .paymentData
  }

  private static let allMerchants = MerchantID("provider")
}
