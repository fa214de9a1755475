import Crypto
import CryptoExtras
import SwiftASN1
package import TenderPayments
import X509

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A certificate of Apple's portal without its key: what it is for, whose it is, and until when.
package struct AppleCertificate: Sendable, Hashable {
  private let certificate: Certificate
  /// PEM.
  package let pem: String
  package let kind: CertificateKind
  package let algorithm: CertificateAlgorithm
  /// SHA-256 of the SubjectPublicKeyInfo.
  package let publicKeyHash: [UInt8]
  private let merchantHash: [UInt8]

  /// The first certificate that names a merchant; a file may hold its chain too.
  ///
  /// - Parameter certificates: DER.
  /// - Throws: ``MerchantIdentityError`` for what is not one of Apple Pay's two kinds.
  package init(in certificates: [[UInt8]]) throws(MerchantIdentityError) {
    let read = certificates.compactMap { try? Certificate(derEncoded: $0) }
    guard let own = read.first(where: { $0.merchantHash != nil }) ?? read.first else { throw Self.unreadable }
    guard let merchantHash = own.merchantHash else { throw CertificateAndKey.namesNoMerchant }
    guard let kind = own.purpose, let algorithm = own.algorithm, kind == .processing || algorithm == .rsa2048 else {
      throw MerchantIdentityError(
        .wrongKeyType,
        "An identity certificate has an RSA key of 2048 bits; a processing certificate has P-256, or RSA of 2048 bits.",
        advice: "Make a new request with such a key, and a new certificate from it.")
    }
    guard let hash = own.publicKeyHash, let pem = try? own.serializeAsPEM().pemString else { throw Self.unreadable }
    self.certificate = own
    self.pem = pem + "\n"
    (self.kind, self.algorithm, publicKeyHash, self.merchantHash) = (kind, algorithm, hash, merchantHash)
  }

  private static let unreadable = MerchantIdentityError(
    .certificateUnreadable, "The file holds no certificate in DER, PEM, PKCS #7 or PKCS #12.",
    advice: "Give the file as the portal gave it: apple_pay.cer or merchant_id.cer.")

  /// The identifier that the subject has as its `UID` (RFC 4519, section 2.39).
  ///
  /// - Throws: ``MerchantIdentityError`` where there is none, or where it is not the one that the extension has the hash of.
  package var merchant: MerchantIdentifier {
    get throws(MerchantIdentityError) {
      guard let name = certificate.subject.first(.userID) else {
        throw MerchantIdentityError(
          .notApplePayCertificate, "The certificate's subject has no merchant identifier (UID).",
          advice: "Write the identifier as merchantIdentifier into merchant.yaml.")
      }
      let merchant = try MerchantIdentifier(name)
      guard merchantHash == merchant.hash else { throw CertificateAndKey.wrongMerchant(merchantHash, merchant) }
      return merchant
    }
  }

  package var notAfter: Timestamp { certificate.lastMoment }
  package var notBefore: Timestamp { certificate.firstMoment }
  /// Whether Apple issued it.
  package var isFromApple: Bool { certificate.isFromApple }

  /// Whether it may be used for the merchant, in the environment, at the moment.
  ///
  /// - Parameter kind: what the operator says it is for; nil for either.
  /// - Throws: ``MerchantIdentityError`` with the reason.
  package func require(
    _ kind: CertificateKind?, of merchant: MerchantIdentifier, in environment: Environment, at now: Timestamp
  ) throws(MerchantIdentityError) {
    if let kind { try require(kind) }
    guard merchantHash == merchant.hash else { throw CertificateAndKey.wrongMerchant(merchantHash, merchant) }
    guard isFromApple == (environment != .simulated) else {
      throw MerchantIdentityError(
        .environmentMismatch,
        "The certificate was \(isFromApple ? "" : "not ")issued by Apple; the environment is \(environment.rawValue).",
        advice: "Use Apple's certificates with Apple, and those of tender-sandbox in the simulated environment.")
    }
    try requireValidity(at: now)
  }

  private func require(_ kind: CertificateKind) throws(MerchantIdentityError) {
    guard self.kind != kind else { return }
    throw MerchantIdentityError(
      kind == .identity ? .processingCertificateGiven : .identityCertificateGiven,
      "This is the \(self.kind.rawValue) certificate; the \(kind.rawValue) certificate was asked for.",
      advice: "merchant_id.cer is for identity, apple_pay.cer for processing.")
  }

  private func requireValidity(at now: Timestamp) throws(MerchantIdentityError) {
    guard now >= notBefore else {
      throw MerchantIdentityError(
        .notYetValid, "The certificate is valid from \(notBefore); it is \(now).", advice: "Set the machine's clock.")
    }
    guard now <= notAfter else {
      throw MerchantIdentityError(
        .expired, "The certificate expired at \(notAfter).", advice: "Make a new request, and a certificate from it.")
    }
  }
}

extension Certificate {
  /// What Apple writes into the common name; where it says nothing, an elliptic key can only be for processing.
  var purpose: CertificateKind? {
    let name = subject.first(.commonName)
    if name?.hasPrefix("Apple Pay Merchant Identity:") == true { return .identity }
    if name?.hasPrefix("Apple Pay Payment Processing:") == true { return .processing }
    return algorithm == .p256 ? .processing : nil
  }

  /// Nil for any other.
  var algorithm: CertificateAlgorithm? {
    if P256.Signing.PublicKey(publicKey) != nil { return .p256 }
    return _RSA.Signing.PublicKey(publicKey)?.keySizeInBits == 2048 ? .rsa2048 : nil
  }

  /// SHA-256 of the SubjectPublicKeyInfo: what a payment token's header calls `publicKeyHash`.
  var publicKeyHash: [UInt8]? { publicKey.hash }

  /// Apple's certificates are issued in the name of Apple Inc.; a sandbox may not use that name.
  var isFromApple: Bool { issuer.first(.organizationName) == "Apple Inc." }
  var firstMoment: Timestamp { Timestamp(notValidBefore) }
  var lastMoment: Timestamp { Timestamp(notValidAfter) }
}

extension Certificate.PublicKey {
  var hash: [UInt8]? {
    var serializer = DER.Serializer()
    guard (try? serializer.serialize(self)) != nil else { return nil }
    return Array(SHA256.hash(data: serializer.serializedBytes))
  }
}

/// What two of Apple's certificates are for.
package enum CertificateKind: String, Sendable, Hashable, CaseIterable, Codable {
  /// Mutual TLS with Apple's gateway.
  case identity
  /// Devices encrypt payment tokens to it.
  case processing
}

/// The key of a certificate. Apple counts and activates those of each kind and algorithm by themselves.
package enum CertificateAlgorithm: String, Sendable, Hashable, CaseIterable, Codable {
  case p256 = "P-256"
  /// Identity certificates, and processing certificates of mainland China.
  case rsa2048 = "RSA-2048"
}
