import Crypto
public import TenderPayments

extension TokenUse {
  /// The fingerprints of an unverified payment token: enough to recognise one that was spent, not enough to spend one.
  /// They equal the verified token's, see ``VerifiedPaymentToken/use``.
  public init(of token: EncryptedPaymentToken) {
    self.init(token, payload: SignedContent(token).digests.payload)
  }

  /// - Parameter payload: as of ``SignedContent/digests``.
  init(_ token: EncryptedPaymentToken, payload: SHA256.Digest) {
    self.init(
      transactionID: Hex.encode(token.transactionID),
      payloadHash: payload.withUnsafeBytes { Hex.encode(memory: $0) })
  }
}
