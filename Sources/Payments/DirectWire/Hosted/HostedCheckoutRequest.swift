/// The body of `POST /v2/{merchantId}/hostedcheckouts`: what Tender reads of Worldline's `CreateHostedCheckoutRequest`.
/// Members of other payment methods are ignored.
package struct CreateHostedCheckoutRequest: Sendable, Decodable {
  package var order: HostedOrder?
  package var hostedCheckoutSpecificInput: HostedCheckoutInput?
  package var mobilePaymentMethodSpecificInput: HostedMobileInput?
  package var cardPaymentMethodSpecificInput: HostedMobileInput?

  private enum CodingKeys: String, CodingKey {
    case order, hostedCheckoutSpecificInput, mobilePaymentMethodSpecificInput, cardPaymentMethodSpecificInput
  }

  package init(from decoder: any Decoder) throws {
    try AgreementMembers.requirePlaces(decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func read<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
      try container.decodeIfPresent(Value.self, forKey: key)
    }
    order = try read(.order)
    hostedCheckoutSpecificInput = try read(.hostedCheckoutSpecificInput)
    mobilePaymentMethodSpecificInput = try read(.mobilePaymentMethodSpecificInput)
    cardPaymentMethodSpecificInput = try read(.cardPaymentMethodSpecificInput)
  }
}

/// Worldline's `HostedCheckoutSpecificInput`.
package struct HostedCheckoutInput: Sendable, Decodable {
  package var locale: String?
  package var returnUrl: String?
  package var variant: String?
  package var showResultPage: Bool?
  /// Minutes.
  package var sessionTimeout: Int64?
  package var allowedNumberOfPaymentAttempts: Int64?
  package var isRecurring: Bool?
  /// Names of stored cards, with commas between.
  package var tokens: String?
  package var paymentProductFilters: Filters?

  package init() {}

  package struct Filters: Sendable, Decodable {
    package var restrictTo: Filter?
    package var exclude: Filter?
  }

  package struct Filter: Sendable, Decodable {
    package var products: [Int64]?
    package var groups: [String]?
  }
}

/// What Tender reads of Worldline's `MobilePaymentMethodHostedCheckoutSpecificInput`, and of the card's.
package struct HostedMobileInput: Sendable, Decodable {
  package var paymentProductId: Int64?
  package var authorizationMode: MobilePaymentInput.AuthorizationMode?
  package var paymentProduct302SpecificInput: MobilePaymentInput.Product302?
}

/// Worldline's `Order`, as far as a payment page shows it.
package struct HostedOrder: Sendable, Decodable {
  package var amountOfMoney: AmountOfMoney?
  package var references: DirectReferences?
  package var customer: DirectCustomer?
  package var shoppingCart: Cart?
  package var shipping: Shipping?
  package var discount: Discount?

  package init() {}

  package struct Cart: Sendable, Decodable {
    package var items: [Item]?
  }

  package struct Item: Sendable, Decodable {
    /// The price of the whole line.
    package var amountOfMoney: AmountOfMoney?
    package var invoiceData: InvoiceData?
    package var orderLineDetails: Details?

    package struct InvoiceData: Sendable, Decodable {
      package var description: String?
    }

    package struct Details: Sendable, Decodable {
      package var productName: String?
      package var productCode: String?
      /// Minor units of one piece.
      package var productPrice: MinorUnits?
      package var quantity: Int64?
    }
  }

  package struct Shipping: Sendable, Decodable {
    package var shippingCost: MinorUnits?
    package var shippingCostTax: MinorUnits?
    package var address: DirectCustomer.Address?
  }

  package struct Discount: Sendable, Decodable {
    package var amount: MinorUnits?
  }
}

/// The body of `POST /v2/{merchantId}/paymentlinks`: what Tender reads of Worldline's `CreatePaymentLinkRequest`.
package struct CreatePaymentLinkRequest: Sendable, Decodable {
  package var order: HostedOrder?
  package var hostedCheckoutSpecificInput: HostedCheckoutInput?
  package var mobilePaymentMethodSpecificInput: HostedMobileInput?
  package var cardPaymentMethodSpecificInput: HostedMobileInput?
  package var paymentLinkSpecificInput: Details?
  package var displayQRCode: Bool?
  package var isReusableLink: Bool?
  /// Older SDKs send these in place of ``paymentLinkSpecificInput`` and ``order``.
  package var expirationDate: String?
  package var description: String?
  package var recipientName: String?
  package var paymentLinkOrder: OlderOrder?

  private enum CodingKeys: String, CodingKey {
    case order, hostedCheckoutSpecificInput, mobilePaymentMethodSpecificInput, cardPaymentMethodSpecificInput
    case paymentLinkSpecificInput, displayQRCode, isReusableLink, expirationDate, description, recipientName
    case paymentLinkOrder
  }

  package init(from decoder: any Decoder) throws {
    try AgreementMembers.requirePlaces(decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func read<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
      try container.decodeIfPresent(Value.self, forKey: key)
    }
    order = try read(.order)
    hostedCheckoutSpecificInput = try read(.hostedCheckoutSpecificInput)
    mobilePaymentMethodSpecificInput = try read(.mobilePaymentMethodSpecificInput)
    cardPaymentMethodSpecificInput = try read(.cardPaymentMethodSpecificInput)
    paymentLinkSpecificInput = try read(.paymentLinkSpecificInput)
    (displayQRCode, isReusableLink) = (try read(.displayQRCode), try read(.isReusableLink))
    (expirationDate, description) = (try read(.expirationDate), try read(.description))
    (recipientName, paymentLinkOrder) = (try read(.recipientName), try read(.paymentLinkOrder))
  }

  package struct Details: Sendable, Decodable {
    package var description: String?
    /// RFC 3339 with the offset from UTC.
    package var expirationDate: String?
    package var recipientName: String?
  }

  package struct OlderOrder: Sendable, Decodable {
    package var amount: AmountOfMoney?
    package var merchantReference: String?
  }
}
