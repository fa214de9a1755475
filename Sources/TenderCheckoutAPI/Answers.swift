public import TenderPayments
public import TenderSheet

// The answers of `/applepay/*`, as the server writes them and the kits read them.

/// `GET /applepay/metadata`: what a page of this domain may offer.
public struct MetadataAnswer: Sendable, Hashable, Codable {
  public let enabled: Bool
  public let environment: TenderPayments.Environment
  public let merchantIdentifier: String
  public let displayName: String
  public let countryCode: String
  public let currencyCode: String
  public let supportedNetworks: [CardNetwork]
  public let merchantCapabilities: [MerchantCapability]
  public let touchIcons: [TouchIcon]
  /// The version of Apple Pay JS that the kit asks for.
  public let apiVersion: Int
  /// The script that stands in for Apple's: only in `simulated`.
  public let simulatedSession: String?

  /// A picture of the shop, for the sheet on a Mac.
  public struct TouchIcon: Sendable, Hashable, Codable {
    public let href: String

    public init(href: String) { self.href = href }
  }

  public init(
    enabled: Bool, environment: TenderPayments.Environment, merchantIdentifier: String, displayName: String,
    countryCode: String, currencyCode: String, supportedNetworks: [CardNetwork],
    merchantCapabilities: [MerchantCapability],
    touchIcons: [TouchIcon], apiVersion: Int, simulatedSession: String?
  ) {
    self.enabled = enabled
    self.environment = environment
    self.merchantIdentifier = merchantIdentifier
    self.displayName = displayName
    self.countryCode = countryCode
    self.currencyCode = currencyCode
    self.supportedNetworks = supportedNetworks
    self.merchantCapabilities = merchantCapabilities
    self.touchIcons = touchIcons
    self.apiVersion = apiVersion
    self.simulatedSession = simulatedSession
  }
}

/// `GET /applepay/basket/{id}`, `PUT …/details`: the payment request for the sheet, and the quote it shows.
public struct BasketSheetAnswer: Sendable, Codable {
  public let basketId: BasketID
  public let quoteId: QuoteID
  public let applePayVersion: Int
  public let request: PaymentRequest

  public init(basketId: BasketID, quoteId: QuoteID, applePayVersion: Int, request: PaymentRequest) {
    self.basketId = basketId
    self.quoteId = quoteId
    self.applePayVersion = applePayVersion
    self.request = request
  }
}

/// `POST /applepay/basket/{id}/update`: what the sheet shows now, and the quote a payment of it must name.
public struct UpdateAnswer: Sendable, Encodable {
  public let quoteId: QuoteID
  public let update: SheetUpdate

  public init(quoteId: QuoteID, update: SheetUpdate) {
    self.quoteId = quoteId
    self.update = update
  }
}

/// `POST /applepay/basket/{id}/validatepostalcode`.
public struct PostalCodeAnswer: Sendable, Hashable, Codable {
  public let deliverable: Bool
  public init(deliverable: Bool) { self.deliverable = deliverable }
}

/// `POST /applepay/payment` and `GET /applepay/payment/{basketId}`: how the payment ended, or that nobody knows yet.
public struct PaymentAnswer: Sendable, Hashable, Codable {
  public let orderId: OrderID
  public let paymentId: PaymentID
  public let status: PaymentStatus
  /// Lets a guest see the order: a JWT that the merchant checks against `/applepay/jwks.json`.
  public let guestToken: String?
  public let receipt: Receipt

  /// What was paid, for the confirmation.
  public struct Receipt: Sendable, Hashable, Codable {
    /// In major units, with the currency's decimals.
    public let amount: String
    public let currency: String
    public let merchantReference: String

    public init(amount: String, currency: String, merchantReference: String) {
      self.amount = amount
      self.currency = currency
      self.merchantReference = merchantReference
    }
  }

  public init(orderId: OrderID, paymentId: PaymentID, status: PaymentStatus, guestToken: String?, receipt: Receipt) {
    self.orderId = orderId
    self.paymentId = paymentId
    self.status = status
    self.guestToken = guestToken
    self.receipt = receipt
  }
}
