public import TenderPayments
public import TenderSheet

// The bodies of the calls to `/applepay/*`. An update's body is a ``SheetChange``.

/// `PUT /applepay/basket/{id}/details`: how and when the shopper wants it.
public struct DetailsCall: Sendable, Hashable, Codable {
  public let serviceType: ServiceType?
  /// RFC 3339, UTC.
  public let requestedFor: String?
  public let note: String?
  /// The merchant's own reference of a signed-in shopper.
  public let customer: String?

  public init(
    serviceType: ServiceType? = nil, requestedFor: String? = nil, note: String? = nil, customer: String? = nil
  ) {
    self.serviceType = serviceType
    self.requestedFor = requestedFor
    self.note = note
    self.customer = customer
  }
}

/// `POST /applepay/validate`: the browser's validation URL is compared, never fetched.
public struct ValidateCall: Sendable, Hashable, Codable {
  public let basketId: BasketID
  public let validationURL: String?

  public init(basketId: BasketID, validationURL: String? = nil) {
    self.basketId = basketId
    self.validationURL = validationURL
  }
}

/// `POST /applepay/basket/{id}/validatepostalcode`.
public struct PostalCodeCall: Sendable, Hashable, Codable {
  public let postalCode: String
  public let countryCode: String

  public init(postalCode: String, countryCode: String) {
    self.postalCode = postalCode
    self.countryCode = countryCode
  }
}
