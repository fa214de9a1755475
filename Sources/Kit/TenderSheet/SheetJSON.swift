public import TenderPayments

// The dictionaries of Apple Pay JS. Amounts in them are texts without a currency, so reading an amount needs the
// currency: a payment request names it, and an update is read with it.

struct LineItemJSON: Codable {
  let label: String
  let amount: String
  let type: SummaryItem.Kind?

  init(_ item: SummaryItem) throws {
    self.label = item.label
    self.amount = try item.amount.sheetText
    self.type = item.kind
  }

  func item(_ currency: Currency) throws -> SummaryItem {
    SummaryItem(label: label, amount: try Amount(sheetText: amount, currency: currency), kind: type ?? .final)
  }
}

struct ShippingMethodJSON: Codable {
  let identifier: String
  let label: String
  let detail: String
  let amount: String
  let dateComponentsRange: ShippingDateRange?

  init(_ method: ShippingMethod) throws {
    self.identifier = method.identifier
    self.label = method.label
    self.detail = method.detail
    self.amount = try method.amount.sheetText
    self.dateComponentsRange = method.dateRange
  }

  func method(_ currency: Currency) throws -> ShippingMethod {
    ShippingMethod(
      identifier: identifier, label: label, detail: detail, amount: try Amount(sheetText: amount, currency: currency),
      dateRange: dateComponentsRange)
  }
}

extension SummaryItem: Encodable {
  public func encode(to encoder: any Encoder) throws { try LineItemJSON(self).encode(to: encoder) }
}

extension ShippingMethod: Encodable {
  public func encode(to encoder: any Encoder) throws { try ShippingMethodJSON(self).encode(to: encoder) }
}

extension PaymentRequest: Codable {
  private struct JSON: Codable {
    var countryCode: String
    var currencyCode: Currency
    var supportedNetworks: [CardNetwork]
    var merchantCapabilities: [MerchantCapability]
    var total: LineItemJSON
    var lineItems: [LineItemJSON]?
    var requiredShippingContactFields: [ContactField]?
    var requiredBillingContactFields: [ContactField]?
    var shippingMethods: [ShippingMethodJSON]?
    var shippingType: ShippingType?
    var shippingContactEditingMode: ContactEditingMode?
    var applicationData: String?
    var supportedCountries: [String]?
    var merchantCategoryCode: String?
    var supportsCouponCode: Bool?
    var couponCode: String?
    var recurringPaymentRequest: RecurringPaymentJSON?
    var automaticReloadPaymentRequest: AutomaticReloadJSON?
    var deferredPaymentRequest: DeferredPaymentJSON?

    mutating func set(_ agreement: PaymentAgreement?) throws {
      switch agreement {
      case nil: break
      case .recurring(let payment): recurringPaymentRequest = try RecurringPaymentJSON(payment)
      case .automaticReload(let reload): automaticReloadPaymentRequest = try AutomaticReloadJSON(reload)
      case .deferred(let payment): deferredPaymentRequest = try DeferredPaymentJSON(payment)
      }
    }

    func agreement() throws -> PaymentAgreement? {
      let found: [PaymentAgreement?] = [
        try recurringPaymentRequest.map { .recurring(try $0.payment(currencyCode)) },
        try automaticReloadPaymentRequest.map { .automaticReload(try $0.reload(currencyCode)) },
        try deferredPaymentRequest.map { .deferred(try $0.payment(currencyCode)) },
      ]
      guard found.count(where: { $0 != nil }) <= 1 else { throw SheetViolation.agreement("a sheet has one agreement") }
      return found.compactMap { $0 }.first
    }
  }

  /// Omits empty members, because Apple refuses an empty `lineItems`.
  public func encode(to encoder: any Encoder) throws {
    var json = JSON(
      countryCode: countryCode, currencyCode: currency, supportedNetworks: supportedNetworks,
      merchantCapabilities: merchantCapabilities, total: try LineItemJSON(total),
      lineItems: try lineItems.map(LineItemJSON.init).filled,
      requiredShippingContactFields: requiredShippingContactFields.filled,
      requiredBillingContactFields: requiredBillingContactFields.filled,
      shippingMethods: try shippingMethods.map(ShippingMethodJSON.init).filled, shippingType: shippingType,
      shippingContactEditingMode: shippingContactEditingMode,
      applicationData: applicationData.filled.map { Base64.encode($0) },
      supportedCountries: supportedCountries.filled, merchantCategoryCode: merchantCategoryCode,
      supportsCouponCode: supportsCouponCode ? true : nil,
      couponCode: couponCode)
    try json.set(agreement)
    try json.encode(to: encoder)
  }

  public init(from decoder: any Decoder) throws {
    let json = try JSON(from: decoder)
    let currency = json.currencyCode
    guard let applicationData = Base64.decode(json.applicationData ?? "") else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "applicationData is not base64"))
    }
    self.init(
      countryCode: json.countryCode, currency: currency, supportedNetworks: json.supportedNetworks,
      merchantCapabilities: json.merchantCapabilities, total: try json.total.item(currency),
      lineItems: try (json.lineItems ?? []).map { try $0.item(currency) },
      requiredShippingContactFields: json.requiredShippingContactFields ?? [],
      requiredBillingContactFields: json.requiredBillingContactFields ?? [],
      shippingMethods: try (json.shippingMethods ?? []).map { try $0.method(currency) },
      shippingType: json.shippingType, shippingContactEditingMode: json.shippingContactEditingMode,
      applicationData: applicationData, supportedCountries: json.supportedCountries ?? [],
      merchantCategoryCode: json.merchantCategoryCode,
      supportsCouponCode: json.supportsCouponCode ?? false, couponCode: json.couponCode,
      agreement: try json.agreement())
  }
}

extension SheetUpdate: Encodable {
  fileprivate struct JSON: Codable {
    var newTotal: LineItemJSON
    var newLineItems: [LineItemJSON]
    var newShippingMethods: [ShippingMethodJSON]?
    var errors: [SheetError]?
  }

  public func encode(to encoder: any Encoder) throws {
    let json = JSON(
      newTotal: try LineItemJSON(newTotal), newLineItems: try newLineItems.map(LineItemJSON.init),
      newShippingMethods: try newShippingMethods?.map(ShippingMethodJSON.init), errors: errors.filled)
    try json.encode(to: encoder)
  }

  /// Reads an update of a sheet whose currency is known.
  public init(from decoder: any Decoder, currency: Currency) throws {
    let json = try JSON(from: decoder)
    self.newTotal = try json.newTotal.item(currency)
    self.newLineItems = try json.newLineItems.map { try $0.item(currency) }
    self.newShippingMethods = try json.newShippingMethods?.map { try $0.method(currency) }
    self.errors = json.errors ?? []
  }
}

extension Array {
  fileprivate var filled: [Element]? { isEmpty ? nil : self }
}
