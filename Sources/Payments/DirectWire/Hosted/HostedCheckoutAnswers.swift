package import TenderPayments

/// Worldline's `CreateHostedCheckoutResponse`.
package struct CreateHostedCheckoutAnswer: Sendable, Hashable, Codable {
  /// What the shopper's browser brings back; the merchant compares it.
  package var returnMAC: String
  package var hostedCheckoutId: String
  /// Older SDKs put `https://payment.` in front of it.
  package var partialRedirectUrl: String
  package var redirectUrl: String
  package var merchantReference: String?
  package var invalidTokens: [String]?

  private enum CodingKeys: String, CodingKey {
    case returnMAC = "RETURNMAC"
    case hostedCheckoutId, partialRedirectUrl, redirectUrl, merchantReference, invalidTokens
  }

  package init(
    id: String, returnMAC: String, redirectUrl: String, partialRedirectUrl: String, merchantReference: String,
    invalidTokens: [String]?
  ) {
    hostedCheckoutId = id
    self.returnMAC = returnMAC
    self.redirectUrl = redirectUrl
    self.partialRedirectUrl = partialRedirectUrl
    self.merchantReference = merchantReference
    self.invalidTokens = invalidTokens
  }
}

/// Worldline's `GetHostedCheckoutResponse`.
package struct HostedCheckoutAnswer: Sendable, Hashable, Codable {
  package var status: Status
  package var createdPaymentOutput: Output?

  package init(status: Status, createdPaymentOutput: Output? = nil) {
    self.status = status
    self.createdPaymentOutput = createdPaymentOutput
  }

  package enum Status: String, Sendable, Hashable, Codable {
    case inProgress = "IN_PROGRESS"
    case paymentCreated = "PAYMENT_CREATED"
    /// By the shopper, or by time.
    case cancelled = "CANCELLED_BY_CONSUMER"
  }

  /// Worldline's `CreatedPaymentOutput`.
  package struct Output: Sendable, Hashable, Codable {
    package var payment: DirectPayment
    package var paymentStatusCategory: Category

    package init(payment: DirectPayment, category: Category) {
      self.payment = payment
      paymentStatusCategory = category
    }
  }

  package enum Category: String, Sendable, Hashable, Codable {
    case successful = "SUCCESSFUL"
    case rejected = "REJECTED"
    case unknown = "STATUS_UNKNOWN"
  }
}

/// Worldline's `PaymentLinkResponse`.
package struct PaymentLinkAnswer: Sendable, Hashable, Codable {
  package var paymentLinkId: String
  package var redirectionUrl: String
  package var status: Status
  /// RFC 3339.
  package var expirationDate: String
  package var isReusableLink = false
  package var paymentLinkOrder: Order
  package var recipientName: String?
  /// The payment that was made with the link.
  package var paymentId: String?
  package var paymentLinkEvents: [Event]
  /// An SVG picture of the address.
  package var qrCodeBase64: String?

  package init(
    id: String, redirectionUrl: String, status: Status, expires: Timestamp, order: Order, events: [Event]
  ) {
    paymentLinkId = id
    self.redirectionUrl = redirectionUrl
    self.status = status
    expirationDate = expires.description
    paymentLinkOrder = order
    paymentLinkEvents = events
  }

  package enum Status: String, Sendable, Hashable, Codable {
    case active = "ACTIVE"
    case paid = "PAID"
    case cancelled = "CANCELLED"
    case expired = "EXPIRED"
  }

  package struct Order: Sendable, Hashable, Codable {
    package var amount: AmountOfMoney
    package var merchantReference: String

    package init(amount: AmountOfMoney, merchantReference: String) {
      self.amount = amount
      self.merchantReference = merchantReference
    }
  }

  package struct Event: Sendable, Hashable, Codable {
    package var type: String
    package var dateTime: String
    package var details: String?

    package init(type: String, at time: Timestamp) {
      self.type = type
      dateTime = time.description
    }
  }
}
