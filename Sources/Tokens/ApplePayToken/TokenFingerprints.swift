import Crypto
public import TenderPayments

extension TokenUse {
  /// The fingerprints of an unverified payment token: enough to recognise one that was spent, not enough to spend one.
  /// They equal the verified token's, see ``VerifiedPaymentToken/use``.
  public init(of token: EncryptedPaymentToken) {
    let digests = SignedContent(token).digests
    self.init(transactionID: Hex.encode(token.transactionID), payloadHash: Hex.encode(digests.payload))
  }
}
