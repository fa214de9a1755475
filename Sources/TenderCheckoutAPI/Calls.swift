public import TenderPayments

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
