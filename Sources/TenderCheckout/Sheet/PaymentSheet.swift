public import TenderPayments
public import TenderSheet

/// What a sheet is opened with: the server's payment request, and the quote whose total it shows.
public struct PreparedSheet: Sendable, Hashable {
  public let basket: BasketID
  public let quote: QuoteID
  public var request: PaymentRequest

  public init(basket: BasketID, quote: QuoteID, request: PaymentRequest) {
    self.basket = basket
    self.quote = quote
    self.request = request
  }

  /// What the merchant does with the goods, in the sheet's words.
  public var service: ServiceType {
    switch request.shippingType {
    case .storePickup, .servicePickup: .collection
    case .delivery: .delivery
    case .shipping: .shipping
    }
  }

  var billingRequired: Bool { !request.requiredBillingContactFields.isEmpty }
}

/// What the device needs to show a sheet.
public struct SheetOpening: Sendable, Hashable {
  /// As in the app's entitlement.
  public let merchantIdentifier: String
  public let request: PaymentRequest
  /// What stands in the sheet's contact when it opens; devices honour address, e-mail and phone.
  public let contact: FullContact?

  public init(merchantIdentifier: String, request: PaymentRequest, contact: FullContact? = nil) {
    self.merchantIdentifier = merchantIdentifier
    self.request = request
    self.contact = contact
  }
}

/// The device's payment sheet, as two functions. `TenderPassKit` has PassKit's; tests play their own.
public struct PaymentSheet: Sendable {
  /// Shows the sheet; false when the device refuses. Whatever the shopper does there is told to the conversation.
  public let present: @Sendable (_ opening: SheetOpening, _ conversation: SheetConversation) async -> Bool
  /// Takes the sheet away.
  public let dismiss: @Sendable () async -> Void

  public init(
    present: @escaping @Sendable (_ opening: SheetOpening, _ conversation: SheetConversation) async -> Bool,
    dismiss: @escaping @Sendable () async -> Void
  ) {
    self.present = present
    self.dismiss = dismiss
  }
}

/// Wallet's order tracking: what a device needs to follow an order. Apple's `PKPaymentOrderDetails`.
public struct OrderTracking: Sendable, Hashable {
  public let orderTypeIdentifier: String
  public let orderIdentifier: String
  /// https.
  public let webServiceURL: String
  public let authenticationToken: String

  public init(
    orderTypeIdentifier: String, orderIdentifier: String, webServiceURL: String, authenticationToken: String
  ) {
    self.orderTypeIdentifier = orderTypeIdentifier
    self.orderIdentifier = orderIdentifier
    self.webServiceURL = webServiceURL
    self.authenticationToken = authenticationToken
  }
}

/// How the sheet is told that the payment ended.
public struct AuthorizationAnswer: Sendable, Hashable {
  public let completion: PaymentCompletion
  /// With a success, if the app has it.
  public let tracking: OrderTracking?

  public init(_ completion: PaymentCompletion, tracking: OrderTracking? = nil) {
    self.completion = completion
    self.tracking = tracking
  }
}
