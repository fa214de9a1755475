package import Crypto
package import CryptoExtras
import SwiftASN1
package import X509

/// A merchant in a test: the keys that a portal never sees, and requests to certify them.
package struct Merchant {
  package static let identifier = "merchant.com.example.store"

  package let processingKey = P256.KeyAgreement.PrivateKey()
  package let identityKey: _RSA.Signing.PrivateKey

  package init() throws { identityKey = try Self.identityKey.get() }

  /// One for all tests, because finding its primes takes longer than any of them.
  private static let identityKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  package var processingCSR: String {
    get throws {
      try Self.csr(Certificate.PrivateKey(P256.Signing.PrivateKey(rawRepresentation: processingKey.rawRepresentation)))
    }
  }

  package var identityCSR: String { get throws { try Self.csr(Certificate.PrivateKey(identityKey)) } }

  package static func csr(_ key: Certificate.PrivateKey) throws -> String {
    let name = try DistinguishedName { CommonName("replaced by the portal") }
    let algorithm: Certificate.SignatureAlgorithm =
      _RSA.Signing.PublicKey(key.publicKey) == nil ? .ecdsaWithSHA256 : .sha256WithRSAEncryption
    return try CertificateSigningRequest(
      version: .v1, subject: name, privateKey: key, attributes: .init(), signatureAlgorithm: algorithm
    ).serializeAsPEM().pemString
  }
}
