/// What a payment request may ask the shopper for: Apple's `ApplePayContactField`.
public enum ContactField: String, Sendable, Hashable, Codable, CaseIterable {
  case postalAddress, name, phone, email, phoneticName
}

/// What a sheet error may point at: Apple's `ApplePayErrorContactField`.
public enum ErrorContactField: String, Sendable, Hashable, Codable, CaseIterable {
  case phoneNumber, emailAddress, name, phoneticName, postalAddress, addressLines, locality, subLocality, postalCode
  case administrativeArea, subAdministrativeArea, country, countryCode
}

extension ServiceType {
  /// The fields without which an order of this kind cannot be carried out; nothing else is asked.
  ///
  /// Phone and e-mail never come in the billing contact, so collection asks for them here as well.
  public var requiredShippingFields: [ContactField] {
    needsAddress ? [.postalAddress, .name, .phone, .email] : [.name, .phone, .email]
  }
}
