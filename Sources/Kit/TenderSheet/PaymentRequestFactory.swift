public import TenderPayments

/// Creates one merchant's payment requests from the contents of a basket.
public struct PaymentRequestFactory: Sendable, Hashable {
  /// As on the card statement; the label of the total.
  public let businessName: String
  /// The merchant's country, ISO 3166-1 alpha-2, in capitals.
  public let countryCode: String
  /// In the order of preference.
  public let supportedNetworks: [CardNetwork]
  /// Always includes 3DS, which every network but UnionPay requires.
  public let merchantCapabilities: [MerchantCapability]
  /// The countries of the accepted issuers, in capitals; empty for all.
  public let supportedCountries: [String]
  /// ISO 18245, four digits; nil to tell the device none.
  public let merchantCategoryCode: String?

  /// A factory for one merchant.
  public init(
    businessName: String, countryCode: String, supportedNetworks: [CardNetwork] = [.visa, .masterCard, .amex],
    merchantCapabilities: [MerchantCapability] = [.supports3DS], supportedCountries: [String] = [],
    merchantCategoryCode: String? = nil
  ) {
    self.businessName = businessName
    self.countryCode = countryCode.uppercased()
    self.supportedNetworks = supportedNetworks
    // Every network but UnionPay requires 3DS, and the sheet reports no error without it.
    self.merchantCapabilities =
      merchantCapabilities.contains(.supports3DS) ? merchantCapabilities : [.supports3DS] + merchantCapabilities
    self.supportedCountries = supportedCountries.map { $0.uppercased() }
    self.merchantCategoryCode = merchantCategoryCode
  }

  /// The request for a sheet.
  ///
  /// It requests the fields that the basket chose, and an address where the order goes to one. At collection the address
  /// is the shop's own, which the shopper cannot edit. It requests a billing address only if the merchant needs one.
  public func request(for contents: SheetContents) throws(SheetViolation) -> PaymentRequest {
    let summary = try summary(of: contents)
    for method in contents.shippingMethods { try Self.check(method, contents.currency) }
    try contents.agreement?.check(contents.currency)
    let fields = contents.service.shippingFields(contents.contactFields)
    let isAtShop = contents.service == .collection && !fields.contains(.postalAddress)
    return PaymentRequest(
      countryCode: countryCode, currency: contents.currency, supportedNetworks: supportedNetworks,
      merchantCapabilities: merchantCapabilities, total: summary.total, lineItems: summary.items,
      requiredShippingContactFields: fields,
      requiredBillingContactFields: contents.billingRequired ? [.postalAddress] : [],
      shippingMethods: contents.service.needsAddress ? contents.shippingMethods : [],
      shippingType: contents.service.shippingType,
      shippingContactEditingMode: isAtShop ? .storePickup : nil,
      applicationData: contents.applicationData, supportedCountries: supportedCountries,
      merchantCategoryCode: merchantCategoryCode,
      supportsCouponCode: contents.supportsCouponCode, couponCode: contents.couponCode,
      agreement: contents.agreement)
  }

  /// The lines and the total, for a page that shows them beside the button and for updates of the sheet.
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

/// The contents of a basket that the sheet shows.
public struct SheetContents: Sendable, Hashable {
  /// The currency of every amount in the request.
  public var currency: Currency
  /// What the merchant does with the goods.
  public var service: ServiceType
  /// Goods, fees, shipping and discounts (negative), in the order in which they are shown; not the total.
  public var lines: [SummaryItem]
  /// The fee for this kind of card; the last line before the total.
  public var cardFee: SummaryItem?
  /// In the order in which they are offered; the first is selected.
  public var shippingMethods: [ShippingMethod]
  /// Whether the sheet has a field for a coupon code.
  public var supportsCouponCode: Bool
  /// The coupon code.
  public var couponCode: String?
  /// What the basket asks for in the shipping contact, beside the address of an order that goes to one.
  public var contactFields: [ContactField]
  /// Whether the merchant needs the card's billing address.
  public var billingRequired: Bool
  /// Bytes whose SHA-256 comes back inside the signed payment token: it binds the token to the basket.
  public var applicationData: [UInt8]
  /// An agreement beyond this payment.
  public var agreement: PaymentAgreement?

  /// The contents of a basket that the sheet shows.
  public init(
    currency: Currency, service: ServiceType, lines: [SummaryItem], cardFee: SummaryItem? = nil,
    shippingMethods: [ShippingMethod] = [], supportsCouponCode: Bool = false, couponCode: String? = nil,
    contactFields: [ContactField] = ContactField.usual, billingRequired: Bool = false, applicationData: [UInt8] = [],
    agreement: PaymentAgreement? = nil
  ) {
    self.currency = currency
    self.service = service
    self.lines = lines
    self.cardFee = cardFee
    self.shippingMethods = shippingMethods
    self.supportsCouponCode = supportsCouponCode
    self.couponCode = couponCode
    self.contactFields = contactFields
    self.billingRequired = billingRequired
    self.applicationData = applicationData
    self.agreement = agreement
  }
}
