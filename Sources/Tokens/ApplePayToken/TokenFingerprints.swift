import Crypto
public import TenderPayments

extension TokenUse {
  /// The fingerprints of a payment token that nobody has verified yet: enough to recognise one that was spent, and
  /// no ground to spend one. The verified token's are the same, see ``VerifiedPaymentToken/use``.
  public init(of token: EncryptedPaymentToken) {
    let digests = SignedContent(token).digests
    self.init(transactionID: Hex.encode(token.transactionID), payloadHash: Hex.encode(digests.payload))
  }
}
