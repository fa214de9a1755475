public import TenderPayments

/// What the sheet is opened with: Apple Pay JS's `ApplePayPaymentRequest`.
public struct PaymentRequest: Sendable, Hashable {
  /// The merchant's country, ISO 3166-1 alpha-2.
  public var countryCode: String
  /// Of every amount in the request.
  public var currency: Currency
  /// In the order of preference.
  public var supportedNetworks: [CardNetwork]
  /// Which cards are taken, and how they must prove themselves.
  public var merchantCapabilities: [MerchantCapability]
  /// What is paid, under the business name.
  public var total: SummaryItem
  /// What the total is made of.
  public var lineItems: [SummaryItem]
  /// What the shopper is asked for, beside the card.
  public var requiredShippingContactFields: [ContactField]
  /// What is asked of the card's holder; empty unless the merchant needs it.
  public var requiredBillingContactFields: [ContactField]
  /// The ways for the goods to travel, the selected one first; empty for collection.
  public var shippingMethods: [ShippingMethod]
  /// The word that the sheet uses for it.
  public var shippingType: ShippingType
  /// Nil leaves it to the platform.
  public var shippingContactEditingMode: ContactEditingMode?
  /// Bytes whose SHA-256 comes back inside the signed payment token.
  public var applicationData: [UInt8]
  /// The countries of the issuers whose cards are taken; empty for all.
  public var supportedCountries: [String]
  /// Whether the sheet has a field for a coupon code.
  public var supportsCouponCode: Bool
  /// What stands in that field when the sheet opens.
  public var couponCode: String?
  /// What the shopper agrees to beyond this payment.
  public var agreement: PaymentAgreement?

  /// The lines as PassKit lists them: the last is the total.
  public var summaryItems: [SummaryItem] { lineItems + [total] }
}

/// Apple's `ApplePayMerchantCapability`.
public enum MerchantCapability: String, Sendable, Hashable, Codable, CaseIterable {
  /// Must always be there.
  case supports3DS
  /// Neither of the two means both.
  case supportsCredit, supportsDebit
  /// Only for China UnionPay.
  case supportsEMV
}

/// Whether the shopper may change the address on the sheet: Apple's `ApplePayShippingContactEditingMode`.
public enum ContactEditingMode: String, Sendable, Hashable, Codable {
  /// The address is the shopper's.
  case available
  /// The address is the shop's, and the shopper cannot change it.
  case storePickup
}
