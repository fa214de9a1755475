import ApplePayToken
import Crypto
import Storage
import StrictJSON
import SwiftASN1
import TenderPayments
import X509

/// The provider's keys: one for each merchant that has its payment tokens opened here. The merchant takes the request to
/// the developer portal; the private key never leaves.
struct ProviderKeys: Sendable {
  let book: AcquirerBook
  let verifier: TokenVerifier
  let clock: WallClock

  /// A certificate signing request for the merchant's payment processing certificate; the same key each time.
  func request(for merchantIdentifier: String) async throws -> String {
    let fresh = P256.Signing.PrivateKey().pemRepresentation
    let name = "processing:\(merchantIdentifier)"
    let pem = try await book.database.write { store in
      try store.run(
        "INSERT INTO keys (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(name), .blob(Array(fresh.utf8)))
      return try store.row("SELECT value FROM keys WHERE name = $1", .text(name))?.blob("value") ?? Array(fresh.utf8)
    }
    let key = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
    return try CertificateSigningRequest(
      version: .v1, subject: DistinguishedName { CommonName(merchantIdentifier) },
      privateKey: Certificate.PrivateKey(key), attributes: .init(), signatureAlgorithm: .ecdsaWithSHA256
    ).serializeAsPEM().pemString
  }

  /// Opens the payment token of an authorization, with whichever key it was sealed to.
  func hold(_ body: JSONField) async throws -> (HoldRequest, refusal: String?) {
    let rows = try await book.database.read { store in
      try store.rows("SELECT name, value FROM keys WHERE name LIKE 'processing:%' ORDER BY name").map {
        (try $0.text("name"), try $0.blob("value"))
      }
    }
    let keys = try rows.map { name, pem in
      try ProcessingKey(
        privateKeyPEM: String(decoding: pem, as: UTF8.self), merchantIdentifier: String(name.dropFirst(11)))
    }
    let opener = TokenOpener(verifier: verifier, keys: ProcessingKeyRing([Self.everyone: keys]))
    do {
      let token = try EncryptedPaymentToken(json: try body.member("paymentData").value)
      let opened = try opener.open(token, for: Self.everyone, at: clock.now())
      let wanted = try HoldRequest(body, card: try opened.paymentData.networkToken)
      return (wanted, opened.paymentData.amount == wanted.amount ? nil : "13")
    } catch let error as PaymentTokenError {
      throw SandboxProblem(status: 422, code: "payment_token_refused", message: "\(error.stage): \(error.reason)")
    }
  }

  private static let everyone = MerchantID("provider")
}
