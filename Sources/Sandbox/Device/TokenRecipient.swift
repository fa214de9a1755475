import Crypto
import SwiftASN1
import X509

/// Whom a payment token is encrypted to: the public key of a payment processing certificate, and the merchant that
/// the certificate names.
public struct TokenRecipient: Sendable {
  var publicKey: P256.KeyAgreement.PublicKey
  var merchantHash: MerchantHash

  /// Out of a payment processing certificate.
  public init(certificatePEM: String) throws {
    guard let certificate = try? Certificate(pemEncoded: certificatePEM) else {
      throw SandboxProblem(status: 400, code: "invalid_certificate", message: "This is not a PEM-encoded certificate.")
    }
    guard let hash = MerchantHash(certificate: certificate), let key = P256.Signing.PublicKey(certificate.publicKey)
    else {
      throw SandboxProblem(
        status: 400, code: "not_a_processing_certificate",
        message: "The certificate has no P-256 key or names no merchant: it is no payment processing certificate.")
    }
    publicKey = try P256.KeyAgreement.PublicKey(x963Representation: key.x963Representation)
    merchantHash = hash
  }

  /// SHA-256 of the key's SubjectPublicKeyInfo.
  var publicKeyHash: [UInt8] { Array(SHA256.hash(data: publicKey.derRepresentation)) }
}
