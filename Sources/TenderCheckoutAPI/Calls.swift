public import TenderPayments
public import TenderSheet

// The bodies of the calls to `/applepay/*`. A change of the sheet is sent as TenderSheet's own value.

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

/// `PUT /applepay/basket/{id}/details`: what the shopper decides before the sheet opens.
public struct DetailsCall: Sendable, Hashable, Codable {
  public let serviceType: ServiceType
  /// When the shopper wants it; the merchant's own spelling, passed on unread.
  public let requestedFor: String?
  public let note: String?
  /// Where it goes, if the caller knows; the server keeps only the zone.
  public let contact: RedactedContact?

  public init(
    serviceType: ServiceType, requestedFor: String? = nil, note: String? = nil, contact: RedactedContact? = nil
  ) {
    self.serviceType = serviceType
    self.requestedFor = requestedFor
    self.note = note
    self.contact = contact
  }
}
