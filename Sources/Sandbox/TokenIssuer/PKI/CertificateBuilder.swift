import Crypto
import SwiftASN1
import TenderPayments
import X509

/// Builds the DER of a certificate, every part of which can be made wrong (RFC 5280 §4.1).
///
/// All parts are DER with tag and length.
struct CertificateBuilder {
  struct Extension {
    var identifier: [UInt8]
    var isCritical: Bool
    var value: [UInt8]
  }

  /// The `[0]` of the version; 2 means version 3.
  var version: [UInt8] = [0xA0, 0x03, 0x02, 0x01, 0x02]
  var serialNumber: [UInt8]
  var issuer: [UInt8]
  var subject: [UInt8]
  var notBefore: Timestamp
  var notAfter: Timestamp
  var publicKeyInfo: [UInt8]
  var extensions: [Extension]
  /// The key that signs it.
  var issuerKey: SigningKey
  /// The algorithm that is named inside the signed part; the issuer's own when nil.
  var algorithm: [UInt8]?
  /// The algorithm that is named outside the signed part; the inner one when nil.
  var outerAlgorithm: [UInt8]?

  func encoded() throws -> [UInt8] {
    let algorithm = algorithm ?? issuerKey.algorithm
    let dates = BERWriter.definite(0x30, notBefore.asn1, notAfter.asn1)
    let list = BERWriter.definite(0x30, extensions.flatMap(\.encoded))
    let body = BERWriter.definite(
      0x30, version, serialNumber, algorithm, issuer, dates, subject, publicKeyInfo, BERWriter.definite(0xA3, list))
    let signature = try issuerKey.sign(body)
    return BERWriter.definite(0x30, body, outerAlgorithm ?? algorithm, BERWriter.definite(0x03, [0], signature))
  }
}

extension CertificateBuilder.Extension {
  var encoded: [UInt8] {
    BERWriter.definite(
      0x30, identifier, isCritical ? [0x01, 0x01, 0xFF] : [], BERWriter.definite(0x04, value))
  }

  static let signerMarker = Self(identifier: DEROID.apple(6, 29), isCritical: false, value: DEROID.null)
  static let intermediateMarker = Self(identifier: DEROID.apple(6, 2, 14), isCritical: false, value: DEROID.null)

  static func basicConstraints(isAuthority: Bool, pathLength: UInt8? = nil) -> Self {
    let fields = isAuthority ? [0x01, 0x01, 0xFF] + (pathLength.map { [0x02, 0x01, $0] } ?? []) : []
    return Self(
      identifier: DEROID.certificateExtension(19), isCritical: true, value: BERWriter.definite(0x30, fields))
  }

  /// Bits from the left of the first byte: digitalSignature, …, keyAgreement, keyCertSign, cRLSign.
  static func keyUsage(_ bits: UInt8) -> Self {
    let value: [UInt8] = [0x03, 0x02, UInt8(bits.trailingZeroBitCount & 7), bits]
    return Self(identifier: DEROID.certificateExtension(15), isCritical: true, value: value)
  }

  /// As another certificate has it.
  init(_ other: Certificate.Extension) throws {
    var serializer = DER.Serializer()
    try serializer.serialize(other.oid)
    self.init(identifier: serializer.serializedBytes, isCritical: other.critical, value: Array(other.value))
  }

  static func authorityKeyIdentifier(_ publicKeyInfo: [UInt8]) -> Self {
    let value = BERWriter.definite(0x30, BERWriter.definite(0x80, keyIdentifier(of: publicKeyInfo)))
    return Self(identifier: DEROID.certificateExtension(35), isCritical: false, value: value)
  }

  /// SHA-1 of the key's bits, as RFC 5280 §4.2.1.2 has it.
  static func keyIdentifier(of publicKeyInfo: [UInt8]) -> [UInt8] {
    let bits = (try? SubjectPublicKeyInfoBits(derEncoded: publicKeyInfo))?.bytes ?? publicKeyInfo[...]
    return Array(Insecure.SHA1.hash(data: Array(bits)))
  }
}

/// The BIT STRING inside a SubjectPublicKeyInfo.
private struct SubjectPublicKeyInfoBits: DERParseable {
  let bytes: ArraySlice<UInt8>

  init(derEncoded node: ASN1Node) throws {
    bytes = try DER.sequence(node, identifier: .sequence) { nodes in
      _ = nodes.next()
      return try ASN1BitString(derEncoded: &nodes).bytes
    }
  }
}

/// A distinguished name as the sandbox's own: CN, OU, O, and a country that no country has.
enum DERName {
  static func make(_ parts: [String]) throws -> [UInt8] {
    var serializer = DER.Serializer()
    try serializer.serialize(SandboxName.make(parts))
    return serializer.serializedBytes
  }

  static func subject(of certificate: Certificate) throws -> [UInt8] {
    var serializer = DER.Serializer()
    try serializer.serialize(certificate.subject)
    return serializer.serializedBytes
  }
}

extension Timestamp {
  /// `YYMMDDHHMMSSZ`, ASN.1's UTCTime (RFC 5280 §4.1.2.5.1).
  var utcTime: String { String(generalizedTime.dropFirst(2)) }

  /// `YYYYMMDDHHMMSSZ`.
  var generalizedTime: String { description.filter { $0 != "-" && $0 != "T" && $0 != ":" } }

  /// UTCTime through 2049, GeneralizedTime from then on.
  var asn1: [UInt8] {
    calendar.year < 2050
      ? BERWriter.definite(0x17, Array(utcTime.utf8)) : BERWriter.definite(0x18, Array(generalizedTime.utf8))
  }
}
