public import TenderPayments
public import TenderSheet

// The answers of `/applepay/*`, written by the server and read by the kits.

/// `GET /applepay/metadata`: what a page of this domain can offer.
public struct MetadataAnswer: Sendable, Hashable, Codable {
  /// Whether the merchant accepts Apple Pay.
  public let enabled: Bool
  /// The Apple environment that the server uses.
  public let environment: TenderPayments.Environment
  /// The merchant's identifier at Apple.
  public let merchantIdentifier: String
  /// The merchant's name on the sheet.
  public let displayName: String
  /// The merchant's country, ISO 3166-1 alpha-2.
  public let countryCode: String
  /// The currency of its prices, ISO 4217.
  public let currencyCode: String
  /// In the order of preference.
  public let supportedNetworks: [CardNetwork]
  /// The accepted kinds of card.
  public let merchantCapabilities: [MerchantCapability]
  /// Icons of the shop, for the sheet on a Mac.
  public let touchIcons: [TouchIcon]
  /// The version of Apple Pay JS that the kit asks for.
  public let apiVersion: Int
  /// The script that stands in for Apple's: only in `simulated`.
  public let simulatedSession: String?

  /// An icon of the shop, for the sheet on a Mac.
  public struct TouchIcon: Sendable, Hashable, Codable {
    /// The URL of the icon.
    public let href: String

    /// An icon at this URL.
    public init(href: String) { self.href = href }
  }

  /// What a merchant offers.
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
  /// The basket.
  public let basketId: BasketID
  /// The quote whose total the request shows.
  public let quoteId: QuoteID
  /// The version of Apple Pay JS that the request is written for.
  public let applePayVersion: Int
  /// What the sheet is opened with.
  public let request: PaymentRequest
  /// The version of Apple Pay JS with which each of the request's networks came, by its name; without those that the
  /// server does not know. A browser refuses a request that names a network unknown to it.
  public let networkVersions: [String: Int]?
  /// The language tag of the basket's shopper.
  public let locale: String?
  /// What a page may check of an address before it asks the server; nil for nothing.
  public let addressRules: [AddressRule]?

  /// The answer for a basket.
  public init(
    basketId: BasketID, quoteId: QuoteID, applePayVersion: Int, request: PaymentRequest, locale: String? = nil,
    addressRules: [AddressRule] = []
  ) {
    self.locale = locale
    self.addressRules = addressRules.isEmpty ? nil : addressRules
    self.basketId = basketId
    self.quoteId = quoteId
    self.applePayVersion = applePayVersion
    self.request = request
    networkVersions = Dictionary(
      request.supportedNetworks.compactMap { network in network.facts.map { (network.rawValue, $0.webVersion) } },
      uniquingKeysWith: { first, _ in first })
  }
}

/// `POST /applepay/basket/{id}/update`: what the sheet shows now, and the quote that its payment must name.
public struct UpdateAnswer: Sendable, Encodable {
  /// The quote whose total the sheet now shows.
  public let quoteId: QuoteID
  /// What the sheet shows from now on.
  public let update: SheetUpdate

  /// The answer to a change.
  public init(quoteId: QuoteID, update: SheetUpdate) {
    self.quoteId = quoteId
    self.update = update
  }
}

/// `POST /applepay/basket/{id}/validatepostalcode`.
public struct PostalCodeAnswer: Sendable, Hashable, Codable {
  /// Whether the basket can be delivered there.
  public let deliverable: Bool
  /// The answer.
  public init(deliverable: Bool) { self.deliverable = deliverable }
}

/// `POST /applepay/payment` and `GET /applepay/payment/{basketId}`: how the payment ended, or that its outcome is not
/// known yet.
public struct PaymentAnswer: Sendable, Hashable, Codable {
  /// Tender's name for the order.
  public let orderId: OrderID
  /// Tender's name for the payment.
  public let paymentId: PaymentID
  /// The payment's status.
  public let status: PaymentStatus
  /// Lets a guest see the order: a JWT that the merchant checks against `/applepay/jwks.json`.
  public let guestToken: String?
  /// Apple's identifier of the transaction: the payment token's `header.transactionId`, 64 lowercase hexadecimal digits.
  public let transactionIdentifier: String?
  /// The card as the sheet showed it, such as `Visa 0492`: for display only, because nothing signs it.
  public let card: String?
  /// The card's network as Apple names it, such as `Visa`.
  public let cardNetwork: String?
  /// The kind of card, as far as the device reports it.
  public let cardType: PaymentMethodType?
  /// What was paid.
  public let receipt: Receipt

  /// What was paid, for the confirmation.
  public struct Receipt: Sendable, Hashable, Codable {
    /// In major units, with the currency's decimals.
    public let amount: String
    /// True where `amount` is what is held, because the sheet showed a pending total; nil otherwise.
    public let estimated: Bool?
    /// ISO 4217.
    public let currency: String
    /// The merchant's own name for the order.
    public let merchantReference: String
    /// What the amount is made of, as the sheet showed it.
    public let lines: [Line]?
    /// When the order is expected; nil when the merchant has not said.
    public let expectedDates: ExpectedDates?
    /// The order's page in the merchant's shop.
    public let orderURL: String?

    /// A receipt.
    public init(
      amount: String, currency: String, merchantReference: String, estimated: Bool? = nil, lines: [Line]? = nil,
      expectedDates: ExpectedDates? = nil, orderURL: String? = nil
    ) {
      self.amount = amount
      self.estimated = estimated
      self.currency = currency
      self.merchantReference = merchantReference
      self.lines = lines
      self.expectedDates = expectedDates
      self.orderURL = orderURL
    }
  }

  /// A line of a receipt.
  public struct Line: Sendable, Hashable, Codable {
    /// As the sheet showed it.
    public let label: String
    /// In major units; negative for a discount.
    public let amount: String
    /// True where the sheet showed it as pending; nil otherwise.
    public let pending: Bool?

    /// A line.
    public init(label: String, amount: String, pending: Bool? = nil) {
      self.label = label
      self.amount = amount
      self.pending = pending
    }
  }

  /// When an order is expected: each a day as `2026-11-24` or a moment as `2026-11-24T19:30:00Z`.
  public struct ExpectedDates: Sendable, Hashable, Codable {
    /// When it leaves the merchant.
    public let dispatch: String?
    /// When it is at the shopper's address.
    public let arrival: String?
    /// From when it can be collected.
    public let collection: String?

    /// Nil for what the merchant has not said.
    public init(dispatch: String? = nil, arrival: String? = nil, collection: String? = nil) {
      self.dispatch = dispatch
      self.arrival = arrival
      self.collection = collection
    }
  }

  /// How a payment ended.
  public init(
    orderId: OrderID, paymentId: PaymentID, status: PaymentStatus, guestToken: String?,
    transactionIdentifier: String? = nil, card: CardSummary? = nil, receipt: Receipt
  ) {
    self.transactionIdentifier = transactionIdentifier
    (self.card, cardNetwork, cardType) = (card?.name, card?.network?.appleName, card?.type)
    self.orderId = orderId
    self.paymentId = paymentId
    self.status = status
    self.guestToken = guestToken
    self.receipt = receipt
  }
}
