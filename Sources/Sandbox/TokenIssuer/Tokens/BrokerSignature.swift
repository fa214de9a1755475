import SwiftASN1
package import TenderPayments
import X509

/// The three ways in which Apple's signer has written its signatures over the years.
package enum SignatureForm: String, Sendable, Hashable, CaseIterable {
  /// 2014: three signed attributes, without `cmsAlgorithmProtection`.
  case withoutAlgorithmProtection
  /// 2015 to about 2021: four attributes; SHA-256's identifier carries a NULL.
  case withNull
  /// Since: four attributes, no NULL.
  case withoutNull
}

/// The signature of Apple's broker, as payment tokens and merchant sessions carry it.
package struct BrokerSignature {
  let signer: CertifiedKey
  let intermediate: CertifiedKey
  package var form = SignatureForm.withNull

  package func sign(_ content: [UInt8], at moment: Timestamp) throws -> [UInt8] {
    var issuer = DER.Serializer()
    try issuer.serialize(signer.certificate.issuer)
    let names = SignerNames(
      certificates: [try signer.der, try intermediate.der], issuer: issuer.serializedBytes,
      serialNumber: BERWriter.integer(signer.certificate.serialNumber.bytes))
    return try SignatureBuilder(
      over: content, at: moment, by: SigningKey(signer.key), form: form, signer: names
    ).encoded()
  }
}

extension SandboxPKI {
  /// The signer of merchant sessions, and of payment tokens of format EC_v1.
  package var broker: BrokerSignature { BrokerSignature(signer: tokenSigner, intermediate: tokenIntermediate) }
}
