public import TenderPayments

/// What a payment token claims about itself, read without a key and without verification.
///
/// For an engineer who looks for the reason why a verification fails.
public struct TokenInspection: Sendable {
  /// A certificate in the signature.
  public struct CertificateSummary: Sendable, Hashable {
    public let commonName: String?
    /// In lower-case hexadecimal, with the zero byte that DER puts before a first byte of 80 or more.
    public let serialNumber: String
    public let notBefore: Timestamp
    public let notAfter: Timestamp
    /// Whether it has the marker of Apple Pay's signer, 1.2.840.113635.100.6.29.
    public let hasSignerMarker: Bool
    /// Whether it has the marker of its intermediate, 1.2.840.113635.100.6.2.14.
    public let hasIntermediateMarker: Bool
  }

  public let token: EncryptedPaymentToken
  /// In the order of the signature; unreadable certificates are left out.
  public let certificates: [CertificateSummary]
  /// The claimed signing time; nil when it cannot be read.
  public let signingTime: Timestamp?
  /// The form of the signature; nil when it cannot be read.
  public let wireForm: WireForm?
  /// What is wrong with the signature's outer form, or between it and the token, if anything.
  public let problem: PaymentTokenError?

  public init(_ token: EncryptedPaymentToken) {
    self.token = token
    do {
      let signed = try SignedData(ber: token.signature.prefix(TokenLimits.signature))
      let read = signed.certificates.compactMap { try? Certificate(der: $0.encoding) }
      certificates = read.map(CertificateSummary.init)
      let (info, attributes) = Self.signer(signed)
      signingTime = attributes?.value(ObjectIdentifier.signingTime)?.time
      wireForm = info.flatMap { info in attributes.map { WireForm(signed, info, $0) } }
      problem = Self.problem(token, read.count == signed.certificates.count ? read : [], info, attributes)
    } catch {
      certificates = []
      (signingTime, wireForm) = (nil, nil)
      problem = PaymentTokenError(.malformedSignature, error.reason, field: "signature")
    }
  }

  /// What shows without a root and without a key that a token is not as it was signed.
  private static func problem(
    _ token: EncryptedPaymentToken, _ certificates: [Certificate], _ info: SignerInfo?, _ attributes: SignedAttributes?
  ) -> PaymentTokenError? {
    guard certificates.count >= 2 else {
      return PaymentTokenError(
        .malformedCertificate, "a certificate of the signature is missing or cannot be read", field: "signature")
    }
    guard let info, let attributes else {
      return PaymentTokenError(
        .malformedAttributes, "the signer's part of the signature cannot be read", field: "signature")
    }
    guard attributes.names(SignedContent(token).digests.content) else { return SignedAttributes.wrongDigest }
    let signer = certificates.first {
      SignerKey($0.publicKeyInfo)?.isValid(info.signature, for: info.signedDigest) == true
    }
    guard let signer, certificates.contains(where: { AuthorityKey($0.publicKeyInfo)?.signed(signer) == true }) else {
      return PaymentTokenError(
        .invalidSignature, "the signature does not belong to the certificates in it", field: "signature")
    }
    return nil
  }

  private static func signer(_ signed: SignedData) -> (SignerInfo?, SignedAttributes?) {
    let info = signed.signers.first.flatMap { try? SignerInfo($0) }
    return (info, info.flatMap { try? SignedAttributes($0.attributes) })
  }
}

extension TokenInspection.CertificateSummary {
  init(_ certificate: Certificate) {
    self.init(
      commonName: certificate.commonName, serialNumber: Hex.encode(certificate.serialNumber),
      notBefore: certificate.notBefore, notAfter: certificate.notAfter,
      hasSignerMarker: certificate.extensions.hasSignerMarker,
      hasIntermediateMarker: certificate.extensions.hasIntermediateMarker)
  }
}
