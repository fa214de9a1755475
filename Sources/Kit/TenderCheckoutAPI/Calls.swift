public import TenderPayments
public import TenderSheet

// The bodies of the calls to `/applepay/*`. A change of the sheet is sent as TenderSheet's own value.

/// `POST /applepay/validate`: the browser's validation URL is compared, never fetched.
public struct ValidateCall: Sendable, Hashable, Codable {
  /// The basket whose sheet is open.
  public let basketId: BasketID
  /// What the browser's `validatemerchant` named; apps have none.
  public let validationURL: String?
  /// For a page in a frame: the origin of the page in the address bar, or `null` if the browser does not tell it.
  public let topOrigin: String?

  /// Asks for a merchant session.
  public init(basketId: BasketID, validationURL: String? = nil, topOrigin: String? = nil) {
    self.basketId = basketId
    self.validationURL = validationURL
    self.topOrigin = topOrigin
  }
}

/// `POST /applepay/basket/{id}/validatepostalcode`.
public struct PostalCodeCall: Sendable, Hashable, Codable {
  /// As the shopper entered it.
  public let postalCode: String
  /// ISO 3166-1 alpha-2.
  public let countryCode: String

  /// A call for a place.
  public init(postalCode: String, countryCode: String) {
    self.postalCode = postalCode
    self.countryCode = countryCode
  }

  /// Reads the call; refuses a text that is too long for a contact's field.
  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    postalCode = try keys.limited(keys.decode(String.self, forKey: .postalCode), forKey: .postalCode)
    countryCode = try keys.limited(keys.decode(String.self, forKey: .countryCode), forKey: .countryCode)
  }
}

/// `PUT /applepay/basket/{id}/details`: the order details that the shopper chooses before the sheet opens.
public struct DetailsCall: Sendable, Hashable, Codable {
  /// What the merchant does with the goods.
  public let serviceType: ServiceType
  /// The requested time, in the merchant's format; passed on unread.
  public let requestedFor: String?
  /// A note for the merchant, such as the kitchen or the driver.
  public let note: String?
  /// The known address; the server keeps only the zone.
  public let contact: RedactedContact?

  /// The order details.
  public init(
    serviceType: ServiceType, requestedFor: String? = nil, note: String? = nil, contact: RedactedContact? = nil
  ) {
    self.serviceType = serviceType
    self.requestedFor = requestedFor
    self.note = note
    self.contact = contact
  }
}
