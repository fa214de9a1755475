import ApplePayToken
import Crypto
import Orders
import SwiftASN1
import TenderPayments
import Testing
import TokenIssuer
import X509

/// The shopper's wallet, which makes payment tokens for the merchant's key, and the opener that has the key.
struct Wallet: Sendable {
  let opener: TokenOpener
  private let issuer: PaymentTokenIssuer
  private let recipient: TokenRecipient

  init(_ merchant: MerchantID, clock: WallClock) throws {
    let pki = try SandboxPKI(clock: clock)
    let key = P256.Signing.PrivateKey()
    let certificate = try pki.certificate(
      .processing, for: "merchant.example.harbour", csr: Self.request(for: key), clock: clock)
    let keys = ProcessingKeyRing([
      merchant: [try ProcessingKey(privateKeyPEM: key.pemRepresentation, certificatePEM: certificate)]
    ])
    opener = TokenOpener(verifier: TokenVerifier(trust: try .simulated(rootPEM: pki.rootPEM)), keys: keys)
    issuer = PaymentTokenIssuer(pki: pki, clock: clock)
    recipient = try TokenRecipient(certificatePEM: certificate)
  }

  /// The shopper authorizes the amount in the sheet.
  func token(_ amount: Amount, applicationData: String, card: String = "visa-debit") throws -> EncryptedPaymentToken {
    var order = PaymentTokenRequest(
      card: try #require(SandboxCards.card(id: card)), amount: amount, recipient: recipient,
      applicationData: Array(applicationData.utf8))
    order.agreementMerchant = "merchant.example.harbour"
    return try EncryptedPaymentToken(json: issuer.issue(order).json)
  }

  private static func request(for key: P256.Signing.PrivateKey) throws -> String {
    try CertificateSigningRequest(
      version: .v1, subject: DistinguishedName { CommonName("replaced by the portal") },
      privateKey: Certificate.PrivateKey(key), attributes: .init(), signatureAlgorithm: .ecdsaWithSHA256
    ).serializeAsPEM().pemString
  }
}
