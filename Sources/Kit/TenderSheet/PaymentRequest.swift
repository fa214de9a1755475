public import TenderPayments

/// The payment request of a sheet: Apple Pay JS's `ApplePayPaymentRequest`.
public struct PaymentRequest: Sendable, Hashable {
  /// The merchant's country, ISO 3166-1 alpha-2.
  public var countryCode: String
  /// The currency of every amount in the request.
  public var currency: Currency
  /// In the order of preference.
  public var supportedNetworks: [CardNetwork]
  /// The accepted kinds of card and the required authentication.
  public var merchantCapabilities: [MerchantCapability]
  /// The total, labelled with the business name.
  public var total: SummaryItem
  /// The lines that make up the total.
  public var lineItems: [SummaryItem]
  /// The requested fields of the shipping contact.
  public var requiredShippingContactFields: [ContactField]
  /// The requested fields of the billing contact; empty unless the merchant needs it.
  public var requiredBillingContactFields: [ContactField]
  /// The shipping methods, the selected one first; empty where the order goes to no address.
  public var shippingMethods: [ShippingMethod]
  /// The sheet's wording for the service; nil where nothing changes hands.
  public var shippingType: ShippingType?
  /// Nil uses the platform's default.
  public var shippingContactEditingMode: ContactEditingMode?
  /// Bytes whose SHA-256 comes back inside the signed payment token.
  public var applicationData: [UInt8]
  /// The countries of the accepted issuers; empty for all.
  public var supportedCountries: [String]
  /// The merchant's category, ISO 18245, four digits. Devices take it since iOS 18; older ones ignore it.
  public var merchantCategoryCode: String?
  /// Whether the sheet has a field for a coupon code.
  public var supportsCouponCode: Bool
  /// The coupon code when the sheet opens.
  public var couponCode: String?
  /// An agreement beyond this payment.
  public var agreement: PaymentAgreement?

  /// The lines as PassKit lists them: the last is the total.
  public var summaryItems: [SummaryItem] { lineItems + [total] }
}

/// Apple's `ApplePayMerchantCapability`.
public enum MerchantCapability: String, Sendable, Hashable, Codable, CaseIterable {
  /// Always required.
  case supports3DS
  /// Without either, both are accepted.
  case supportsCredit, supportsDebit
  /// Only for China UnionPay.
  case supportsEMV
}

/// Whether the shopper may change the address on the sheet: Apple's `ApplePayShippingContactEditingMode`.
public enum ContactEditingMode: String, Sendable, Hashable, Codable, CaseIterable {
  /// The shopper can edit the address.
  case available
  /// The address is the shop's, and the shopper cannot edit it.
  case storePickup
}
