package import HTTPTransport
package import TenderPayments

/// The RSA certificate with which a merchant's server introduces itself to Apple's gateway (mutual TLS).
///
/// It opens no payment token: that is the ``PaymentProcessingCertificate``.
package struct MerchantIdentityCertificate: Sendable {
  private let pair: CertificateAndKey
  package let merchant: MerchantIdentifier

  /// Reads PEM text; both may be one file, as `openssl pkcs12 -nodes` writes it.
  ///
  /// - Throws: when the two do not fit each other, the merchant or the moment, with what to do about it.
  package init(
    certificatePEM: String, privateKeyPEM: String, for merchant: MerchantIdentifier, at now: Timestamp
  ) throws(MerchantIdentityError) {
    let pair = try CertificateAndKey(certificatePEM: certificatePEM, privateKeyPEM: privateKeyPEM)
    guard pair.purpose != .processing else {
      throw MerchantIdentityError(
        .processingCertificateGiven, "This is the processing certificate; an identity certificate was asked for.",
        advice: "Use merchant_id.cer; apple_pay.cer belongs to the processing certificates.")
    }
    guard pair.isRSA2048 else {
      throw MerchantIdentityError(
        .wrongKeyType, "An identity certificate has an RSA key of 2048 bits.",
        advice: "Make a new request with such a key, and a new certificate from it.")
    }
    try pair.requireMerchant(merchant)
    try Self.requireValidity(pair, now)
    self.pair = pair
    self.merchant = merchant
  }

  /// The last second of its validity.
  package var notAfter: Timestamp { pair.notAfter }
  /// Whether Apple issued it. Apple's environments refuse any other, and the simulated one refuses Apple's.
  package var isFromApple: Bool { pair.isFromApple }
  /// What the connection to the gateway presents.
  package var clientIdentity: ClientIdentity {
    ClientIdentity(certificateChainPEM: pair.certificatePEM, privateKeyPEM: pair.privateKeyPEM)
  }

  private static func requireValidity(_ pair: CertificateAndKey, _ now: Timestamp) throws(MerchantIdentityError) {
    guard now >= pair.notBefore else {
      throw MerchantIdentityError(
        .notYetValid, "The identity certificate is valid from \(pair.notBefore); it is \(now).",
        advice: "Set the machine's clock.")
    }
    guard now <= pair.notAfter else {
      throw MerchantIdentityError(
        .expired, "The identity certificate expired at \(pair.notAfter).",
        advice: "Make a new one in the developer account; several may be valid at once, so nothing stops meanwhile.")
    }
  }
}

extension MerchantIdentityCertificate: CustomStringConvertible, CustomReflectable {
  package var description: String { "identity certificate of \(merchant), valid until \(notAfter)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
