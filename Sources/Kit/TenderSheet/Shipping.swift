public import TenderPayments

/// What the merchant does with the goods.
public enum ServiceType: String, Sendable, Hashable, Codable, CaseIterable {
  /// Delivered by the merchant.
  case delivery
  /// Collected by the shopper.
  case collection
  /// Sent by post.
  case shipping
  /// Picked up by the merchant at the shopper's address: laundry, a parcel.
  case servicePickup
  /// Nothing changes hands at an address: a ride, a ticket, a download.
  case noFulfillment = "none"

  /// Whether the order needs the shopper's address.
  public var needsAddress: Bool {
    switch self {
    case .delivery, .shipping, .servicePickup: true
    case .collection, .noFulfillment: false
    }
  }

  /// The sheet's wording for the service; nil where the sheet has none.
  public var shippingType: ShippingType? {
    switch self {
    case .delivery: .delivery
    case .collection: .storePickup
    case .shipping: .shipping
    case .servicePickup: .servicePickup
    case .noFulfillment: nil
    }
  }
}

/// The sheet's wording for the service.
public enum ShippingType: String, Sendable, Hashable, Codable, CaseIterable {
  /// Apple's values: goods that are sent, brought, fetched at the shop, or fetched by the merchant at the shopper's.
  case shipping, delivery, storePickup, servicePickup
}

/// A shipping method on the sheet. The first of a list is selected when the sheet opens.
public struct ShippingMethod: Sendable, Hashable {
  /// Not shown; comes back when the shopper selects the method.
  public let identifier: String
  /// What the sheet calls it.
  public let label: String
  /// The text under the label, such as the time of arrival.
  public let detail: String
  /// Never negative.
  public let amount: Amount
  /// The period of arrival; nil when it is not promised.
  public let dateRange: ShippingDateRange?

  /// A shipping method.
  public init(
    identifier: String, label: String, detail: String, amount: Amount, dateRange: ShippingDateRange? = nil
  ) {
    self.identifier = identifier
    self.label = label
    self.detail = detail
    self.amount = amount
    self.dateRange = dateRange
  }
}

/// A period of arrival.
public struct ShippingDateRange: Sendable, Hashable, Codable {
  /// The first day or hour.
  public let start: ShippingDate
  /// The last day or hour.
  public let end: ShippingDate

  /// From the one to the other, both included.
  public init(start: ShippingDate, end: ShippingDate) {
    self.start = start
    self.end = end
  }

  private enum CodingKeys: String, CodingKey {
    case start = "startDateComponents"
    case end = "endDateComponents"
  }
}

/// A date of the Gregorian calendar in Apple's `ApplePayDateComponents`: a day requires month and year.
public struct ShippingDate: Sendable, Hashable, Codable {
  /// The whole year: 2027.
  public let years: Int
  /// 1 to 12.
  public let months: Int?
  /// From 1.
  public let days: Int?
  /// 0 to 23.
  public let hours: Int?

  /// A date with the given parts.
  public init(years: Int, months: Int? = nil, days: Int? = nil, hours: Int? = nil) {
    self.years = years
    self.months = months
    self.days = days
    self.hours = hours
  }
}
