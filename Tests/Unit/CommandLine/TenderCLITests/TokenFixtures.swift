import Crypto
import Foundation
import SwiftASN1
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer
import X509

/// A root, a merchant and payment tokens, as files of a workshop.
///
///     root.pem  other-root.pem  processing.pem  processing.key  other.key  token.json  flipped.json
///
/// The token was signed an hour ago, at `$AT`.
struct TokenFixtures {
  static let merchant = "merchant.com.example.store"
  /// The account number of the card in `token.json`.
  static let accountNumber = "4761739000000012"

  let workshop: Workshop

  init() throws {
    let signingTime = Timestamp(seconds: WallClock.system.now().microseconds / 1_000_000 - 3_600)
    workshop = try Workshop(variables: [
      "AT": signingTime.description, "MERCHANT": Self.merchant,
      "VECTORS": Repository.url("Tests/Support/Vectors/apple-pay-token/vectors.json").path,
    ])
    let pki = try SandboxPKI(clock: WallClock { Timestamp(microseconds: signingTime.microseconds - 60_000_000) })
    let key = P256.Signing.PrivateKey()
    let certificate = try pki.certificate(.processing, for: Self.merchant, csr: Self.request(key))
    try workshop.write(pki.rootPEM, to: "root.pem")
    try workshop.write(SandboxPKI().rootPEM, to: "other-root.pem")
    try workshop.write(certificate, to: "processing.pem")
    try workshop.write(key.pemRepresentation, to: "processing.key")
    try workshop.write(P256.Signing.PrivateKey().pemRepresentation, to: "other.key")
    var token = try PaymentTokenIssuer(pki: pki).issue(Self.order(certificate, signingTime))
    try workshop.write(token.text, to: "token.json")
    token.data[100] ^= 1
    try workshop.write(token.text, to: "flipped.json")
  }

  private static func order(_ certificate: String, _ signingTime: Timestamp) throws -> PaymentTokenRequest {
    let card = try #require(SandboxCards.card(id: "visa-debit"))
    let euro = try #require(Currency(code: "EUR"))
    var order = PaymentTokenRequest(
      card: card, amount: Amount(minorUnits: 1250, currency: euro),
      recipient: try TokenRecipient(certificatePEM: certificate), applicationData: Array("basket 7".utf8))
    order.signingTime = signingTime
    return order
  }

  /// What a merchant sends to the portal for a certificate.
  static func request(_ key: P256.Signing.PrivateKey) throws -> String {
    try CertificateSigningRequest(
      version: .v1, subject: DistinguishedName { CommonName("a merchant") }, privateKey: .init(key),
      attributes: .init(), signatureAlgorithm: .ecdsaWithSHA256
    ).serializeAsPEM().pemString
  }
}
