/// What the shopper agreed to pay, fixed when the payment sheet shows the total.
public struct Order: Sendable, Hashable {
  /// Tender's name for the order.
  public let id: OrderID
  /// Who sells.
  public let merchant: MerchantID
  /// The basket that is paid.
  public let basket: BasketID
  /// What is authorized. The payment token must carry exactly this amount and currency.
  public let amount: Amount
  /// SHA-256 of the application data that was put into the payment request; the token must carry the same.
  public let applicationDataHash: [UInt8]
  /// The merchant's own name for the order, as the acquirer shows it.
  public let merchantReference: String
  /// When the money is taken.
  public let capture: CaptureMode

  /// What the shopper agreed to.
  public init(
    id: OrderID, merchant: MerchantID, basket: BasketID, amount: Amount, applicationDataHash: [UInt8],
    merchantReference: String, capture: CaptureMode
  ) {
    self.id = id
    self.merchant = merchant
    self.basket = basket
    self.amount = amount
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
