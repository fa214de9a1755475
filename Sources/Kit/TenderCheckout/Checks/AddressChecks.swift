import TenderPayments
public import TenderSheet

/// What the device can see of an address without asking: an answer at once, in the sheet, for what is plainly wrong.
///
/// A check here never lets anything through that the server would not: the server has the last word. What a redacted
/// contact does not show is not held against it.
public struct AddressChecks: Sendable, Hashable {
  /// Where the merchant delivers, ISO 3166-1 alpha-2; empty for everywhere.
  public let countries: Set<String>
  /// The beginnings of the postal codes that are served, by country; a country without an entry is served as a whole.
  public let prefixes: [String: [PostalPrefix]]
  /// Whether a postal code must have its country's shape.
  public let checksShapes: Bool

  /// - Parameters:
  ///   - countries: ISO 3166-1 alpha-2; empty for everywhere.
  ///   - prefixes: `["GB": ["EC", "W1 "]]`; in the United Kingdom and Canada a space ends the first part.
  ///   - checksShapes: off for a merchant whose customers' codes the table does not know.
  public init(countries: Set<String> = [], prefixes: [String: [String]] = [:], checksShapes: Bool = true) {
    self.countries = Set(countries.map { $0.uppercased() })
    self.prefixes = Dictionary(
      prefixes.map { ($0.key.uppercased(), $0.value.map { PostalPrefix($0) }) }, uniquingKeysWith: +)
    self.checksShapes = checksShapes
  }

  /// Shapes alone, for everywhere.
  public static let standard = AddressChecks()
  /// Everything is left to the server.
  public static let none = AddressChecks(checksShapes: false)

  /// What is wrong with an address of which the sheet shows a part. Empty for collection: nothing is sent there.
  public func problems(with contact: RedactedContact, for service: ServiceType) -> [SheetError] {
    guard service.needsAddress, let country = contact.countryCode else { return [] }
    guard serves(country) else { return [Self.elsewhere] }
    guard let text = contact.postalCode else { return [] }
    if checksShapes, let shape = PostalCodeShape(country: country), !shape.canBegin(text) { return [Self.misspelt] }
    return reaches(.redacted(text, country: country), in: country) ? [] : [Self.unserved]
  }

  /// What is wrong with the contact of an authorized payment, the gravest first.
  public func problems(
    shipping: FullContact?, billing: FullContact?, for service: ServiceType, billingRequired: Bool
  ) -> [SheetError] {
    let contact = OrderContact(
      service: service, shipping: shipping, billing: billing, billingRequired: billingRequired)
    var errors = contact.missingFields(for: service)
    if billingRequired, billing.flatMap({ OrderAddress($0) }) == nil {
      errors.append(.billingContactInvalid(.postalAddress, "Enter a billing address."))
    }
    guard service.needsAddress, let address = contact.address else { return errors }
    return placeProblems(address) + errors
  }

  private func placeProblems(_ address: OrderAddress) -> [SheetError] {
    guard let country = address.countryCode else { return [] }
    guard serves(country) else { return [Self.elsewhere] }
    guard let text = address.postalCode else { return [] }
    if checksShapes, let shape = PostalCodeShape(country: country), !shape.fits(text) { return [Self.misspelt] }
    return reaches(.full(text, country: country), in: country) ? [] : [Self.unserved]
  }

  private func serves(_ country: String) -> Bool { countries.isEmpty || countries.contains(country) }

  /// A code that is not wholly shown is served as long as it may be.
  private func reaches(_ code: PostalCode, in country: String) -> Bool {
    guard let prefixes = prefixes[country] else { return true }
    return prefixes.contains { $0.matches(code) != .no }
  }

  private static let elsewhere = SheetError.addressUnserviceable("There is no delivery to this country.")
  private static let unserved = SheetError.shippingContactInvalid(
    .postalCode, "There is no delivery to this postal code.")
  private static let misspelt = SheetError.shippingContactInvalid(
    .postalCode, "This is no postal code of the country.")
}
