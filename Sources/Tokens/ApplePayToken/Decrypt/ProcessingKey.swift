import Crypto
import CryptoExtras
public import TenderPayments

/// The key pair of a payment processing certificate, whose private key may be held elsewhere, and the merchant
/// identifier that the key derivation needs.
///
/// Its description is masked and it cannot be encoded.
public struct ProcessingKey: Sendable {
  /// SHA-256 of the public key's SubjectPublicKeyInfo, by which a payment token names the key it is encrypted to.
  public let publicKeyHash: [UInt8]
  /// Which payment tokens it opens: a P-256 key `EC_v1`, an RSA key `RSA_v1`.
  public let version: EncryptedPaymentToken.Version
  package let holder: any ProcessingKeyHolder

  /// A key whose private key `holder` holds.
  public init(publicKeyHash: [UInt8], version: EncryptedPaymentToken.Version, heldBy holder: any ProcessingKeyHolder) {
    self.publicKeyHash = publicKeyHash
    self.version = version
    self.holder = holder
  }

  /// - Parameters:
  ///   - privateKeyPEM: a P-256 key (PKCS #8 or SEC 1), or for RSA_v1 an RSA key of 2048 bits. Other blocks, such as
  ///     certificates, are ignored.
  ///   - merchantIdentifier: Apple's, as `merchant.com.example.shop`; not its hash.
  /// - Throws: stage `key`.
  public init(privateKeyPEM: String, merchantIdentifier: String) throws(PaymentTokenError) {
    try Self.validate(merchantIdentifier)
    self.init(try PrivateKey(pem: privateKeyPEM), PartyInfo(merchantIdentifier: merchantIdentifier))
  }

  /// - Parameters:
  ///   - privateKeyPEM: as above.
  ///   - certificatePEM: the payment processing certificate that was issued for the key; it holds the hash of the
  ///     merchant identifier.
  /// - Throws: stage `key`.
  public init(privateKeyPEM: String, certificatePEM: String) throws(PaymentTokenError) {
    try self.init(privateKeyPEM: privateKeyPEM, certificatePEMs: [certificatePEM])
  }

  /// - Parameters:
  ///   - privateKeyPEM: as above.
  ///   - certificatePEMs: payment processing certificates, one of which was issued for the key.
  /// - Throws: stage `key`.
  public init(privateKeyPEM: String, certificatePEMs: [String]) throws(PaymentTokenError) {
    let key = try PrivateKey(pem: privateKeyPEM)
    for pem in certificatePEMs {
      let certificate = try ProcessingCertificate(pem: pem)
      guard certificate.publicKeyInfo == key.publicKeyInfo else { continue }
      self.init(key, certificate.party)
      return
    }
    throw PaymentTokenError(.keyCertificateMismatch, "the certificate is for another key")
  }

  private init(_ key: PrivateKey, _ party: PartyInfo) {
    publicKeyHash = Array(SHA256.hash(data: key.publicKeyInfo))
    switch key {
    case .p256(let key): (version, holder) = (.ecV1, KeyHolderInMemory.p256(key, party))
    case .rsa(let key): (version, holder) = (.rsaV1, KeyHolderInMemory.rsa(RSADecryptionKey(key: key)))
    }
  }

  private static func validate(_ merchantIdentifier: String) throws(PaymentTokenError) {
    guard !merchantIdentifier.isEmpty else {
      throw PaymentTokenError(.noMerchantIdentifier, "the merchant identifier is empty")
    }
    guard merchantIdentifier.utf8.count != 64 || Hex.decode(merchantIdentifier) == nil else {
      throw PaymentTokenError(.merchantIdentifierIsHash, "64 hexadecimal digits stand for the merchant identifier")
    }
  }
}

extension ProcessingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "ProcessingKey(•••)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
