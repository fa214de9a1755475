import TenderSheet
import Testing

/// Examples of the countries' posts.
@Suite struct `A postal code` {
  @Test(arguments: [
    ("GB", "EC1A 1BB"), ("GB", "w1a0ax"), ("GB", "M1 1AE"), ("GB", "BFPO 61"), ("US", "22201"), ("US", "22201-0042"),
    ("CA", "K1A 0B1"), ("DE", "10115"), ("DE", "１０１１５"), ("NL", "1012 AB"), ("JP", "150-0001"),
    ("IE", "D02 X285"), ("IE", "D6W XK85"), ("PT", "1000-001"), ("MT", "VLT 1117"), ("LV", "LV-1010"), ("LV", "1010"),
    ("CH", "CH-8000"), ("GG", "GY1 1AA"), ("PE", "LIMA 13"), ("XX", "whatever"),
  ])
  func `of a country fits it, with the country's letters too`(_ country: String, _ code: String) {
    let rules = AddressRules(country: country)
    #expect(rules?.fits(code) ?? true)
    #expect(rules?.canBegin(code) ?? true)
  }

  @Test(arguments: [
    ("GB", "12345"), ("GB", "ZZ99 9ZZ"), ("GB", "QQ1 1AA"), ("US", "2220"), ("US", "2220A"), ("CA", "K1A 0B"),
    ("DE", "1011"), ("NL", "AB 1012"), ("IE", "D02"), ("DE", "101159"), ("FR", "75 001 CEDEX"), ("DE", ""),
    ("JP", "150"),
    ("GB", "EC1A 1BB 1"), ("MC", "06000"),
  ])
  func `of nowhere or of another country does not fit`(_ country: String, _ code: String) throws {
    #expect(try !#require(AddressRules(country: country)).fits(code))
  }

  @Test func `may begin as the wallet shows it`() throws {
    let british = try #require(AddressRules(country: "gb"))
    for code in ["EC1A", "W1", "E", "", "BFPO", "SW1A 1AA"] { #expect(british.canBegin(code), "\(code)") }
    for code in ["1EC", "ZZ99", "Z1"] { #expect(!british.canBegin(code), "\(code)") }
    #expect(AddressRules(country: "AQ") == nil && AddressRules(country: "") == nil)
  }
}

@Suite struct `An address` {
  private func missing(_ contact: FullContact, checksCountry: Bool = true) -> String {
    OrderContact(service: .delivery, shipping: contact, billing: nil, billingRequired: false)
      .missingFields(of: [.postalAddress], checksCountry: checksCountry).compactMap { $0.contactField?.rawValue }
      .joined(separator: " ")
  }

  private static let street = ["1 Quay"]

  @Test(
    arguments: [
      (FullContact(addressLines: street, postalCode: "EC1A 1BB", countryCode: "GB"), "locality"),
      (FullContact(addressLines: street, locality: "London", countryCode: "GB"), "postalCode"),
      (FullContact(addressLines: street, locality: "London", postalCode: "ZZ99 9ZZ", countryCode: "GB"), "postalCode"),
      (FullContact(addressLines: street, locality: "Cork", countryCode: "IE"), ""),
      (
        FullContact(addressLines: street, locality: "Reno", postalCode: "89501", countryCode: "US"),
        "administrativeArea"
      ),
      (
        FullContact(
          addressLines: street, locality: "Reno", administrativeArea: "NV", postalCode: "89501", countryCode: "US"), ""
      ),
      (FullContact(addressLines: street, countryCode: "HK"), "administrativeArea"),
      (FullContact(addressLines: street, locality: "Kowloon", countryCode: "HK"), ""),
      (FullContact(addressLines: street, postalCode: "546080", countryCode: "SG"), ""),
      (FullContact(addressLines: street, postalCode: "?", countryCode: "AQ"), ""),
    ] as [(FullContact, String)])
  func `has the parts that its country's post needs`(_ contact: FullContact, _ fields: String) {
    #expect(missing(contact) == fields)
    #expect(missing(contact, checksCountry: false).isEmpty)
  }
}
