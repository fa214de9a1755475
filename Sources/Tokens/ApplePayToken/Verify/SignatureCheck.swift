import Crypto
import TenderPayments

/// Apple's step 1.d, and RFC 5652 §5.4 and §5.6: checks the single signature, made by the chain's signer, over
/// attributes that name the content.
struct SignatureCheck {
  private let chain: SignerChain
  private let info: SignerInfo
  private let attributes: SignedAttributes
  let wireForm: WireForm

  init(_ signed: SignedData, by chain: SignerChain, _ version: EncryptedPaymentToken.Version) throws(PaymentTokenError)
  {
    let info = try Self.onlySigner(signed, chain)
    try Self.checkAlgorithms(signed, info, chain, version)
    let attributes = try Self.readAttributes(info)
    wireForm = WireForm(signed, info, attributes)
    (self.chain, self.info, self.attributes) = (chain, info, attributes)
  }

  /// The signing time, after the signature and its attributes are checked.
  func signingTime(over content: SHA256.Digest) throws(PaymentTokenError) -> Timestamp {
    try checkContentType()
    try checkAlgorithmProtection()
    guard attributes.names(content) else { throw SignedAttributes.wrongDigest }
    try checkSignature()
    guard let time = attributes.value(ObjectIdentifier.signingTime) else {
      throw PaymentTokenError(.malformedSigningTime, "the signing time is missing")
    }
    guard let timestamp = time.time else {
      throw PaymentTokenError(.malformedSigningTime, "the signing time is malformed")
    }
    return timestamp
  }

  /// The only signer, which must be the certificate with the marker. A signature by another certificate of the chain,
  /// or a second signature beside Apple's, would bypass the check.
  private static func onlySigner(_ signed: SignedData, _ chain: SignerChain) throws(PaymentTokenError) -> SignerInfo {
    guard signed.signers.count == 1, signed.signers[0].tag == BERTag.sequence else {
      throw PaymentTokenError(.wrongSigner, "the number of signers is \(signed.signers.count) instead of 1")
    }
    let info: SignerInfo
    do {
      info = try SignerInfo(signed.signers[0])
    } catch {
      throw PaymentTokenError(.malformedSignature, error.reason, field: "signature")
    }
    guard info.issuer.isSame(as: chain.signer.issuer), info.serialNumber == chain.signer.serialNumber else {
      throw PaymentTokenError(.wrongSigner, "the signature names another certificate than the signer's")
    }
    return info
  }

  /// SHA-256 everywhere; ECDSA on P-256 for EC_v1, RSA for RSA_v1.
  private static func checkAlgorithms(
    _ signed: SignedData, _ info: SignerInfo, _ chain: SignerChain, _ version: EncryptedPaymentToken.Version
  ) throws(PaymentTokenError) {
    guard signed.digestAlgorithms.count == 1, let declared = try? AlgorithmIdentifier(signed.digestAlgorithms[0]),
      declared.isSHA256, info.digestAlgorithm.isSHA256
    else {
      throw PaymentTokenError(.forbiddenAlgorithm, "the digest is not SHA-256")
    }
    switch (version, info.signatureAlgorithm.signature, chain.key) {
    case (.ecV1, .ecdsaWithSHA256, .p256), (.rsaV1, .rsaWithSHA256, .rsa): return
    default:
      throw PaymentTokenError(.forbiddenAlgorithm, "\(version.rawValue) is not signed with this algorithm and key")
    }
  }

  private static func readAttributes(_ info: SignerInfo) throws(PaymentTokenError) -> SignedAttributes {
    do {
      return try SignedAttributes(info.attributes)
    } catch {
      throw PaymentTokenError(.malformedAttributes, error.reason)
    }
  }

  /// RFC 5652 §11.1.
  private func checkContentType() throws(PaymentTokenError) {
    guard let type = attributes.value(ObjectIdentifier.contentType), type.isObject(ObjectIdentifier.data) else {
      throw PaymentTokenError(.wrongContentType, "the signed content type is not id-data")
    }
  }

  /// RFC 6211: the attribute must name the algorithms in use. Tokens of 2014 lack it.
  private func checkAlgorithmProtection() throws(PaymentTokenError) {
    guard let protection = attributes.value(ObjectIdentifier.algorithmProtection) else { return }
    var fields = protection.children(.der)
    guard protection.tag == BERTag.sequence, let digest = try? AlgorithmIdentifier(fields.next()), digest.isSHA256,
      let algorithm = try? fields.next(BERTag.context(1), "signature algorithm"), fields.isAtEnd,
      let signature = try? AlgorithmIdentifier(fields: algorithm.children(.der)).signature,
      signature == info.signatureAlgorithm.signature
    else { throw PaymentTokenError(.algorithmProtection, "the signed algorithms are not the ones used") }
  }

  private func checkSignature() throws(PaymentTokenError) {
    guard chain.key.isValid(info.signature, for: info.signedDigest) else {
      throw PaymentTokenError(.invalidSignature, "the signature does not belong to these attributes and this signer")
    }
  }
}
