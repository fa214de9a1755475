/// What the shopper agreed to pay, fixed when the payment sheet shows the total.
public struct Order: Sendable, Hashable {
  /// Tender's name for the order.
  public let id: OrderID
  /// Who sells.
  public let merchant: MerchantID
  /// The basket that is paid.
  public let basket: BasketID
  /// What is authorized.
  public let amount: Amount
  /// What the payment token must carry: ``amount``, or zero where the sheet showed a pending total and ``amount`` is the
  /// merchant's estimate.
  public let signedAmount: Amount
  /// SHA-256 of the application data that was put into the payment request; the token must carry the same.
  public let applicationDataHash: [UInt8]
  /// The merchant's own name for the order, as the acquirer shows it.
  public let merchantReference: String
  /// When the money is taken.
  public let capture: CaptureMode

  /// What the shopper agreed to. Without `signedAmount` the payment token carries `amount`.
  public init(
    id: OrderID, merchant: MerchantID, basket: BasketID, amount: Amount, applicationDataHash: [UInt8],
    merchantReference: String, capture: CaptureMode, signedAmount: Amount? = nil
  ) {
    self.id = id
    self.merchant = merchant
    self.basket = basket
    self.amount = amount
    self.signedAmount = signedAmount ?? amount
    self.applicationDataHash = applicationDataHash
    self.merchantReference = merchantReference
    self.capture = capture
  }
}

/// When the money is taken.
public enum CaptureMode: String, Sendable, Hashable, Codable, CaseIterable {
  /// As soon as the authorization is approved.
  case immediate
  /// When the merchant asks.
  case manual
}

/// Whether what is held is what will be captured. Card schemes give the two different times and fees.
package enum AuthorizationType: String, Sendable, Hashable, Codable, CaseIterable {
  /// Captured in full, within about seven days.
  case final
  /// An estimate: less may be captured, and later.
  case preliminary
}
