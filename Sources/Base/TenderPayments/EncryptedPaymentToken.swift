/// Apple's payment token as it arrived: `paymentData` of a `PKPaymentToken`, parsed but not verified.
///
/// Source: Apple, *Payment token format reference*. Binary fields are already decoded.
public struct EncryptedPaymentToken: Sendable, Hashable {
  /// How it was encrypted: Apple's `version`.
  public enum Version: String, Sendable, Hashable {
    /// Elliptic curve: the key is agreed with an ephemeral public key.
    case ecV1 = "EC_v1"
    /// RSA, for mainland China: the key is wrapped to the merchant's RSA key.
    case rsaV1 = "RSA_v1"
  }

  /// How the symmetric key travels.
  public enum KeyMaterial: Sendable, Hashable {
    /// X.509 SubjectPublicKeyInfo in DER, 91 bytes for P-256.
    case ephemeralPublicKey([UInt8])
    /// The AES key, RSA-OAEP wrapped; 256 bytes.
    case wrappedKey([UInt8])

    /// The bytes, whichever of the two they are.
    public var bytes: [UInt8] {
      switch self {
      case .ephemeralPublicKey(let bytes), .wrappedKey(let bytes): bytes
      }
    }
  }

  /// Apple's `version`.
  public let version: Version
  /// AES-GCM ciphertext followed by its 16-byte tag.
  public let data: [UInt8]
  /// A detached CMS SignedData, in BER.
  public let signature: [UInt8]
  /// What the symmetric key is found with.
  public let keyMaterial: KeyMaterial
  /// SHA-256 of the SubjectPublicKeyInfo of the merchant key it was encrypted to, 32 bytes.
  public let publicKeyHash: [UInt8]
  /// Chosen by the device, 32 bytes.
  public let transactionID: [UInt8]
  /// SHA-256 of the payment request's application data, 32 bytes; nil when the request had none.
  public let applicationDataHash: [UInt8]?

  /// The parts of a payment token, unchecked.
  public init(
    version: Version, data: [UInt8], signature: [UInt8], keyMaterial: KeyMaterial, publicKeyHash: [UInt8],
    transactionID: [UInt8], applicationDataHash: [UInt8]?
  ) {
    self.version = version
    self.data = data
    self.signature = signature
    self.keyMaterial = keyMaterial
    self.publicKeyHash = publicKeyHash
    self.transactionID = transactionID
    self.applicationDataHash = applicationDataHash
  }
}

extension EncryptedPaymentToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Never the contents: a token is not for logs.
  public var description: String { "EncryptedPaymentToken(\(version.rawValue))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A payment token whose signature, certificates and signing time have been checked. Only `ApplePayToken` makes one.
///
/// Its contents are still encrypted: the amount cannot be checked without the merchant's key, and a payment made with
/// it records that.
public struct VerifiedPaymentToken: Sendable {
  /// The payment token as it arrived.
  public let token: EncryptedPaymentToken
  /// When Apple signed it.
  public let signingTime: Timestamp
  /// The environment of its signer.
  public let environment: Environment
  /// The two fingerprints that prevent a second use.
  public let use: TokenUse

  package init(token: EncryptedPaymentToken, signingTime: Timestamp, environment: Environment, use: TokenUse) {
    self.token = token
    self.signingTime = signingTime
    self.environment = environment
    self.use = use
  }
}

/// Identifies a payment token in every encoding.
///
/// JSON, base64, BER and the ECDSA signature can be re-encoded without invalidating a token; these two values cannot
/// change.
public struct TokenUse: Sendable, Hashable {
  /// The transaction identifier, 64 lowercase hex digits.
  public let transactionID: String
  /// SHA-256 of (ephemeralPublicKey or wrappedKey) ‖ data, 64 lowercase hex digits.
  public let payloadHash: String

  package init(transactionID: String, payloadHash: String) {
    self.transactionID = transactionID
    self.payloadHash = payloadHash
  }
}
