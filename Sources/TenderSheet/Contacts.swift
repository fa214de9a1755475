/// What the sheet tells of an address before the shopper has authorized: enough to price, not enough to deliver.
///
/// The keys are those of Apple's `ApplePayPaymentContact`; name, phone, e-mail and address lines are not read even if
/// a client sends them, so that nothing can be stored that the shopper has not given yet.
public struct RedactedContact: Sendable, Hashable {
  public let subLocality: String?
  public let locality: String?
  public let subAdministrativeArea: String?
  public let administrativeArea: String?
  /// The first part only in the United Kingdom and Canada, five digits in the United States.
  public let postalCode: String?
  /// ISO 3166-1 alpha-2, in capitals whatever the device wrote.
  public let countryCode: String?

  public init(
    subLocality: String? = nil, locality: String? = nil, subAdministrativeArea: String? = nil,
    administrativeArea: String? = nil, postalCode: String? = nil, countryCode: String? = nil
  ) {
    self.subLocality = subLocality.filled
    self.locality = locality.filled
    self.subAdministrativeArea = subAdministrativeArea.filled
    self.administrativeArea = administrativeArea.filled
    self.postalCode = postalCode.filled
    self.countryCode = countryCode.filled?.uppercased()
  }
}

/// The contact that comes with the authorized payment. Not covered by the payment token's signature: untrusted input.
public struct FullContact: Sendable, Hashable {
  public let givenName: String?
  public let familyName: String?
  public let phoneticGivenName: String?
  public let phoneticFamilyName: String?
  public let phoneNumber: String?
  public let emailAddress: String?
  public let addressLines: [String]
  public let subLocality: String?
  public let locality: String?
  public let subAdministrativeArea: String?
  public let administrativeArea: String?
  public let postalCode: String?
  public let country: String?
  /// ISO 3166-1 alpha-2, in capitals whatever the device wrote.
  public let countryCode: String?

  public init(
    givenName: String? = nil, familyName: String? = nil, phoneticGivenName: String? = nil,
    phoneticFamilyName: String? = nil, phoneNumber: String? = nil, emailAddress: String? = nil,
    addressLines: [String] = [], subLocality: String? = nil, locality: String? = nil,
    subAdministrativeArea: String? = nil, administrativeArea: String? = nil, postalCode: String? = nil,
    country: String? = nil, countryCode: String? = nil
  ) {
    self.givenName = givenName.filled
    self.familyName = familyName.filled
    self.phoneticGivenName = phoneticGivenName.filled
    self.phoneticFamilyName = phoneticFamilyName.filled
    self.phoneNumber = phoneNumber.filled
    self.emailAddress = emailAddress.filled
    self.addressLines = addressLines.compactMap { Optional($0).filled }
    self.subLocality = subLocality.filled
    self.locality = locality.filled
    self.subAdministrativeArea = subAdministrativeArea.filled
    self.administrativeArea = administrativeArea.filled
    self.postalCode = postalCode.filled
    self.country = country.filled
    self.countryCode = countryCode.filled?.uppercased()
  }

  /// The part of the address that prices depend on, as the sheet would have shown it.
  public var place: RedactedContact {
    RedactedContact(
      subLocality: subLocality, locality: locality, subAdministrativeArea: subAdministrativeArea,
      administrativeArea: administrativeArea, postalCode: postalCode, countryCode: countryCode)
  }

  public var hasName: Bool { givenName != nil || familyName != nil }
}

extension RedactedContact: Codable {
  private enum CodingKeys: String, CodingKey {
    case subLocality, locality, subAdministrativeArea, administrativeArea, postalCode, countryCode
  }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try keys.decodeIfPresent(String.self, forKey: key) }
    self.init(
      subLocality: try text(.subLocality), locality: try text(.locality),
      subAdministrativeArea: try text(.subAdministrativeArea), administrativeArea: try text(.administrativeArea),
      postalCode: try text(.postalCode), countryCode: try text(.countryCode))
  }
}

extension FullContact: Codable {
  private enum CodingKeys: String, CodingKey {
    case givenName, familyName, phoneticGivenName, phoneticFamilyName, phoneNumber, emailAddress, addressLines
    case subLocality, locality, subAdministrativeArea, administrativeArea, postalCode, country, countryCode
  }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try keys.decodeIfPresent(String.self, forKey: key) }
    self.init(
      givenName: try text(.givenName), familyName: try text(.familyName),
      phoneticGivenName: try text(.phoneticGivenName), phoneticFamilyName: try text(.phoneticFamilyName),
      phoneNumber: try text(.phoneNumber), emailAddress: try text(.emailAddress),
      addressLines: try keys.decodeIfPresent([String].self, forKey: .addressLines) ?? [],
      subLocality: try text(.subLocality), locality: try text(.locality),
      subAdministrativeArea: try text(.subAdministrativeArea), administrativeArea: try text(.administrativeArea),
      postalCode: try text(.postalCode), country: try text(.country), countryCode: try text(.countryCode))
  }
}

extension String? {
  /// The text without white space around it; nil when nothing is left, because devices send empty strings for what
  /// they withhold.
  fileprivate var filled: String? {
    guard let text = self else { return nil }
    let start = text.drop(while: \.isWhitespace)
    guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return nil }
    return String(start[...end])
  }
}
