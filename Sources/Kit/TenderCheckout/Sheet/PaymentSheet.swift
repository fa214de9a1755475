public import TenderPayments
public import TenderSheet

/// What a sheet is opened with: the server's payment request, and the quote whose total it shows.
public struct PreparedSheet: Sendable, Hashable {
  /// The basket to pay.
  public let basket: BasketID
  /// The quote whose total the request shows.
  public let quote: QuoteID
  /// What the sheet is opened with.
  public var request: PaymentRequest

  /// A basket that is ready to be shown.
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
  /// What the sheet shows when it opens.
  public let request: PaymentRequest
  /// What stands in the sheet's contact when it opens; devices honour address, e-mail and phone.
  public let contact: FullContact?

  /// What a device is asked to show.
  public init(merchantIdentifier: String, request: PaymentRequest, contact: FullContact? = nil) {
    self.merchantIdentifier = merchantIdentifier
    self.request = request
    self.contact = contact
  }
}

/// The device's payment sheet, as two functions. The folder `PassKit` has PassKit's; tests play their own.
public struct PaymentSheet: Sendable {
  /// Shows the sheet; false when the device refuses. Whatever the shopper does there is told to the conversation.
  public let present: @Sendable (_ opening: SheetOpening, _ conversation: SheetConversation) async -> Bool
  /// Takes the sheet away.
  public let dismiss: @Sendable () async -> Void

  /// A sheet that does what these functions do.
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
  /// As registered with Apple.
  public let orderTypeIdentifier: String
  /// The merchant's name for the order, unique in its type.
  public let orderIdentifier: String
  /// https.
  public let webServiceURL: String
  /// At least 16 characters; whoever has it may read the order.
  public let authenticationToken: String

  /// An order that Wallet can follow.
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
  /// What the sheet shows.
  public let completion: PaymentCompletion
  /// With a success, if the app has it.
  public let tracking: OrderTracking?

  /// How the payment ended, and the order that Wallet follows then.
  public init(_ completion: PaymentCompletion, tracking: OrderTracking? = nil) {
    self.completion = completion
    self.tracking = tracking
  }
}
