/// Why a payment token is refused: a code for programs, a reason for the operator, advice for the integrator.
///
/// It never holds data of the token: no card number, no cryptogram, no bytes.
public struct PaymentTokenError: Error, Sendable, Hashable {
  public let code: Code
  /// The member of the payment token that is at fault, as `header.publicKeyHash`; nil when it is no single one.
  public let field: String?
  /// What was found, for the operator.
  public let reason: String

  public init(_ code: Code, _ reason: String, field: String? = nil) {
    self.code = code
    self.field = field
    self.reason = reason
  }

  /// The step that refused the token.
  public var stage: Stage { code.stage }
  /// What to do about it, for the integrator.
  public var advice: String { code.advice }

  /// The steps, in their order.
  public enum Stage: String, Sendable, Hashable, CaseIterable {
    /// The JSON, its encodings and the outer form of the signature.
    case format
    /// The two certificates of the signature.
    case certificates
    /// From the signer's certificate to a root that is trusted.
    case chain
    /// The signature over the token.
    case signature
    /// When Apple signed.
    case signingTime
    /// The merchant's private key.
    case key
    /// From the private key to the token's own key.
    case unwrap
    /// The encrypted data.
    case decrypt
    /// The decrypted payment data.
    case payload
    /// Whether the token was used before.
    case replay
    /// Whether it pays this order.
    case order
  }
}

extension PaymentTokenError: CustomStringConvertible {
  public var description: String {
    let place = field.map { " (\($0))" } ?? ""
    return "\(stage.rawValue): \(reason)\(place) [\(code.rawValue)]"
  }
}

extension PaymentTokenError {
  /// Stable names. Each has a paragraph in `docs/errors.md`.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    case notJSON = "not_json"
    case doubleEncoded = "double_encoded"
    case notAPaymentToken = "not_a_payment_token"
    case googlePayToken = "google_pay_token"
    case emptyPaymentData = "empty_payment_data"
    case missingField = "missing_field"
    case wrongType = "wrong_type"
    case unknownVersion = "unknown_version"
    case wrongKeyMaterial = "wrong_key_material"
    case badBase64 = "bad_base64"
    case base64URL = "base64url"
    case plusAsSpace = "plus_as_space"
    case badHex = "bad_hex"
    case wrongLength = "wrong_length"
    case malformedSignature = "malformed_signature"

    case certificateCount = "certificate_count"
    case malformedCertificate = "malformed_certificate"
    case signerNotFound = "signer_not_found"
    case intermediateNotFound = "intermediate_not_found"

    case untrustedRoot = "untrusted_root"
    case brokenChain = "broken_chain"
    case unfitCertificate = "unfit_certificate"
    case certificateNotValidThen = "certificate_not_valid_then"
    case wrongEnvironment = "wrong_environment"

    case wrongSigner = "wrong_signer"
    case forbiddenAlgorithm = "forbidden_algorithm"
    case malformedAttributes = "malformed_attributes"
    case wrongContentType = "wrong_content_type"
    case wrongDigest = "wrong_digest"
    case algorithmProtection = "algorithm_protection"
    case invalidSignature = "invalid_signature"

    case malformedSigningTime = "malformed_signing_time"
    case tooOld = "too_old"
    case inTheFuture = "in_the_future"

    case unreadableKey = "unreadable_key"
    case encryptedKey = "encrypted_key"
    case notAPrivateKey = "not_a_private_key"
    case pkcs12File = "pkcs12_file"
    case unreadableCertificate = "unreadable_certificate"
    case unreadableRoot = "unreadable_root"
    case identityCertificate = "identity_certificate"
    case keyCertificateMismatch = "key_certificate_mismatch"
    case noMerchantIdentifier = "no_merchant_identifier"
    case merchantIdentifierIsHash = "merchant_identifier_is_hash"
    case unknownKey = "unknown_key"
    case retiredKey = "retired_key"
    case wrongKindOfKey = "wrong_kind_of_key"
    case keyAgentUnavailable = "key_agent_unavailable"

    case badEphemeralKey = "bad_ephemeral_key"
    case badWrappedKey = "bad_wrapped_key"

    case tooShort = "too_short"
    case tagMismatch = "tag_mismatch"
    case wrongKeyDerivation = "wrong_key_derivation"

    case payloadNotJSON = "payload_not_json"
    case badPayload = "bad_payload"
    case unknownCurrency = "unknown_currency"
    case badAmount = "bad_amount"
    case unsupportedPaymentData = "unsupported_payment_data"

    case tokenAlreadyUsed = "token_already_used"
    case replayWindowFull = "replay_window_full"

    case merchantMismatch = "merchant_mismatch"
    case amountMismatch = "amount_mismatch"
    case amountOffByPowerOfTen = "amount_off_by_power_of_ten"
    case currencyMismatch = "currency_mismatch"
    case applicationDataMissing = "application_data_missing"
    case applicationDataMismatch = "application_data_mismatch"
  }
}

extension PaymentTokenError.Code {
  public var stage: PaymentTokenError.Stage {
    switch self {
    case .notJSON, .doubleEncoded, .notAPaymentToken, .googlePayToken, .emptyPaymentData, .missingField, .wrongType,
      .unknownVersion, .wrongKeyMaterial, .badBase64, .base64URL, .plusAsSpace, .badHex, .wrongLength,
      .malformedSignature:
      .format
    case .certificateCount, .malformedCertificate, .signerNotFound, .intermediateNotFound: .certificates
    case .untrustedRoot, .brokenChain, .unfitCertificate, .certificateNotValidThen, .wrongEnvironment: .chain
    case .wrongSigner, .forbiddenAlgorithm, .malformedAttributes, .wrongContentType, .wrongDigest,
      .algorithmProtection, .invalidSignature:
      .signature
    case .malformedSigningTime, .tooOld, .inTheFuture: .signingTime
    case .unreadableKey, .encryptedKey, .notAPrivateKey, .pkcs12File, .unreadableCertificate, .unreadableRoot,
      .identityCertificate, .keyCertificateMismatch, .noMerchantIdentifier, .merchantIdentifierIsHash, .unknownKey,
      .retiredKey,
      .wrongKindOfKey, .keyAgentUnavailable:
      .key
    case .badEphemeralKey, .badWrappedKey: .unwrap
    case .tooShort, .tagMismatch, .wrongKeyDerivation: .decrypt
    case .payloadNotJSON, .badPayload, .unknownCurrency, .badAmount, .unsupportedPaymentData: .payload
    case .tokenAlreadyUsed, .replayWindowFull: .replay
    case .merchantMismatch, .amountMismatch, .amountOffByPowerOfTen, .currencyMismatch, .applicationDataMissing,
      .applicationDataMismatch:
      .order
    }
  }
}
