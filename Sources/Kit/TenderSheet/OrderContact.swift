/// The recipient and address of an order, merged from the two contacts of an authorized payment.
public struct OrderContact: Sendable, Hashable {
  /// The recipient's first name.
  public let givenName: String?
  /// The recipient's last name.
  public let familyName: String?
  /// The phonetic first name, where the basket asks for it.
  public let phoneticGivenName: String?
  /// The phonetic last name, where the basket asks for it.
  public let phoneticFamilyName: String?
  /// The title before the name, such as `Dr.`, where the device sends one.
  public let namePrefix: String?
  /// From the shipping contact; the billing contact never has it.
  public let phoneNumber: String?
  /// From the shipping contact; the billing contact never has it.
  public let emailAddress: String?
  /// Where the order goes; without such a place, the billing address if the merchant requires one.
  public let address: OrderAddress?
  /// The billing contact, if the merchant requires one and it has a name or an address.
  public let billing: FullContact?

  /// Merges the contacts.
  ///
  /// An order that goes to an address uses the shipping contact only, because a billing address may not be a place to
  /// deliver to. Any other takes name and address from billing, else shipping, when billing was asked for, and otherwise
  /// the name from shipping. Phone and e-mail always come from shipping, because the billing contact never has them.
  public init(service: ServiceType, shipping: FullContact?, billing: FullContact?, billingRequired: Bool) {
    let asked = billingRequired ? billing : nil
    self.billing = asked.flatMap { $0.hasName || OrderAddress($0) != nil ? $0 : nil }
    let billing = service.needsAddress ? nil : asked
    let named = billing?.hasName == true ? billing : shipping
    self.givenName = named?.givenName
    self.familyName = named?.familyName
    self.phoneticGivenName = named?.phoneticGivenName
    self.phoneticFamilyName = named?.phoneticFamilyName
    self.namePrefix = named?.namePrefix
    self.phoneNumber = shipping?.phoneNumber
    self.emailAddress = shipping?.emailAddress
    self.address =
      service.needsAddress
      ? shipping.flatMap(OrderAddress.init) : billing.flatMap(OrderAddress.init) ?? shipping.flatMap(OrderAddress.init)
  }
}

extension OrderContact: Codable {
  private enum CodingKeys: String, CodingKey {
    case givenName, familyName, phoneticGivenName, phoneticFamilyName, namePrefix, phoneNumber, emailAddress, address
    case billing
  }

  /// Reads the contact of an order that was placed, however long its texts are.
  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try keys.decodeIfPresent(String.self, forKey: key) }
    givenName = try text(.givenName)
    familyName = try text(.familyName)
    phoneticGivenName = try text(.phoneticGivenName)
    phoneticFamilyName = try text(.phoneticFamilyName)
    namePrefix = try text(.namePrefix)
    phoneNumber = try text(.phoneNumber)
    emailAddress = try text(.emailAddress)
    address = try keys.decodeIfPresent(OrderAddress.self, forKey: .address)
    billing = try keys.decodeIfPresent(StoredContact.self, forKey: .billing)?.contact
  }

  private struct StoredContact: Decodable {
    let contact: FullContact

    init(from decoder: any Decoder) throws { contact = try FullContact(stored: decoder) }
  }
}

extension OrderContact {
  /// Where the card's holder lives. A place that the order goes to is none: it may be a friend's.
  ///
  /// - Parameter service: how the shopper gets the order.
  public func billingAddress(for service: ServiceType) -> OrderAddress? {
    billing.flatMap(OrderAddress.init) ?? (service.needsAddress ? nil : address)
  }
}

/// A postal address as an order keeps it.
public struct OrderAddress: Sendable, Hashable, Codable {
  /// Street and house number.
  public let lines: [String]
  /// A part of the town.
  public let subLocality: String?
  /// The town.
  public let locality: String?
  /// The region: a state, a province.
  public let administrativeArea: String?
  /// The whole postal code.
  public let postalCode: String?
  /// ISO 3166-1 alpha-2, in capitals.
  public let countryCode: String?

  /// Nil when the contact has no address.
  public init?(_ contact: FullContact) {
    let parts = [contact.locality, contact.administrativeArea, contact.postalCode, contact.countryCode]
    guard !contact.addressLines.isEmpty || parts.contains(where: { $0 != nil }) else { return nil }
    self.lines = contact.addressLines
    self.subLocality = contact.subLocality
    self.locality = contact.locality
    self.administrativeArea = contact.administrativeArea
    self.postalCode = contact.postalCode
    self.countryCode = contact.countryCode
  }
}

extension OrderAddress {
  /// What the country's rules ask for, beside the street. A town stands for a state where the rules ask for no town.
  fileprivate var missingParts: [(ErrorContactField, ShopperText)] {
    guard let rules = countryCode.flatMap({ AddressRules(country: $0) }) else { return [] }
    var missing: [(ErrorContactField, ShopperText)] = []
    if rules.needsTown, locality == nil { missing.append((.locality, .enterTown)) }
    if rules.needsState, administrativeArea == nil, rules.needsTown || locality == nil {
      missing.append((.administrativeArea, .enterState))
    }
    if let postalCode, !rules.fits(postalCode) { missing.append((.postalCode, .postalCodeWrong)) }
    if rules.needsPostalCode, postalCode == nil { missing.append((.postalCode, .enterPostalCode)) }
    return missing
  }
}

extension OrderContact {
  /// One error for each part of these fields that is missing, the most severe first.
  ///
  /// - Parameters:
  ///   - fields: what the sheet requested in the shipping contact.
  ///   - locale: the shopper's.
  ///   - checksCountry: whether the address must have what ``AddressRules`` say of its country.
  public func missingFields(
    of fields: [ContactField], in locale: ShopperLocale = .english, checksCountry: Bool = true
  ) -> [SheetError] {
    (fields.contains(.postalAddress) ? missingAddress(locale, checksCountry) : []) + missingPerson(fields, locale)
  }

  private func missingAddress(_ locale: ShopperLocale, _ checksCountry: Bool) -> [SheetError] {
    var missing: [(ErrorContactField, ShopperText)] = []
    if address?.countryCode == nil { missing.append((.countryCode, .enterCountry)) }
    if address?.lines.isEmpty ?? true { missing.append((.addressLines, .enterStreet)) }
    if checksCountry, let address { missing += address.missingParts }
    return missing.map { .shippingContactInvalid($0, locale.text($1)) }
  }

  private func missingPerson(_ fields: [ContactField], _ locale: ShopperLocale) -> [SheetError] {
    let parts: [(field: ContactField, isMissing: Bool, ErrorContactField, ShopperText)] = [
      (.name, givenName == nil && familyName == nil, .name, .enterName),
      (
        .phoneticName, phoneticGivenName == nil && phoneticFamilyName == nil, .phoneticName, .enterPhoneticName
      ),
      (.phone, phoneNumber == nil, .phoneNumber, .enterPhone),
      (.email, emailAddress == nil, .emailAddress, .enterEmail),
    ]
    return parts.filter { fields.contains($0.field) && $0.isMissing }.map {
      .shippingContactInvalid($0.2, locale.text($0.3))
    }
  }
}
