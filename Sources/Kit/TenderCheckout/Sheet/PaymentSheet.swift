public import TenderPayments
public import TenderSheet

/// The input of a sheet: the server's payment request, and the quote whose total it shows.
public struct PreparedSheet: Sendable, Hashable {
  /// The basket to pay.
  public let basket: BasketID
  /// The quote whose total the request shows.
  public let quote: QuoteID
  /// What the sheet is opened with.
  public var request: PaymentRequest
  /// The basket's, for the errors that the device finds by itself; nil where the server names none.
  public let locale: ShopperLocale?
  /// A guest's token of an earlier order, sent with the payment.
  public var guestToken: String?

  /// A basket that is ready to be shown.
  public init(
    basket: BasketID, quote: QuoteID, request: PaymentRequest, locale: ShopperLocale? = nil, guestToken: String? = nil
  ) {
    self.locale = locale
    self.guestToken = guestToken
    self.basket = basket
    self.quote = quote
    self.request = request
  }

  /// The service type that matches the request's shipping type.
  public var service: ServiceType {
    switch request.shippingType {
    case .storePickup: .collection
    case .servicePickup: .servicePickup
    case .delivery: .delivery
    case .shipping: .shipping
    case nil: .noFulfillment
    }
  }

  var billingRequired: Bool { !request.requiredBillingContactFields.isEmpty }
}

/// The device's input to show a sheet.
public struct SheetOpening: Sendable, Hashable {
  /// As in the app's entitlement.
  public let merchantIdentifier: String
  /// What the sheet shows when it opens.
  public let request: PaymentRequest
  /// The sheet's contact when it opens; devices use address, e-mail and phone.
  public let contact: FullContact?

  /// The input to show a sheet.
  public init(merchantIdentifier: String, request: PaymentRequest, contact: FullContact? = nil) {
    self.merchantIdentifier = merchantIdentifier
    self.request = request
    self.contact = contact
  }
}

/// The device's payment sheet, as two functions. The folder `PassKit` implements it with PassKit; tests use their own.
public struct PaymentSheet: Sendable {
  /// Shows the sheet; false when the device refuses. The sheet passes the shopper's actions to the conversation.
  public let present: @Sendable (_ opening: SheetOpening, _ conversation: SheetConversation) async -> Bool
  /// Dismisses the sheet.
  public let dismiss: @Sendable () async -> Void

  /// A sheet that calls these functions.
  public init(
    present: @escaping @Sendable (_ opening: SheetOpening, _ conversation: SheetConversation) async -> Bool,
    dismiss: @escaping @Sendable () async -> Void
  ) {
    self.present = present
    self.dismiss = dismiss
  }
}

/// Wallet's order tracking: what a device needs to track an order. Apple's `PKPaymentOrderDetails`.
public struct OrderTracking: Sendable, Hashable {
  /// As registered with Apple.
  public let orderTypeIdentifier: String
  /// The merchant's name for the order, unique in its type.
  public let orderIdentifier: String
  /// https.
  public let webServiceURL: String
  /// At least 16 characters; it grants access to the order.
  public let authenticationToken: String

  /// An order that Wallet can track.
  public init(
    orderTypeIdentifier: String, orderIdentifier: String, webServiceURL: String, authenticationToken: String
  ) {
    self.orderTypeIdentifier = orderTypeIdentifier
    self.orderIdentifier = orderIdentifier
    self.webServiceURL = webServiceURL
    self.authenticationToken = authenticationToken
  }
}

/// The sheet's answer to an authorization.
public struct AuthorizationAnswer: Sendable, Hashable {
  /// What the sheet shows.
  public let completion: PaymentCompletion
  /// Given with a success, if the app provides it.
  public let tracking: OrderTracking?

  /// How the payment ended, and the order that Wallet tracks.
  public init(_ completion: PaymentCompletion, tracking: OrderTracking? = nil) {
    self.completion = completion
    self.tracking = tracking
  }
}
