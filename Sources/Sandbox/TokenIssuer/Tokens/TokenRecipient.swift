import Crypto
import CryptoExtras
import SwiftASN1
import X509

/// The recipient of a payment token: the public key of a payment processing certificate, and the merchant that
/// the certificate names. An elliptic key makes it EC_v1, an RSA key RSA_v1.
package struct TokenRecipient: Sendable {
  enum Key: Sendable {
    case p256(P256.KeyAgreement.PublicKey)
    case rsa(RSAPublicKey)
  }

  /// As bytes: swift-crypto's type does not say that it may be shared.
  struct RSAPublicKey: Sendable {
    /// SubjectPublicKeyInfo, DER.
    let derRepresentation: [UInt8]

    init(_ key: _RSA.Encryption.PublicKey) { derRepresentation = Array(key.derRepresentation) }

    var key: _RSA.Encryption.PublicKey {
      get throws { try _RSA.Encryption.PublicKey(derRepresentation: derRepresentation) }
    }
  }

  var key: Key
  var merchantHash: MerchantHash

  /// Out of a payment processing certificate.
  package init(certificatePEM: String) throws {
    guard let certificate = try? Certificate(pemEncoded: certificatePEM) else {
      throw TokenIssuerError(code: "invalid_certificate", message: "This is not a PEM-encoded certificate.")
    }
    guard let hash = MerchantHash(certificate: certificate), let key = Key(certificate.publicKey) else {
      throw TokenIssuerError(
        code: "not_a_processing_certificate",
        message:
          "The certificate has no P-256 or RSA key, or names no merchant: it is no payment processing certificate."
      )
    }
    (self.key, merchantHash) = (key, hash)
  }

  /// Out of a public key, for a merchant without a certificate.
  package init(publicKeyPEM: String, merchantIdentifier: String) throws {
    guard let key = Key(publicKeyPEM: publicKeyPEM) else {
      throw TokenIssuerError(code: "invalid_key", message: "This is neither a P-256 nor an RSA public key in PEM.")
    }
    self.key = key
    merchantHash = MerchantHash(merchantIdentifier: merchantIdentifier)
  }

  package var isRSA: Bool { if case .rsa = key { true } else { false } }

  /// SHA-256 of the key's SubjectPublicKeyInfo.
  var publicKeyHash: [UInt8] {
    switch key {
    case .p256(let key): Array(SHA256.hash(data: key.derRepresentation))
    case .rsa(let key): Array(SHA256.hash(data: key.derRepresentation))
    }
  }
}

extension TokenRecipient.Key {
  init?(_ key: Certificate.PublicKey) {
    guard let pem = try? key.serializeAsPEM().pemString else { return nil }
    self.init(publicKeyPEM: pem)
  }

  init?(publicKeyPEM pem: String) {
    if let key = try? P256.KeyAgreement.PublicKey(pemRepresentation: pem) {
      self = .p256(key)
    } else if let key = try? _RSA.Encryption.PublicKey(pemRepresentation: pem) {
      self = .rsa(TokenRecipient.RSAPublicKey(key))
    } else {
      return nil
    }
  }
}
