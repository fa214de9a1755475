public import Foundation

// The device's results. Apps cannot create these; the stub's controller can.

open class PKPaymentMethod: NSObject {
  public internal(set) var displayName: String?
  public internal(set) var network: PKPaymentNetwork?
  public internal(set) var type: PKPaymentMethodType = .unknown
  public internal(set) var billingAddress: CNContact?
}

open class PKPaymentToken: NSObject {
  public internal(set) var paymentMethod = PKPaymentMethod()
  public internal(set) var transactionIdentifier = ""
  public internal(set) var paymentData = Data()
}

open class PKPayment: NSObject {
  public internal(set) var token = PKPaymentToken()
  public internal(set) var billingContact: PKContact?
  public internal(set) var shippingContact: PKContact?
  public internal(set) var shippingMethod: PKShippingMethod?
}

open class PKPaymentRequestUpdate: NSObject {
  public var status: PKPaymentAuthorizationStatus = .success
  public var paymentSummaryItems: [PKPaymentSummaryItem]
  public var shippingMethods: [PKShippingMethod] = []

  public init(paymentSummaryItems: [PKPaymentSummaryItem]) { self.paymentSummaryItems = paymentSummaryItems }
}

open class PKPaymentRequestPaymentMethodUpdate: PKPaymentRequestUpdate {
  public var errors: [any Error]?

  public init(errors: [any Error]?, paymentSummaryItems: [PKPaymentSummaryItem]) {
    self.errors = errors
    super.init(paymentSummaryItems: paymentSummaryItems)
  }
}

open class PKPaymentRequestShippingMethodUpdate: PKPaymentRequestUpdate {}

open class PKPaymentRequestShippingContactUpdate: PKPaymentRequestUpdate {
  public var errors: [any Error]?

  public init(
    errors: [any Error]?, paymentSummaryItems: [PKPaymentSummaryItem], shippingMethods: [PKShippingMethod]
  ) {
    self.errors = errors
    super.init(paymentSummaryItems: paymentSummaryItems)
    self.shippingMethods = shippingMethods
  }
}

open class PKPaymentRequestCouponCodeUpdate: PKPaymentRequestUpdate {
  public var errors: [any Error]?

  public init(
    errors: [any Error]?, paymentSummaryItems: [PKPaymentSummaryItem], shippingMethods: [PKShippingMethod]
  ) {
    self.errors = errors
    super.init(paymentSummaryItems: paymentSummaryItems)
    self.shippingMethods = shippingMethods
  }
}

open class PKPaymentMerchantSession: NSObject {
  public let dictionary: [AnyHashable: Any]
  public init(dictionary: [AnyHashable: Any]) { self.dictionary = dictionary }
}

open class PKPaymentRequestMerchantSessionUpdate: NSObject {
  public var status: PKPaymentAuthorizationStatus
  public var session: PKPaymentMerchantSession?

  public init(status: PKPaymentAuthorizationStatus, merchantSession session: PKPaymentMerchantSession?) {
    (self.status, self.session) = (status, session)
  }
}

open class PKPaymentOrderDetails: NSObject {
  public var orderTypeIdentifier: String
  public var orderIdentifier: String
  public var webServiceURL: URL
  public var authenticationToken: String

  public init(orderTypeIdentifier: String, orderIdentifier: String, webServiceURL: URL, authenticationToken: String) {
    self.orderTypeIdentifier = orderTypeIdentifier
    self.orderIdentifier = orderIdentifier
    self.webServiceURL = webServiceURL
    self.authenticationToken = authenticationToken
  }
}

open class PKPaymentAuthorizationResult: NSObject {
  public var status: PKPaymentAuthorizationStatus
  public var errors: [any Error]?
  public var orderDetails: PKPaymentOrderDetails?

  public init(status: PKPaymentAuthorizationStatus, errors: [any Error]?) {
    (self.status, self.errors) = (status, errors)
  }
}
