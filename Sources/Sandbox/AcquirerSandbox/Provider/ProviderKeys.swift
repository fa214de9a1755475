import ApplePayToken
import Crypto
import Storage
import StrictJSON
import SwiftASN1
import TenderPayments
import X509

/// The provider's keys, one for each merchant whose payment tokens it decrypts. The merchant takes the signing request
/// to the developer portal; the private key never leaves.
struct ProviderKeys: Sendable {
  /// Has a table `keys`.
  let database: Database
  let verifier: TokenVerifier
  let clock: WallClock

  /// A certificate signing request for the merchant's payment processing certificate; the same key each time.
  func request(for merchantIdentifier: String) async throws -> String {
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

  /// Decrypts the payment token of an authorization, with the key that it was encrypted to.
  func hold(_ body: JSONField) async throws -> (HoldRequest, refusal: String?) {
    do {
      let opened = try await open(try body.member("paymentData").value)
      let wanted = try HoldRequest(body, card: try opened.networkToken)
      return (wanted, opened.amount == wanted.amount ? nil : "13")
    } catch let error as PaymentTokenError {
      throw AcquirerProblem(status: 422, code: "payment_token_refused", message: "\(error.stage): \(error.reason)")
    }
  }

  /// Verifies and decrypts a payment token.
  ///
  /// - Parameter paymentData: Apple's `paymentData`.
  /// - Throws: `PaymentTokenError`.
  func open(_ paymentData: JSONValue) async throws -> PaymentData {
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
