import DirectWire
import TenderPayments
import TenderSheet

// Which zone an address belongs to: the one with the longest prefix that its postal code begins with. A zone without
// prefixes is the rest of its country.

extension Basket {
  /// For the part of an address that the sheet shows. What may still turn out to be in a zone counts as in it; the
  /// full address is checked again before anything is charged.
  func destination(shown contact: RedactedContact) -> Destination {
    if let code = contact.postalCode, let rules = rules(in: contact.countryCode), !rules.canBegin(code) {
      return .misspelt
    }
    guard !document.zones.isEmpty else { return .anywhere }
    guard let country = contact.countryCode else { return .unknown }
    let code = contact.postalCode.map { PostalCode.redacted($0, country: country) } ?? .redacted("", country: country)
    return zone(of: code, in: country)
  }

  func destination(full address: OrderAddress?) -> Destination {
    if let code = address?.postalCode, let rules = rules(in: address?.countryCode), !rules.fits(code) {
      return .misspelt
    }
    guard !document.zones.isEmpty else { return .anywhere }
    guard let country = address?.countryCode else { return .unserviceable }
    return zone(of: .full(address?.postalCode ?? "", country: country), in: country)
  }

  /// Refuses a contact whose country there is not.
  func requireCountries(shipping: String?, billing: String?) throws {
    func require(_ code: String?, _ contact: String, _ error: (ErrorContactField?, String) -> SheetError) throws {
      guard let code, !CountryCode.isOfAddress(code) else { return }
      throw OrderError(
        .contactIncomplete, "countryCode is no country of ISO 3166-1", field: contact,
        sheetErrors: [error(.countryCode, locale.text(.enterCountry))])
    }
    try require(shipping, "shippingContact", SheetError.shippingContactInvalid)
    try require(billing, "billingContact", SheetError.billingContactInvalid)
  }

  /// What a page may check of an address by itself.
  ///
  /// - Parameter country: the merchant's; a basket with zones has theirs.
  func addressRules(for service: ServiceType, at country: String) -> [AddressRule] {
    guard service.needsAddress else { return [] }
    let countries = document.zones.isEmpty ? [country] : Set(document.zones.map(\.countryCode))
    return countries.sorted().compactMap { rules(in: $0) }.flatMap { $0.forPage(in: locale) }
  }

  /// Nil where the basket or the country has none.
  private func rules(in country: String?) -> AddressRules? {
    checksAddresses ? country.flatMap { AddressRules(country: $0) } : nil
  }

  private func zone(of code: PostalCode, in country: String) -> Destination {
    let zones = document.zones.filter { $0.countryCode == country }
    let certain = zones.compactMap { zone in zone.certainty(of: code).map { (zone.id, $0) } }
    // The first of the longest: max(by:) would take the last.
    if let longest = certain.map(\.1).max(), let best = certain.first(where: { $0.1 == longest }) {
      return .zone(best.0)
    }
    return zones.first { $0.mayHold(code) }.map { .zone($0.id) } ?? .unserviceable
  }
}

extension BasketDocument.Zone {
  /// How long the prefix is by which the code certainly belongs here; nil when none does.
  fileprivate func certainty(of code: PostalCode) -> Int? {
    guard !postalPrefixes.isEmpty else { return 0 }
    return postalPrefixes.map { PostalPrefix($0) }.filter { $0.matches(code) == .yes }.map(\.length).max()
  }

  fileprivate func mayHold(_ code: PostalCode) -> Bool {
    postalPrefixes.contains { PostalPrefix($0).matches(code) == .maybe }
  }
}
