public import TenderPayments

/// Opens payment tokens: Apple's steps 1 to 4, a file a step.
///
/// What is left to the caller is what only the caller knows: whether the token was used before (step 5), and whether
/// it pays this order (step 6).
public struct TokenOpener: Sendable {
  /// What stands for the first half alone, where a provider opens the token.
  public let verifier: TokenVerifier
  private let keys: ProcessingKeyRing

  public init(verifier: TokenVerifier, keys: ProcessingKeyRing) {
    self.verifier = verifier
    self.keys = keys
  }

  /// - Parameters:
  ///   - merchant: the authenticated merchant; only keys of theirs are tried.
  ///   - time: when the token arrived.
  public func open(
    _ token: EncryptedPaymentToken, for merchant: MerchantID, at time: Timestamp
  ) throws(PaymentTokenError) -> OpenedPaymentToken {
    let verified = try verifier.verify(token, at: time)
    let processingKey = try keys.key(for: verified.token, of: merchant)
    let contentKey = try processingKey.unwrap(verified.token.keyMaterial)
    let plaintext = try contentKey.open(verified.token.data)
    return OpenedPaymentToken(verified: verified, paymentData: try PaymentData(plaintext: plaintext))
  }
}

/// A payment token that was verified and decrypted. Only ``TokenOpener`` makes one.
public struct OpenedPaymentToken: Sendable {
  public let verified: VerifiedPaymentToken
  public let paymentData: PaymentData

  init(verified: VerifiedPaymentToken, paymentData: PaymentData) {
    self.verified = verified
    self.paymentData = paymentData
  }

  /// SHA-256 of the application data of the payment request; nil when the request had none.
  public var applicationDataHash: [UInt8]? { verified.token.applicationDataHash }
}
