public import TenderPayments

/// A verified and decrypted payment token. Only ``TokenOpener`` creates it.
public struct OpenedPaymentToken: Sendable {
  /// How the token is bound to its merchant.
  public enum Binding: Sendable, Hashable {
    /// It is encrypted to the merchant's own key.
    case merchantKey
    /// It is encrypted to a platform's key, and its application data is this domain of the merchant.
    case platformDomain(String)
    /// It is encrypted to a platform's key, and its application data is that of the order it pays.
    case order
  }

  public let verified: VerifiedPaymentToken
  /// The merchant it was made for.
  public let merchant: MerchantID
  public let binding: Binding
  public let paymentData: PaymentData

  init(_ verified: VerifiedPaymentToken, _ merchant: MerchantID, _ binding: Binding, _ paymentData: PaymentData) {
    self.verified = verified
    self.merchant = merchant
    self.binding = binding
    self.paymentData = paymentData
  }

  /// SHA-256 of the application data of the payment request; nil when the request had none.
  public var applicationDataHash: [UInt8]? { verified.token.applicationDataHash }
}
