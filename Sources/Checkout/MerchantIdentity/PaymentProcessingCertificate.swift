package import TenderPayments

/// The certificate whose public key Apple encrypts payment tokens to, with its private key.
///
/// P-256 everywhere but in mainland China, where it is RSA of 2048 bits. A merchant has several while one replaces
/// another, because tokens for the old key arrive for a while: a token says by ``publicKeyHash`` which it needs.
package struct PaymentProcessingCertificate: Sendable {
  private let pair: CertificateAndKey
  package let merchant: MerchantIdentifier
  /// SHA-256 of the X.509 SubjectPublicKeyInfo, DER: what a payment token's header calls `publicKeyHash`.
  package let publicKeyHash: [UInt8]

  /// Reads PEM text; both may be one file. An expired certificate is read: tokens made before can still be opened.
  package init(
    certificatePEM: String, privateKeyPEM: String, for merchant: MerchantIdentifier
  ) throws(MerchantIdentityError) {
    let pair = try CertificateAndKey(certificatePEM: certificatePEM, privateKeyPEM: privateKeyPEM)
    guard pair.purpose != .identity else {
      throw MerchantIdentityError(
        .identityCertificateGiven, "This is the identity certificate; a processing certificate was asked for.",
        advice: "Use apple_pay.cer; merchant_id.cer belongs to the connection with Apple's gateway.")
    }
    guard pair.isP256 || pair.isRSA2048 else {
      throw MerchantIdentityError(
        .wrongKeyType, "A processing certificate has a P-256 key, or RSA of 2048 bits in mainland China.",
        advice: "Make a new request with such a key, and a new certificate from it.")
    }
    try pair.requireMerchant(merchant)
    self.pair = pair
    self.merchant = merchant
    self.publicKeyHash = try Self.hash(pair)
  }

  /// The last second of its validity. Afterwards the sheet refuses to pay.
  package var notAfter: Timestamp { pair.notAfter }
  /// Whether Apple issued it.
  package var isFromApple: Bool { pair.isFromApple }
  /// For the key ring that opens payment tokens, and nothing else.
  package var certificatePEM: String { pair.certificatePEM }
  package var privateKeyPEM: String { pair.privateKeyPEM }

  private static func hash(_ pair: CertificateAndKey) throws(MerchantIdentityError) -> [UInt8] {
    if let hash = pair.certificate.publicKeyHash { return hash }
    throw MerchantIdentityError(
      .certificateUnreadable, "The certificate's public key cannot be written as DER.",
      advice: "Download the certificate again from the developer account.")
  }
}

extension PaymentProcessingCertificate: CustomStringConvertible, CustomReflectable {
  package var description: String { "processing certificate of \(merchant), valid until \(notAfter)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
