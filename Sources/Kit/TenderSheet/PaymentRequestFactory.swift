public import TenderPayments

/// Makes payment requests for one merchant, from what a basket holds.
public struct PaymentRequestFactory: Sendable, Hashable {
  /// As it stands on the card statement; the label of the total.
  public let businessName: String
  /// The merchant's country, ISO 3166-1 alpha-2, in capitals.
  public let countryCode: String
  /// In the order of preference.
  public let supportedNetworks: [CardNetwork]
  /// Always with 3DS: without it no card works but UnionPay's.
  public let merchantCapabilities: [MerchantCapability]
  /// The countries of the issuers whose cards are taken, in capitals; empty for all.
  public let supportedCountries: [String]

  /// A factory for one merchant.
  public init(
    businessName: String, countryCode: String, supportedNetworks: [CardNetwork] = [.visa, .masterCard, .amex],
    merchantCapabilities: [MerchantCapability] = [.supports3DS], supportedCountries: [String] = []
  ) {
    self.businessName = businessName
    self.countryCode = countryCode.uppercased()
    self.supportedNetworks = supportedNetworks
    // Without 3DS no card but UnionPay's works, and the sheet does not say why.
    self.merchantCapabilities =
      merchantCapabilities.contains(.supports3DS) ? merchantCapabilities : [.supports3DS] + merchantCapabilities
    self.supportedCountries = supportedCountries.map { $0.uppercased() }
  }

  /// The request for a sheet.
  ///
  /// Collection asks for no address: it names the shop's own place through `shippingType` and keeps the shopper from
  /// editing it. A billing address is asked only where the merchant says that it is needed.
  public func request(for contents: SheetContents) throws(SheetViolation) -> PaymentRequest {
    let summary = try summary(of: contents)
    for method in contents.shippingMethods { try Self.check(method, contents.currency) }
    try contents.agreement?.check(contents.currency)
    return PaymentRequest(
      countryCode: countryCode, currency: contents.currency, supportedNetworks: supportedNetworks,
      merchantCapabilities: merchantCapabilities, total: summary.total, lineItems: summary.items,
      requiredShippingContactFields: contents.service.requiredShippingFields,
      requiredBillingContactFields: contents.billingRequired ? [.postalAddress] : [],
      shippingMethods: contents.service.needsAddress ? contents.shippingMethods : [],
      shippingType: contents.service.shippingType,
      shippingContactEditingMode: contents.service.needsAddress ? nil : .storePickup,
      applicationData: contents.applicationData, supportedCountries: supportedCountries,
      supportsCouponCode: contents.supportsCouponCode, couponCode: contents.couponCode,
      agreement: contents.agreement)
  }

  /// The lines and the total alone, for a page that shows them beside the button, and for updates of the sheet.
  public func summary(of contents: SheetContents) throws(SheetViolation) -> Summary {
    try Summary(
      businessName: businessName, lines: contents.lines + (contents.cardFee.map { [$0] } ?? []),
      currency: contents.currency)
  }

  private static func check(_ method: ShippingMethod, _ currency: Currency) throws(SheetViolation) {
    guard method.amount.currency == currency else { throw .mixedCurrencies(currency) }
    guard !method.amount.isNegative else { throw .negativeShipping(method.amount) }
    guard !method.label.isEmpty, !method.identifier.isEmpty else { throw .emptyLabel }
    _ = try method.amount.sheetText
  }
}

/// What a basket puts on the sheet.
public struct SheetContents: Sendable, Hashable {
  /// Of every amount in it.
  public var currency: Currency
  /// What the merchant does with the goods.
  public var service: ServiceType
  /// Goods, fees, shipping and discounts (negative), in the order in which they are shown; not the total.
  public var lines: [SummaryItem]
  /// What paying with this kind of card costs; the last line before the total.
  public var cardFee: SummaryItem?
  /// In the order in which they are offered; the first is selected.
  public var shippingMethods: [ShippingMethod]
  /// Whether the sheet has a field for a coupon code.
  public var supportsCouponCode: Bool
  /// What stands in that field.
  public var couponCode: String?
  /// Whether the merchant needs the card's billing address.
  public var billingRequired: Bool
  /// Bytes whose SHA-256 comes back inside the signed payment token: what binds it to the basket.
  public var applicationData: [UInt8]
  /// What the shopper agrees to beyond this payment.
  public var agreement: PaymentAgreement?

  /// What a basket puts on the sheet.
  public init(
    currency: Currency, service: ServiceType, lines: [SummaryItem], cardFee: SummaryItem? = nil,
    shippingMethods: [ShippingMethod] = [], supportsCouponCode: Bool = false, couponCode: String? = nil,
    billingRequired: Bool = false, applicationData: [UInt8] = [], agreement: PaymentAgreement? = nil
  ) {
    self.currency = currency
    self.service = service
    self.lines = lines
    self.cardFee = cardFee
    self.shippingMethods = shippingMethods
    self.supportsCouponCode = supportsCouponCode
    self.couponCode = couponCode
    self.billingRequired = billingRequired
    self.applicationData = applicationData
    self.agreement = agreement
  }
}
