public import TenderPayments

/// Opens payment tokens: Apple's steps 1 to 4.
///
/// The caller checks the rest: whether the token was used before (step 5, see ``ReplayWindow``), and whether it pays
/// this order (step 6, see ``OpenedPaymentToken/confirm(_:)``).
public struct TokenOpener: Sendable {
  /// Does the verification alone, for a provider that opens the token.
  public let verifier: TokenVerifier
  let keys: ProcessingKeyRing

  public init(verifier: TokenVerifier, keys: ProcessingKeyRing) {
    self.verifier = verifier
    self.keys = keys
  }

  /// - Parameters:
  ///   - token: as it arrived.
  ///   - merchant: the authenticated merchant; only keys that may serve them are tried.
  ///   - time: when the token arrived.
  ///   - order: SHA-256 of application data that names one order of this merchant alone. A token for a platform's key
  ///     may repeat it in place of a domain of the merchant; nil where the caller knows none.
  ///   - timeout: how long a key agent or hardware module may take. The thread blocks meanwhile.
  public func open(
    _ token: EncryptedPaymentToken, for merchant: MerchantID, at time: Timestamp, paying order: [UInt8]? = nil,
    within timeout: Duration = .seconds(2)
  ) throws(PaymentTokenError) -> OpenedPaymentToken {
    let verified = try verifier.verify(token, at: time)
    let chosen = try keys.choose(for: verified, of: merchant, paying: order)
    let contentKey = try chosen.key.holder.contentKey(from: token.keyMaterial, within: timeout)
    var plaintext = try chosen.decrypt(token, with: contentKey, within: timeout)
    defer { plaintext.wipe() }
    let opened = OpenedPaymentToken(verified, merchant, chosen.binding, try PaymentData(plaintext: plaintext))
    keys.used(chosen, at: time)
    return opened
  }

  /// Opens a payment token without blocking a thread of the caller while a key agent or hardware module answers.
  public func opening(
    _ token: EncryptedPaymentToken, for merchant: MerchantID, at time: Timestamp, paying order: [UInt8]? = nil,
    within timeout: Duration = .seconds(2)
  ) async throws(PaymentTokenError) -> OpenedPaymentToken {
    guard !keys.answersAtOnce(token.publicKeyHash, for: merchant) else {
      return try open(token, for: merchant, at: time, paying: order, within: timeout)
    }
    return try await WaitingThread.run { () throws(PaymentTokenError) in
      try open(token, for: merchant, at: time, paying: order, within: timeout)
    }
  }
}
