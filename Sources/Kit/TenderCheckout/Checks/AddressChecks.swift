import TenderPayments
public import TenderSheet

/// Address checks on the device, which show certain errors in the sheet without a call to the server.
///
/// The server checks every address again and decides. Parts that a redacted contact hides are not errors.
public struct AddressChecks: Sendable, Hashable {
  /// The countries that the merchant serves, ISO 3166-1 alpha-2; empty for all.
  public let countries: Set<String>
  /// Prefixes of the served postal codes by country; a country without an entry is served entirely.
  public let prefixes: [String: [PostalPrefix]]
  /// Whether an address must have what its country's post needs; see `AddressRules` of TenderSheet.
  public let checksShapes: Bool
  /// The language of the errors' texts, before the basket's own locale is known.
  public let locale: ShopperLocale

  /// - Parameters:
  ///   - countries: ISO 3166-1 alpha-2; empty for everywhere.
  ///   - prefixes: `["GB": ["EC", "W1 "]]`; in the United Kingdom and Canada a space ends the first part.
  ///   - checksShapes: false for a merchant whose shoppers' addresses break their countries' rules.
  ///   - locale: of the errors' texts, before the basket's own locale is known.
  public init(
    countries: Set<String> = [], prefixes: [String: [String]] = [:], checksShapes: Bool = true,
    locale: ShopperLocale = .english
  ) {
    self.countries = Set(countries.map { $0.uppercased() })
    self.prefixes = Dictionary(
      prefixes.map { ($0.key.uppercased(), $0.value.map { PostalPrefix($0) }) }, uniquingKeysWith: +)
    self.checksShapes = checksShapes
    self.locale = locale
  }

  /// Checks addresses by their countries' rules only, for all countries.
  public static let standard = AddressChecks()
  /// Makes no checks; the server decides.
  public static let none = AddressChecks(checksShapes: false)

  /// The errors of a redacted address, in the basket's locale, or in ``locale`` where none is given. Empty where the order
  /// needs no address.
  public func problems(
    with contact: RedactedContact, for service: ServiceType, in locale: ShopperLocale? = nil
  ) -> [SheetError] {
    guard service.needsAddress, let country = contact.countryCode else { return [] }
    let texts = locale ?? self.locale
    guard serves(country) else { return [Self.elsewhere(texts)] }
    guard let text = contact.postalCode else { return [] }
    if checksShapes, let rules = AddressRules(country: country), !rules.canBegin(text) {
      return [Self.misspelt(texts)]
    }
    return reaches(.redacted(text, country: country), in: country) ? [] : [Self.unserved(texts)]
  }

  /// The errors of the contact of an authorized payment, the most severe first, in the basket's locale, or in ``locale``
  /// where none is given. `fields` is what the sheet requested in the shipping contact; without it, what the service
  /// usually asks for.
  public func problems(
    shipping: FullContact?, billing: FullContact?, for service: ServiceType, fields: [ContactField]? = nil,
    billingRequired: Bool, in locale: ShopperLocale? = nil
  ) -> [SheetError] {
    let texts = locale ?? self.locale
    let contact = OrderContact(
      service: service, shipping: shipping, billing: billing, billingRequired: billingRequired)
    var errors = contact.missingFields(
      of: fields ?? service.shippingFields(), in: texts, checksCountry: checksShapes)
    if billingRequired, billing.flatMap({ OrderAddress($0) }) == nil {
      errors.append(.billingContactInvalid(.postalAddress, texts.text(.enterBillingAddress)))
    }
    guard service.needsAddress, let address = contact.address else { return errors }
    return placeProblems(address, texts) + errors
  }

  private func placeProblems(_ address: OrderAddress, _ texts: ShopperLocale) -> [SheetError] {
    guard let country = address.countryCode else { return [] }
    guard serves(country) else { return [Self.elsewhere(texts)] }
    guard let text = address.postalCode else { return [] }
    // A misspelt code is among the missing parts.
    if checksShapes, let rules = AddressRules(country: country), !rules.fits(text) { return [] }
    return reaches(.full(text, country: country), in: country) ? [] : [Self.unserved(texts)]
  }

  private func serves(_ country: String) -> Bool { countries.isEmpty || countries.contains(country) }

  /// Whether a postal code is, or as a redacted one may be, in the served area.
  private func reaches(_ code: PostalCode, in country: String) -> Bool {
    guard let prefixes = prefixes[country] else { return true }
    return prefixes.contains { $0.matches(code) != .no }
  }

  private static func elsewhere(_ texts: ShopperLocale) -> SheetError {
    .addressUnserviceable(texts.text(.countryNotServed))
  }

  private static func unserved(_ texts: ShopperLocale) -> SheetError {
    .shippingContactInvalid(.postalCode, texts.text(.postalCodeNotServed))
  }

  private static func misspelt(_ texts: ShopperLocale) -> SheetError {
    .shippingContactInvalid(.postalCode, texts.text(.postalCodeWrong))
  }
}
