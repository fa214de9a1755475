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

extension ContactField {
  /// What a sheet asks for unless the basket chooses its fields.
  public static let usual: [ContactField] = [.name, .phone, .email]
}

extension ServiceType {
  /// The fields that a sheet requests in the shipping contact, in Apple's order: those that the basket chose, and the
  /// address where the order needs one.
  ///
  /// Phone and e-mail never come in the billing contact, so collection asks for them here as well.
  public func shippingFields(_ chosen: [ContactField] = ContactField.usual) -> [ContactField] {
    ContactField.allCases.filter { chosen.contains($0) || $0 == .postalAddress && needsAddress }
  }
}
