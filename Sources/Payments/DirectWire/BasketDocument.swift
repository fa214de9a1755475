package import TenderPayments

/// The body of `PUT /v2/{merchantId}/baskets/{basketId}`: what is for sale, and the rules by which the sheet prices it.
///
/// Amounts are whole minor units of `currencyCode`. Properties that are not listed here are refused by name.
package struct BasketDocument: Sendable, Hashable, Codable {
  package var currencyCode: Currency
  /// The merchant's country, ISO 3166-1 alpha-2.
  package var countryCode: String
  /// The merchant's own name for the order, as the acquirer shows it.
  package var merchantReference: String
  /// As on the card statement; the label of the total.
  package var businessName: String
  /// What the shopper may choose from: `delivery`, `collection`, `shipping`, `servicePickup`, `none`.
  package var serviceTypes: [String]
  /// What the sheet opens with; one of `serviceTypes`, the first if absent.
  package var serviceType: String?
  package var items: [Item]
  package var fees: [Fee] = []
  /// Where there is delivery. No zones: everywhere, by every method.
  package var zones: [Zone] = []
  package var shippingMethods: [Method] = []
  package var coupons: [Coupon] = []
  /// A code that the shopper entered on the merchant's page. The sheet opens with it if it is valid.
  package var couponCode: String?
  /// When the shopper wants it; passed on unread.
  package var requestedFor: String?
  package var note: String?
  /// The merchant's reference of a signed-in shopper; without one the order is a guest's.
  package var customer: String?
  package var capture: CaptureMode = .immediate
  /// What the provider is asked for; nil for the route's usual.
  package var authorization: AuthorizationType?
  /// The price is not known yet: the sheet shows it as pending, and the payment token is signed for zero.
  package var pending: Bool = false
  /// What is authorized while the price is not known yet, in minor units; a capture may be less. Without it a pending
  /// total cannot be paid.
  package var estimate: Int64?
  /// What the sheet asks for in the shipping contact: `name`, `phone`, `email`, `phoneticName`, `postalAddress`; nil for
  /// the merchant's usual. An order that goes to an address asks for that in any case.
  package var contactFields: [String]?
  /// How the sheet lists the goods; nil for the merchant's usual.
  package var lines: Lines?
  /// Nil for what the merchant's configuration says.
  package var addressCheck: AddressCheck?
  /// The shopper's language and region, a tag of BCP 47: `de-AT`; nil for the merchant's usual.
  package var locale: String?
  package var billingRequired: Bool = false
  /// Issuer countries; empty for all.
  package var supportedCountries: [String] = []
  /// Where the merchant prices updates by itself, with a signed call and five seconds.
  package var quoteURL: String?
  /// The order's page in the merchant's shop, for the receipt.
  package var orderURL: String?
  /// For the receipt; a shipping method may have its own.
  package var expectedDates: ExpectedDates?
  /// One of the merchant's routes, connector and account; by its rules if absent.
  package var route: String?
  /// What the shopper agrees to beyond this payment.
  package var agreement: AgreementDocument?

  /// A document with the properties that every basket has. The others are optional; set them afterwards.
  package init(
    currencyCode: Currency, countryCode: String, merchantReference: String, businessName: String,
    serviceTypes: [String], items: [Item]
  ) {
    self.currencyCode = currencyCode
    self.countryCode = countryCode
    self.merchantReference = merchantReference
    self.businessName = businessName
    self.serviceTypes = serviceTypes
    self.items = items
  }

  package enum Lines: String, Sendable, Hashable, Codable, CaseIterable {
    /// A line for each item.
    case items
    /// One line for all items.
    case subtotal
  }

  package enum AddressCheck: String, Sendable, Hashable, Codable, CaseIterable {
    /// Town, state and postal code as the country's post needs them.
    case country
    /// Country and street alone.
    case none
  }

  package struct Item: Sendable, Hashable, Codable {
    package var id: String
    package var label: String
    package var unitAmount: Int64
    package var quantity: Int64
    /// The zones in which the item can be had; nil for all.
    package var availableIn: [String]?

    package init(id: String, label: String, unitAmount: Int64, quantity: Int64 = 1, availableIn: [String]? = nil) {
      self.id = id
      self.label = label
      self.unitAmount = unitAmount
      self.quantity = quantity
      self.availableIn = availableIn
    }
  }

  /// Adds an amount, or a rate of the goods less their discount.
  package struct Fee: Sendable, Hashable, Codable {
    package var label: String
    package var amount: Int64?
    /// Hundredths of a percent; rounded to the minor unit, half away from zero.
    package var basisPoints: Int64?
    /// Nil for all.
    package var serviceTypes: [String]?
    /// `credit`, `debit`, `prepaid`, `store`, `unknown`; nil for all.
    package var paymentMethodTypes: [String]?
    /// The zones in which it is charged; nil for all, and where there is no address.
    package var zones: [String]?

    package init(
      label: String, amount: Int64? = nil, basisPoints: Int64? = nil, serviceTypes: [String]? = nil,
      paymentMethodTypes: [String]? = nil, zones: [String]? = nil
    ) {
      self.label = label
      self.amount = amount
      self.basisPoints = basisPoints
      self.serviceTypes = serviceTypes
      self.paymentMethodTypes = paymentMethodTypes
      self.zones = zones
    }
  }

  package struct Zone: Sendable, Hashable, Codable {
    package var id: String
    package var countryCode: String
    /// The beginnings of its postal codes; empty for the whole country.
    package var postalPrefixes: [String]
    /// Identifiers of shipping methods; empty for all.
    package var methods: [String]

    package init(id: String, countryCode: String, postalPrefixes: [String] = [], methods: [String] = []) {
      self.id = id
      self.countryCode = countryCode
      self.postalPrefixes = postalPrefixes
      self.methods = methods
    }
  }

  package struct Method: Sendable, Hashable, Codable {
    package var identifier: String
    package var label: String
    package var detail: String
    package var amount: Int64
    /// The method costs nothing from this value of the goods.
    package var freeFrom: Int64?
    /// For the receipt of an order that goes this way.
    package var expectedDates: ExpectedDates?

    package init(identifier: String, label: String, detail: String = "", amount: Int64, freeFrom: Int64? = nil) {
      self.identifier = identifier
      self.label = label
      self.detail = detail
      self.amount = amount
      self.freeFrom = freeFrom
    }
  }

  /// Takes off either hundredths of a percent of the goods or an amount.
  package struct Coupon: Sendable, Hashable, Codable {
    package var code: String
    package var label: String
    package var percentBasisPoints: Int64?
    package var amount: Int64?
    package var expiresAt: WireTime?

    package init(
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
