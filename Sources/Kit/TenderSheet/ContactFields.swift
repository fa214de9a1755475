/// What a payment request may ask the shopper for: Apple's `ApplePayContactField`.
public enum ContactField: String, Sendable, Hashable, Codable, CaseIterable {
  /// Apple's names of the fields.
  case postalAddress, name, phone, email, phoneticName
}

/// What a sheet error may point at: Apple's `ApplePayErrorContactField`.
public enum ErrorContactField: String, Sendable, Hashable, Codable, CaseIterable {
  /// Apple's names of the fields.
  case phoneNumber, emailAddress, name, phoneticName, postalAddress, addressLines, locality, subLocality, postalCode
  /// Apple's names of the address fields.
  case administrativeArea, subAdministrativeArea, country, countryCode
}

extension ServiceType {
  /// The fields that an order of this kind requires; no others are requested.
  ///
  /// Phone and e-mail never come in the billing contact, so collection asks for them here as well.
  public var requiredShippingFields: [ContactField] {
    needsAddress ? [.postalAddress, .name, .phone, .email] : [.name, .phone, .email]
  }
}
