import Crypto
import CryptoExtras
import Foundation
import MerchantIdentity
import SwiftASN1
import TenderTesting
import Testing
import TenderPayments
import X509

/// A small portal: issues certificates as Apple's does, at fixed dates, under a root of its own.
enum Portal {
  static let merchant = "merchant.com.example.store"
  /// 2026-01-01
  static let notBefore = Timestamp(seconds: 1_767_225_600)
  /// 2028-02-01
  static let notAfter = Timestamp(seconds: 1_832_976_000)
  /// 2026-11-21, 10 o'clock
  static let today = Timestamp(seconds: 1_795_255_200)

  static let identityKey = rsaKey()
  static let otherRSAKey = rsaKey()
  static let processingKey = P256.Signing.PrivateKey()

  /// One RSA key a run each: making one takes longer than any test.
  private static func rsaKey() -> _RSA.Signing.PrivateKey? { try? _RSA.Signing.PrivateKey(keySize: .bits2048) }

  struct Certificate {
    var merchant: String? = Portal.merchant
    var commonName = "Apple Pay Merchant Identity:merchant.com.example.store"
    var issuer = "Test Portal"
    var publicKey: X509.Certificate.PublicKey
    var serialNumber = X509.Certificate.SerialNumber()
  }

  static func identity(_ change: (inout Certificate) -> Void = { _ in }) throws -> String {
    let key = try #require(identityKey)
    var certificate = Certificate(publicKey: .init(key.publicKey))
    change(&certificate)
    return try issue(certificate)
  }

  static func processing(_ change: (inout Certificate) -> Void = { _ in }) throws -> String {
    var certificate = Certificate(publicKey: .init(processingKey.publicKey))
    certificate.commonName = "Apple Pay Payment Processing:merchant.com.example.store"
    change(&certificate)
    return try issue(certificate)
  }

  static var identityKeyPEM: String {
    get throws { try #require(identityKey).pkcs8PEMRepresentation }
  }

  private static func issue(_ request: Certificate) throws -> String {
    let root = P256.Signing.PrivateKey()
    let certificate = try X509.Certificate(
      version: .v3, serialNumber: request.serialNumber, publicKey: request.publicKey,
      notValidBefore: Date(timeIntervalSince1970: Double(notBefore.seconds)),
      notValidAfter: Date(timeIntervalSince1970: Double(notAfter.seconds)),
      issuer: DistinguishedName {
        CommonName("Test Portal CA")
        OrganizationName(request.issuer)
      },
      subject: DistinguishedName { CommonName(request.commonName) },
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: X509.Certificate.Extensions(merchantExtension(request.merchant)), issuerPrivateKey: .init(root))
    return try certificate.serializeAsPEM().pemString
  }

  private static func merchantExtension(_ merchant: String?) -> [X509.Certificate.Extension] {
    guard let merchant else { return [] }
    let hash = Hex.encode(SHA256.hash(data: Data(merchant.utf8))).uppercased()
    return [
      .init(oid: [1, 2, 840, 113_635, 100, 6, 32], critical: false, value: [0x0C, 0x40] + ArraySlice(hash.utf8))
    ]
  }
}
