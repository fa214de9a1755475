import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import TenderPayments
import X509

/// A test certificate authority in place of Apple's: root, intermediate and signer, made with swift-certificates
/// instead of the code under test. Each property can inject a fault.
struct TestAuthority {
  var rootName = "NOT APPLE Root CA"
  var signerName = "NOT APPLE broker-sign_UC4-PROD"
  var signerMarkers = ["1.2.840.113635.100.6.29"]
  var intermediateMarkers = ["1.2.840.113635.100.6.2.14"]
  var signerExtensions: [Certificate.Extension] = []
  var signerUsage = KeyUsage(digitalSignature: true)
  var signerConstraints = BasicConstraints.notCertificateAuthority
  var intermediateUsage = KeyUsage(keyCertSign: true, cRLSign: true)
  var intermediateConstraints = BasicConstraints.isCertificateAuthority(maxPathLength: nil)
  var rootConstraints = BasicConstraints.isCertificateAuthority(maxPathLength: nil)
  var signerDates = (from: Timestamp(seconds: 1_700_000_000), to: Timestamp(seconds: 1_800_000_000))
  var intermediateDates = (from: Timestamp(seconds: 1_600_000_000), to: Timestamp(seconds: 1_900_000_000))
  var rootKey = Certificate.PrivateKey(P384.Signing.PrivateKey())
  var intermediateKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
  var signerKey = SigningKey.p256(P256.Signing.PrivateKey())
  /// The key that signs the signer's certificate; the intermediate's by default.
  var forger: Certificate.PrivateKey?

  enum SigningKey {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey)

    var certificateKey: Certificate.PrivateKey {
      switch self {
      case .p256(let key): Certificate.PrivateKey(key)
      case .p384(let key): Certificate.PrivateKey(key)
      case .rsa(let key): Certificate.PrivateKey(key)
      }
    }

    func sign(_ bytes: [UInt8]) throws -> [UInt8] {
      switch self {
      case .p256(let key): Array(try key.signature(for: bytes).derRepresentation)
      case .p384(let key): Array(try key.signature(for: SHA256.hash(data: bytes)).derRepresentation)
      case .rsa(let key):
        Array(try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
      }
    }
  }

  /// What a builder needs of an authority.
  struct Issued {
    let rootPEM: String
    let signer: [UInt8]
    let intermediate: [UInt8]
    let key: SigningKey
    let signerIssuer: [UInt8]
    let signerSerial: [UInt8]
  }

  func issue() throws -> Issued {
    let (root, middle, leaf) = try (name(rootName), name("NOT APPLE Integration CA"), name(signerName))
    let life = (from: Timestamp(seconds: 1_500_000_000), to: Timestamp(seconds: 2_000_000_000))
    let authority = KeyUsage(keyCertSign: true, cRLSign: true)
    let rootCertificate = try certificate(
      root, by: root, key: rootKey, issuerKey: rootKey, life, usage: authority, rootConstraints, markers: [])
    let intermediate = try certificate(
      middle, by: root, key: intermediateKey, issuerKey: rootKey, intermediateDates, usage: intermediateUsage,
      intermediateConstraints, markers: intermediateMarkers)
    let signer = try certificate(
      leaf, by: middle, key: signerKey.certificateKey, issuerKey: forger ?? intermediateKey, signerDates,
      usage: signerUsage, signerConstraints, markers: signerMarkers, more: signerExtensions)
    return Issued(
      rootPEM: try rootCertificate.serializeAsPEM().pemString, signer: try encode(signer),
      intermediate: try encode(intermediate), key: signerKey, signerIssuer: try encode(middle),
      signerSerial: Self.positive(Array(signer.serialNumber.bytes)))
  }

  /// An INTEGER's contents, with a leading zero where the number would otherwise be negative.
  private static func positive(_ bytes: [UInt8]) -> [UInt8] {
    bytes.first.map { $0 >= 0x80 } == true ? [0] + bytes : bytes
  }

  private func encode(_ value: some DERSerializable) throws -> [UInt8] {
    var serializer = DER.Serializer()
    try serializer.serialize(value)
    return serializer.serializedBytes
  }

  private func name(_ common: String) throws -> DistinguishedName {
    try DistinguishedName {
      CommonName(common)
      OrganizationName("Tender tests")
    }
  }

  private func certificate(
    _ subject: DistinguishedName, by issuer: DistinguishedName, key: Certificate.PrivateKey,
    issuerKey: Certificate.PrivateKey, _ dates: (from: Timestamp, to: Timestamp), usage: KeyUsage,
    _ constraints: BasicConstraints, markers: [String], more: [Certificate.Extension] = []
  ) throws -> Certificate {
    let marked = try markers.map { oid in
      Certificate.Extension(oid: try ASN1ObjectIdentifier(dotRepresentation: oid), critical: false, value: [5, 0])
    }
    let fixed = [
      try Certificate.Extension(constraints, critical: true), try Certificate.Extension(usage, critical: true),
    ]
    return try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
      notValidBefore: Date(timeIntervalSince1970: TimeInterval(dates.from.seconds)),
      notValidAfter: Date(timeIntervalSince1970: TimeInterval(dates.to.seconds)), issuer: issuer, subject: subject,
      signatureAlgorithm: .ecdsaWithSHA256, extensions: try Certificate.Extensions(fixed + marked + more),
      issuerPrivateKey: issuerKey)
  }
}

/// The authority that most tests share, because creating keys takes time.
enum Shared {
  static let authority = TestAuthority()
  static let issued = Result { try authority.issue() }
  static let rsaIssued = Result {
    var authority = TestAuthority()
    authority.signerKey = .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048))
    return try authority.issue()
  }
  static let rsaMerchantPEM = Result { try _RSA.Encryption.PrivateKey(keySize: .bits2048).pemRepresentation }
  static let merchantKey = P256.KeyAgreement.PrivateKey()
}
