/// The redacted address that the sheet shows before the shopper authorizes: enough to price, not enough to deliver.
///
/// The keys are those of Apple's `ApplePayPaymentContact`; name, phone, e-mail and address lines are not read even if a
/// client sends them, so that they cannot be stored before the shopper authorizes.
public struct RedactedContact: Sendable, Hashable {
  /// A part of the town.
  public let subLocality: String?
  /// The town.
  public let locality: String?
  /// A part of the region: a county.
  public let subAdministrativeArea: String?
  /// The region: a state, a province.
  public let administrativeArea: String?
  /// Only the first part in the United Kingdom and Canada, five digits in the United States.
  public let postalCode: String?
  /// ISO 3166-1 alpha-2, in capitals whatever the device wrote.
  public let countryCode: String?

  /// A redacted contact. Empty texts count as missing, because devices send them for hidden fields.
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
  /// The shopper's first name.
  public let givenName: String?
  /// The shopper's last name.
  public let familyName: String?
  /// The phonetic first name.
  public let phoneticGivenName: String?
  /// The phonetic last name.
  public let phoneticFamilyName: String?
  /// The title before the name, such as `Dr.`; Apple Pay JS has none.
  public let namePrefix: String?
  /// As the shopper entered it.
  public let phoneNumber: String?
  /// As the shopper entered it.
  public let emailAddress: String?
  /// Street and house number, one line or more; empty without an address.
  public let addressLines: [String]
  /// A part of the town.
  public let subLocality: String?
  /// The town.
  public let locality: String?
  /// A part of the region: a county.
  public let subAdministrativeArea: String?
  /// The region: a state, a province.
  public let administrativeArea: String?
  /// The whole postal code.
  public let postalCode: String?
  /// The country's name in the shopper's language.
  public let country: String?
  /// ISO 3166-1 alpha-2, in capitals whatever the device wrote.
  public let countryCode: String?

  /// A contact. Empty texts count as missing, because devices send them for hidden fields. Control characters
  /// and marks of the writing direction, which a paste brings along, are no part of a text; a line of the address with a
  /// break is two lines.
  public init(
    givenName: String? = nil, familyName: String? = nil, phoneticGivenName: String? = nil,
    phoneticFamilyName: String? = nil, phoneNumber: String? = nil, emailAddress: String? = nil,
    addressLines: [String] = [], subLocality: String? = nil, locality: String? = nil,
    subAdministrativeArea: String? = nil, administrativeArea: String? = nil, postalCode: String? = nil,
    country: String? = nil, countryCode: String? = nil, namePrefix: String? = nil
  ) {
    self.namePrefix = namePrefix.filled
    self.givenName = givenName.filled
    self.familyName = familyName.filled
    self.phoneticGivenName = phoneticGivenName.filled
    self.phoneticFamilyName = phoneticFamilyName.filled
    self.phoneNumber = phoneNumber.filled
    self.emailAddress = emailAddress.filled
    self.addressLines = addressLines.flatMap { $0.split(whereSeparator: \.isNewline) }
      .compactMap { Optional(String($0)).filled }
    self.subLocality = subLocality.filled
    self.locality = locality.filled
    self.subAdministrativeArea = subAdministrativeArea.filled
    self.administrativeArea = administrativeArea.filled
    self.postalCode = postalCode.filled
    self.country = country.filled
    self.countryCode = countryCode.filled?.uppercased()
  }

  /// The part of the address that prices depend on, as the sheet shows it redacted.
  public var place: RedactedContact {
    RedactedContact(
      subLocality: subLocality, locality: locality, subAdministrativeArea: subAdministrativeArea,
      administrativeArea: administrativeArea, postalCode: postalCode, countryCode: countryCode)
  }

  /// Whether the contact has a name.
  public var hasName: Bool { givenName != nil || familyName != nil }
}

extension RedactedContact: Codable {
  private enum CodingKeys: String, CodingKey {
    case subLocality, locality, subAdministrativeArea, administrativeArea, postalCode, countryCode
  }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try keys.text(forKey: key) }
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
    case namePrefix
  }

  /// - Throws: also where a text is too long: more than 256 characters, an e-mail address of more than 254 bytes, more
  ///   than 16 lines.
  public init(from decoder: any Decoder) throws {
    try self.init(stored: decoder)
    guard let (key, problem) = excess else { return }
    throw DecodingError.dataCorruptedError(
      forKey: key, in: try decoder.container(keyedBy: CodingKeys.self), debugDescription: problem)
  }

  /// Reads a contact that was accepted before, however long its texts are: an order must not be lost for it.
  init(stored decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try keys.decodeIfPresent(String.self, forKey: key) }
    self.init(
      givenName: try text(.givenName), familyName: try text(.familyName),
      phoneticGivenName: try text(.phoneticGivenName), phoneticFamilyName: try text(.phoneticFamilyName),
      phoneNumber: try text(.phoneNumber), emailAddress: try text(.emailAddress),
      addressLines: try keys.decodeIfPresent([String].self, forKey: .addressLines) ?? [],
      subLocality: try text(.subLocality), locality: try text(.locality),
      subAdministrativeArea: try text(.subAdministrativeArea), administrativeArea: try text(.administrativeArea),
      postalCode: try text(.postalCode), country: try text(.country), countryCode: try text(.countryCode),
      namePrefix: try text(.namePrefix))
  }

  /// The first field that is too long as it is kept. That may be longer than it came: breaks make lines, and some small
  /// letters have two capitals.
  private var excess: (CodingKeys, String)? {
    let fields: [(CodingKeys, String?)] = [
      (.namePrefix, namePrefix), (.givenName, givenName), (.familyName, familyName),
      (.phoneticGivenName, phoneticGivenName), (.phoneticFamilyName, phoneticFamilyName), (.phoneNumber, phoneNumber),
      (.emailAddress, emailAddress), (.subLocality, subLocality), (.locality, locality),
      (.subAdministrativeArea, subAdministrativeArea), (.administrativeArea, administrativeArea),
      (.postalCode, postalCode), (.country, country), (.countryCode, countryCode),
    ]
    let texts = fields + addressLines.map { (CodingKeys.addressLines, Optional($0)) }
    if let long = texts.first(where: { !TextLimits.holds($0.1 ?? "", most: TextLimits.field) }) {
      return (long.0, "more than \(TextLimits.field) characters")
    }
    if emailAddress?.utf8.count ?? 0 > TextLimits.emailAddress {
      return (.emailAddress, "more than \(TextLimits.emailAddress) bytes")
    }
    return addressLines.count > TextLimits.addressLines
      ? (.addressLines, "more than \(TextLimits.addressLines) lines") : nil
  }
}

extension String? {
  /// The text without control characters, marks of the writing direction, and white space around it; nil when nothing
  /// is left, because devices send empty strings for hidden fields.
  fileprivate var filled: String? {
    guard let text = self?.printed else { return nil }
    let start = text.drop(while: \.isWhitespace)
    guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return nil }
    return String(start[...end])
  }
}

extension String {
  /// A break becomes a space.
  fileprivate var printed: String {
    var printed = String.UnicodeScalarView()
    for scalar in unicodeScalars where !scalar.properties.isBidiControl {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator:
        if scalar.properties.isWhitespace, printed.last != " " { printed.append(" ") }
      default: printed.append(scalar)
      }
    }
    return String(printed)
  }
}
