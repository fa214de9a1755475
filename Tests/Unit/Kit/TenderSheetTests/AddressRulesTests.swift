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

/// As ECMAScript reads the patterns of a page's rules.
@Suite struct `A page's rule of a postal code` {
  private static let codes = [
    "EC1A 1BB", "w1a0ax", "BFPO 61", "GIR 0AA", "ZZ99 9ZZ", "GB1 1AA", "22201", "22201-0042", "2220A", "2220",
    "K1A 0B1",
    "K1A", "10115", "1011", "１０１１５", "1012 AB", "1012 SA", "150-0001", "D02 X285", "D6W XK85", "LV-1010", "1010",
    "CH-8000", "GY1 1AA", "1 1AA", "LIMA 13", "BS1234", "1234", "06000", "AI-2640", "2640", "98000", "E", "1", "ZZ",
    "X",
  ]

  private static let countries = [
    "GB", "US", "CA", "DE", "NL", "JP", "IE", "LV", "CH", "GG", "PE", "BN", "MC", "AI", "MT", "SG", "VA", "BM", "AR",
  ]

  private func takes(_ pattern: String, _ code: String) throws -> Bool {
    let bare = code.filter { !$0.isWhitespace && $0 != "-" }
    return try Regex<Substring>(pattern).ignoresCase().firstMatch(in: bare) != nil
  }

  @Test(arguments: countries) func `refuses what the server refuses, and nothing else`(_ country: String) throws {
    let rules = try #require(AddressRules(country: country))
    let form = try #require(rules.forPage(in: .english).first { $0.shown != nil })
    #expect(form.countryCode == country && form.error.contactField == .postalCode)
    let shown = try #require(form.shown)
    for code in Self.codes {
      // Digits of other scripts are left to the server.
      let isPlain = code.utf8.count == code.count
      #expect(try takes(form.whole, code) == (rules.fits(code) || !isPlain), "\(code)")
      #expect(try takes(shown, code) == (rules.canBegin(code) || !isPlain), "\(code)")
    }
    #expect(try takes(form.whole, "") && takes(shown, ""))
  }

  @Test func `stands beside one for each part that the country's post needs`() throws {
    let fields = { (country: String) in
      AddressRules(country: country)?.forPage(in: .english).map { $0.error.contactField?.rawValue ?? "" }
    }
    #expect(fields("US") == ["locality", "administrativeArea", "postalCode", "postalCode"])
    #expect(fields("IE") == ["locality", "postalCode"] && fields("VG") == ["postalCode"])
    // A town may stand for the state there.
    #expect(fields("HK") == [])
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
