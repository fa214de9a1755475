public import TenderPayments

/// The body of `PUT /v2/{merchantId}/baskets/{basketId}`: what is for sale, and the rules by which the sheet prices it.
///
/// Amounts are whole minor units of `currencyCode`. Properties that are not listed here are refused by name.
public struct BasketDocument: Sendable, Hashable, Codable {
  public var currencyCode: Currency
  /// The merchant's country, ISO 3166-1 alpha-2.
  public var countryCode: String
  /// The merchant's own name for the order, as the acquirer shows it.
  public var merchantReference: String
  /// As on the card statement; the label of the total.
  public var businessName: String
  /// What the shopper may choose from: `delivery`, `collection`, `shipping`.
  public var serviceTypes: [String]
  /// What the sheet opens with; one of `serviceTypes`, the first if absent.
  public var serviceType: String?
  public var items: [Item]
  public var fees: [Fee]
  /// Where there is delivery. No zones: everywhere, by every method.
  public var zones: [Zone]
  public var shippingMethods: [Method]
  public var coupons: [Coupon]
  /// A code that the shopper entered on the merchant's page. The sheet opens with it, unless it is no good.
  public var couponCode: String?
  /// When the shopper wants it; passed on unread.
  public var requestedFor: String?
  public var note: String?
  /// The merchant's reference of a signed-in shopper; without one the order is a guest's.
  public var customer: String?
  public var capture: CaptureMode
  /// The price is not known yet: the sheet shows it as pending, and the payment token is signed for zero.
  public var pending: Bool
  public var billingRequired: Bool
  /// Issuer countries; empty for all.
  public var supportedCountries: [String]
  /// Where the merchant prices updates by itself, with a signed call and five seconds.
  public var quoteURL: String?

  public init(
    currencyCode: Currency, countryCode: String, merchantReference: String, businessName: String,
    serviceTypes: [String], serviceType: String? = nil, items: [Item], fees: [Fee] = [], zones: [Zone] = [],
    shippingMethods: [Method] = [], coupons: [Coupon] = [], couponCode: String? = nil, requestedFor: String? = nil,
    note: String? = nil, customer: String? = nil, capture: CaptureMode = .immediate, pending: Bool = false,
    billingRequired: Bool = false, supportedCountries: [String] = [], quoteURL: String? = nil
  ) {
    self.currencyCode = currencyCode
    self.countryCode = countryCode
    self.merchantReference = merchantReference
    self.businessName = businessName
    self.serviceTypes = serviceTypes
    self.serviceType = serviceType
    self.items = items
    self.fees = fees
    self.zones = zones
    self.shippingMethods = shippingMethods
    self.coupons = coupons
    self.couponCode = couponCode
    self.requestedFor = requestedFor
    self.note = note
    self.customer = customer
    self.capture = capture
    self.pending = pending
    self.billingRequired = billingRequired
    self.supportedCountries = supportedCountries
    self.quoteURL = quoteURL
  }

  public struct Item: Sendable, Hashable, Codable {
    public var id: String
    public var label: String
    public var unitAmount: Int64
    public var quantity: Int64
    /// The zones in which the item can be had; nil for all.
    public var availableIn: [String]?

    public init(id: String, label: String, unitAmount: Int64, quantity: Int64 = 1, availableIn: [String]? = nil) {
      self.id = id
      self.label = label
      self.unitAmount = unitAmount
      self.quantity = quantity
      self.availableIn = availableIn
    }
  }

  public struct Fee: Sendable, Hashable, Codable {
    public var label: String
    public var amount: Int64
    /// Nil for all.
    public var serviceTypes: [String]?
    /// `credit`, `debit`, `prepaid`, `store`, `unknown`; nil for all.
    public var paymentMethodTypes: [String]?

    public init(label: String, amount: Int64, serviceTypes: [String]? = nil, paymentMethodTypes: [String]? = nil) {
      self.label = label
      self.amount = amount
      self.serviceTypes = serviceTypes
      self.paymentMethodTypes = paymentMethodTypes
    }
  }

  public struct Zone: Sendable, Hashable, Codable {
    public var id: String
    public var countryCode: String
    /// The beginnings of its postal codes; empty for the whole country.
    public var postalPrefixes: [String]
    /// Identifiers of shipping methods; empty for all.
    public var methods: [String]

    public init(id: String, countryCode: String, postalPrefixes: [String] = [], methods: [String] = []) {
      self.id = id
      self.countryCode = countryCode
      self.postalPrefixes = postalPrefixes
      self.methods = methods
    }
  }

  public struct Method: Sendable, Hashable, Codable {
    public var identifier: String
    public var label: String
    public var detail: String
    public var amount: Int64
    /// The method costs nothing from this value of the goods.
    public var freeFrom: Int64?

    public init(identifier: String, label: String, detail: String = "", amount: Int64, freeFrom: Int64? = nil) {
      self.identifier = identifier
      self.label = label
      self.detail = detail
      self.amount = amount
      self.freeFrom = freeFrom
    }
  }

  /// Takes off either hundredths of a percent of the goods or an amount.
  public struct Coupon: Sendable, Hashable, Codable {
    public var code: String
    public var label: String
    public var percentBasisPoints: Int64?
    public var amount: Int64?
    public var expiresAt: WireTime?

    public init(
      code: String, label: String, percentBasisPoints: Int64? = nil, amount: Int64? = nil, expiresAt: WireTime? = nil
    ) {
      self.code = code
      self.label = label
      self.percentBasisPoints = percentBasisPoints
      self.amount = amount
      self.expiresAt = expiresAt
    }
  }
}
