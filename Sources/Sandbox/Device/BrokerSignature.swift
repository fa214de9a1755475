import Crypto
import SwiftASN1
import TenderPayments
import X509

/// The three ways in which Apple's signer has written its signatures over the years.
public enum SignatureForm: String, Sendable, Hashable, CaseIterable {
  /// 2014: three signed attributes, without `cmsAlgorithmProtection`.
  case withoutAlgorithmProtection
  /// 2015 to about 2021: four attributes; SHA-256's identifier carries a NULL.
  case withNull
  /// Since: four attributes, no NULL.
  case withoutNull
}

/// A detached CMS signature, byte for byte as Apple's broker emits it: BER with indefinite lengths, the leaf before
/// the intermediate, no root, no revocation lists, nothing unsigned (RFC 5652 §5).
struct BrokerSignature {
  let signer: CertifiedKey
  let intermediate: CertifiedKey
  var form = SignatureForm.withNull

  func sign(_ content: [UInt8], at moment: Timestamp) throws -> [UInt8] {
    let attributes = signedAttributes(digest: Array(SHA256.hash(data: content)), at: moment)
    let signature = try ecdsa(BERWriter.definite(0x31, attributes))
    let signedData = BERWriter.indefinite(
      0x30, BERWriter.integer([1]), BERWriter.definite(0x31, sha256),
      BERWriter.indefinite(0x30, Self.idData),
      BERWriter.indefinite(0xA0, try signer.der, try intermediate.der),
      BERWriter.definite(0x31, try signerInfo(attributes, signature)))
    return BERWriter.indefinite(0x30, Self.idSignedData, BERWriter.indefinite(0xA0, signedData))
  }

  /// What is signed is the attributes as a SET (tag 31); what is sent is the same bytes under tag A0.
  private func signerInfo(_ attributes: [UInt8], _ signature: [UInt8]) throws -> [UInt8] {
    var issuer = DER.Serializer()
    try issuer.serialize(signer.certificate.issuer)
    let serial = BERWriter.integer(signer.certificate.serialNumber.bytes)
    return BERWriter.definite(
      0x30, BERWriter.integer([1]), BERWriter.definite(0x30, issuer.serializedBytes, serial), sha256,
      BERWriter.definite(0xA0, attributes), BERWriter.definite(0x30, Self.ecdsaWithSHA256),
      BERWriter.definite(0x04, signature))
  }

  private func signedAttributes(digest: [UInt8], at moment: Timestamp) -> [UInt8] {
    let time = BERWriter.definite(0x17, Array(moment.utcTime.utf8))
    let protection = BERWriter.definite(0x30, sha256, BERWriter.definite(0xA1, Self.ecdsaWithSHA256))
    return attribute(3, Self.idData) + attribute(5, time)
      + (form == .withoutAlgorithmProtection ? [] : attribute(52, protection))
      + attribute(4, BERWriter.definite(0x04, digest))
  }

  /// An attribute of the arc pkcs-9, 1.2.840.113549.1.9.
  private func attribute(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
    let type = BERWriter.definite(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, number])
    return BERWriter.definite(0x30, type, BERWriter.definite(0x31, value))
  }

  private func ecdsa(_ bytes: [UInt8]) throws -> [UInt8] {
    let key = try P256.Signing.PrivateKey(pemRepresentation: signer.key.serializeAsPEM().pemString)
    return Array(try key.signature(for: bytes).derRepresentation)
  }

  private var sha256: [UInt8] {
    BERWriter.definite(0x30, Self.sha256OID, form == .withoutNull ? [] : [0x05, 0x00])
  }

  private static let sha256OID: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
  private static let ecdsaWithSHA256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
  private static let idData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
  private static let idSignedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
}

extension SandboxPKI {
  /// The signer of payment tokens and merchant sessions.
  var broker: BrokerSignature { BrokerSignature(signer: tokenSigner, intermediate: tokenIntermediate) }
}

extension Timestamp {
  /// `YYMMDDHHMMSSZ`, ASN.1's UTCTime (RFC 5280 §4.1.2.5.1).
  fileprivate var utcTime: String {
    description.dropFirst(2).filter { $0 != "-" && $0 != "T" && $0 != ":" }
  }
}
