import Crypto
import CryptoExtras
import SwiftASN1
import X509

/// A fresh private key and the request (PKCS #10) that the developer portal turns into a certificate.
///
/// The portal replaces the subject, so it is fixed. Printing shows neither part.
package struct CertificateRequest: Sendable {
  /// `CERTIFICATE REQUEST`, to upload.
  package let requestPEM: String
  /// `PRIVATE KEY` (PKCS #8), to keep.
  package let privateKeyPEM: String

  /// For a merchant identity certificate: RSA of 2048 bits.
  package static func identity() throws(MerchantIdentityError) -> CertificateRequest { try rsa2048() }

  /// For a payment processing certificate: P-256.
  package static func processing() throws(MerchantIdentityError) -> CertificateRequest {
    let key = P256.Signing.PrivateKey()
    return try make(Certificate.PrivateKey(key), .ecdsaWithSHA256, privateKeyPEM: key.pemRepresentation)
  }

  /// For a payment processing certificate of mainland China: RSA of 2048 bits.
  package static func processingInMainlandChina() throws(MerchantIdentityError) -> CertificateRequest { try rsa2048() }

  private static func rsa2048() throws(MerchantIdentityError) -> CertificateRequest {
    guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { throw failed }
    return try make(Certificate.PrivateKey(key), .sha256WithRSAEncryption, privateKeyPEM: key.pkcs8PEMRepresentation)
  }

  private static func make(
    _ key: Certificate.PrivateKey, _ algorithm: Certificate.SignatureAlgorithm, privateKeyPEM: String
  ) throws(MerchantIdentityError) -> CertificateRequest {
    do {
      let request = try CertificateSigningRequest(
        version: .v1, subject: DistinguishedName { CommonName("Apple Pay") }, privateKey: key,
        attributes: CertificateSigningRequest.Attributes(), signatureAlgorithm: algorithm)
      return CertificateRequest(
        requestPEM: try request.serializeAsPEM().pemString + "\n", privateKeyPEM: privateKeyPEM + "\n")
    } catch {
      throw failed
    }
  }

  fileprivate static let failed = MerchantIdentityError(
    .keyGenerationFailed, "The machine could not make a key.", advice: "Try again; then look at the machine.")
}

/// A request with what it is for, as the store keeps it.
package struct KeyAndRequest: Sendable {
  package let kind: CertificateKind
  package let algorithm: CertificateAlgorithm
  package let requestPEM: String
  package let privateKeyPEM: String
  /// SHA-256 of the SubjectPublicKeyInfo.
  package let publicKeyHash: [UInt8]

  /// Makes a key and its request.
  ///
  /// - Parameter isMainlandChina: whether a processing certificate is for mainland China, where its key is RSA.
  package init(_ kind: CertificateKind, isMainlandChina: Bool = false) throws(MerchantIdentityError) {
    let request: CertificateRequest
    switch kind {
    case .identity: request = try .identity()
    case .processing: request = isMainlandChina ? try .processingInMainlandChina() : try .processing()
    }
    guard let parsed = try? CertificateSigningRequest(pemEncoded: request.requestPEM), let hash = parsed.publicKey.hash
    else { throw CertificateRequest.failed }
    self.kind = kind
    algorithm = kind == .identity || isMainlandChina ? .rsa2048 : .p256
    (requestPEM, privateKeyPEM, publicKeyHash) = (request.requestPEM, request.privateKeyPEM, hash)
  }
}

extension KeyAndRequest: CustomStringConvertible, CustomReflectable {
  package var description: String { "\(kind.rawValue) request and private key" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension CertificateRequest: CustomStringConvertible, CustomReflectable {
  package var description: String { "certificate request and private key" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
