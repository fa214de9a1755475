import Crypto
import SwiftASN1
package import TenderPayments
import X509

extension SandboxPKI {
  func certifiedKey(of authority: IssuingAuthority) -> CertifiedKey {
    switch authority {
    case .tokenRoot: tokenRoot
    case .tokenIntermediate: tokenIntermediate
    case .developerRelations: developerRelations
    }
  }

  /// An empty revocation list in DER, valid for a day (RFC 5280 §5.1). The sandbox's OCSP responder is what knows a
  /// merchant's certificate that the portal revoked.
  package func revocationList(of authority: IssuingAuthority, at now: Timestamp) throws -> [UInt8] {
    let issuer = certifiedKey(of: authority)
    let key = try SigningKey(issuer.key)
    let number = CertificateBuilder.Extension(
      identifier: DEROID.certificateExtension(20), isCritical: false,
      value: BERWriter.integer(withUnsafeBytes(of: now.seconds.bigEndian, Array.init)))
    let extensions = BERWriter.definite(
      0x30, CertificateBuilder.Extension.authorityKeyIdentifier(key.publicKeyInfo).encoded, number.encoded)
    let body = BERWriter.definite(
      0x30, [0x02, 0x01, 0x01], key.algorithm, try DERName.subject(of: issuer.certificate), now.asn1,
      now.adding(.seconds(86_400)).asn1, BERWriter.definite(0xA0, extensions))
    return BERWriter.definite(0x30, body, key.algorithm, BERWriter.definite(0x03, [0], try key.sign(body)))
  }
}
