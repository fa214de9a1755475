import Crypto
import CryptoExtras
public import TenderPayments

/// The private key of a payment processing certificate, with what else goes into a payment token's key.
///
/// It prints nothing of itself and cannot be encoded.
public struct ProcessingKey: Sendable {
  enum Secret: Sendable {
    case p256(P256.KeyAgreement.PrivateKey, PartyInfo)
    case rsa(RSADecryptionKey)
  }

  /// SHA-256 of the public key's SubjectPublicKeyInfo, by which a payment token names the key it was made for.
  public let publicKeyHash: [UInt8]
  let secret: Secret

  /// - Parameters:
  ///   - privateKeyPEM: a P-256 key (PKCS #8 or SEC 1), or for RSA_v1 an RSA key of 2048 bits or more. Other blocks
  ///     of the text, as certificates, are passed over.
  ///   - merchantIdentifier: Apple's, as `merchant.com.example.shop`.
  /// - Throws: stage `key`.
  public init(privateKeyPEM: String, merchantIdentifier: String) throws(PaymentTokenError) {
    guard !merchantIdentifier.isEmpty else {
      throw PaymentTokenError(.noMerchantIdentifier, "the merchant identifier is empty")
    }
    let key = try PrivateKey(pem: privateKeyPEM)
    self.init(key, PartyInfo(merchantIdentifier: merchantIdentifier))
  }

  /// - Parameter certificatePEM: the payment processing certificate that was issued for the key; it holds the hash of
  ///   the merchant identifier.
  /// - Throws: stage `key`.
  public init(privateKeyPEM: String, certificatePEM: String) throws(PaymentTokenError) {
    try self.init(privateKeyPEM: privateKeyPEM, certificatePEMs: [certificatePEM])
  }

  /// - Parameter certificatePEMs: payment processing certificates, one of which was issued for the key.
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
    case .p256(let key): secret = .p256(key, party)
    case .rsa(let key): secret = .rsa(RSADecryptionKey(key: key))
    }
  }
}

/// An RSA key that may be used by several tasks at once. The type of swift-crypto does not say so, while its signing
/// twin does; below both is a key of BoringSSL, which is never changed and which `openssl/rsa.h` allows to be shared.
struct RSADecryptionKey: @unchecked Sendable {
  let key: _RSA.Encryption.PrivateKey
}

extension ProcessingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "ProcessingKey(•••)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The processing keys of every merchant.
///
/// A payment token chooses its key by hash, but only among the keys of the merchant who was authenticated: a token
/// made for one merchant does not open for another.
public struct ProcessingKeyRing: Sendable {
  private let keys: [MerchantID: [ProcessingKey]]

  /// - Parameter keys: the active key, and those before it whose tokens may still arrive.
  public init(_ keys: [MerchantID: [ProcessingKey]]) { self.keys = keys }

  public func key(_ publicKeyHash: [UInt8], of merchant: MerchantID) -> ProcessingKey? {
    keys[merchant]?.first { $0.publicKeyHash == publicKeyHash }
  }

  /// Apple's step 2: the key that the token was encrypted to.
  ///
  /// - Throws: `unknown_key`, or `wrong_kind_of_key` when the merchant has only keys that no such token can have.
  func key(for token: EncryptedPaymentToken, of merchant: MerchantID) throws(PaymentTokenError) -> ProcessingKey {
    if let key = key(token.publicKeyHash, of: merchant) { return key }
    let own = keys[merchant] ?? []
    guard own.isEmpty || own.contains(where: { $0.opens(token.version) }) else {
      throw PaymentTokenError(.wrongKindOfKey, "the token is \(token.version.rawValue) and no key is of its kind")
    }
    throw PaymentTokenError(
      .unknownKey, "none of \(own.count) keys has the hash \(Base64.encode(token.publicKeyHash))",
      field: "header.publicKeyHash")
  }
}

extension ProcessingKey {
  fileprivate func opens(_ version: EncryptedPaymentToken.Version) -> Bool {
    switch (version, secret) {
    case (.ecV1, .p256), (.rsaV1, .rsa): true
    default: false
    }
  }
}
