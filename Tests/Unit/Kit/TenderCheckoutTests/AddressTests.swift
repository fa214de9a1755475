import TenderCheckout
import TenderSheet
import Testing

@Suite struct `A postal code's shape` {
  @Test(arguments: [
    ("GB", "EC1A 1BB"), ("GB", "w1a0ax"), ("GB", "M1 1AE"), ("US", "22201"), ("US", "22201-0042"), ("CA", "K1A 0B1"),
    ("DE", "10115"), ("NL", "1012 AB"), ("JP", "150-0001"), ("IE", "D02 X285"), ("IE", "D6W XK85"), ("PT", "1000-001"),
    ("MT", "VLT 1117"), ("XX", "whatever"),
  ])
  func `fits its country`(_ country: String, _ code: String) {
    #expect(PostalCodeShape(country: country)?.fits(code) ?? true)
    #expect(PostalCodeShape(country: country)?.canBegin(code) ?? true)
  }

  @Test(arguments: [
    ("GB", "12345"), ("US", "2220"), ("US", "2220A"), ("CA", "K1A 0B"), ("DE", "1011"), ("NL", "AB 1012"),
    ("IE", "D02"), ("DE", "101159"), ("FR", "75 001 CEDEX"), ("DE", "１０１１５"),
  ])
  func `is not another's`(_ country: String, _ code: String) throws {
    #expect(try !#require(PostalCodeShape(country: country)).fits(code))
  }

  @Test func `may begin as the wallet shows it`() throws {
    let british = try #require(PostalCodeShape(country: "gb"))
    #expect(british.canBegin("EC1A"))
    #expect(british.canBegin("W1"))
    #expect(!british.canBegin("1EC"))
    #expect(PostalCodeShape(country: "AQ") == nil)
  }
}

@Suite struct `The device's address check` {
  let checks = AddressChecks(countries: ["gb", "US"], prefixes: ["gb": ["EC", "E1 "], "US": ["222"]])

  private func redacted(_ code: String?, _ country: String?) -> [SheetError] {
    checks.problems(with: RedactedContact(postalCode: code, countryCode: country), for: .delivery)
  }

  @Test func `refuses a country, an invalid code and a code elsewhere`() {
    #expect(redacted("10115", "DE").map(\.code) == [.addressUnserviceable])
    #expect(redacted("12345", "GB").map(\.contactField) == [.postalCode])
    #expect(redacted("SW1A", "GB").map(\.contactField) == [.postalCode])
    #expect(redacted("94105", "US").map(\.contactField) == [.postalCode])
  }

  @Test func `ignores what a redacted contact hides`() {
    #expect(redacted("EC1A", "GB").isEmpty)
    #expect(redacted("E1", "GB").isEmpty)
    #expect(redacted(nil, "GB").isEmpty)
    #expect(redacted("22201", "US").isEmpty)
    #expect(redacted("10115", nil).isEmpty)
    #expect(
      AddressChecks.none.problems(with: RedactedContact(postalCode: "?", countryCode: "DE"), for: .shipping).isEmpty)
    #expect(
      AddressChecks.standard.problems(with: RedactedContact(postalCode: "10115", countryCode: "DE"), for: .delivery)
        .isEmpty)
  }

  @Test func `accepts everything for collection`() {
    let place = RedactedContact(postalCode: "1", countryCode: "DE")
    #expect(checks.problems(with: place, for: .collection).isEmpty)
  }

  private func full(
    _ contact: FullContact?, _ service: ServiceType = .delivery, billing: FullContact? = nil, required: Bool = false
  ) -> [SheetError] {
    checks.problems(shipping: contact, billing: billing, for: service, billingRequired: required)
  }

  @Test func `checks the full contact again`() {
    #expect(full(Sample.ada).isEmpty)
    let moved = FullContact(
      givenName: "Ada", phoneNumber: "1", emailAddress: "a@example.com", addressLines: ["1 Street"],
      postalCode: "SW1A 1AA", countryCode: "GB")
    #expect(full(moved).map(\.contactField) == [.postalCode])
    let abroad = FullContact(
      givenName: "Ada", phoneNumber: "1", emailAddress: "a@example.com", addressLines: ["1 Street"],
      postalCode: "10115", countryCode: "DE")
    #expect(full(abroad).map(\.code) == [.addressUnserviceable])
    let misspelt = FullContact(
      givenName: "Ada", phoneNumber: "1", emailAddress: "a@example.com", addressLines: ["1 Street"],
      postalCode: "EC1A", countryCode: "GB")
    #expect(full(misspelt).map(\.contactField) == [.postalCode])
  }

  @Test func `names every empty field`() {
    let fields = full(FullContact(countryCode: "GB")).compactMap(\.contactField)
    #expect(fields == [.addressLines, .postalCode, .name, .phoneNumber, .emailAddress])
    #expect(full(nil).compactMap(\.contactField).contains(.countryCode))
    #expect(full(nil, .collection).compactMap(\.contactField) == [.name, .phoneNumber, .emailAddress])
  }

  @Test func `requires only what the sheet requested, in the basket's language`() {
    let errors = checks.problems(
      shipping: FullContact(phoneNumber: "1"), billing: nil, for: .noFulfillment, fields: [.phone, .email],
      billingRequired: false, in: ShopperLocale("es"))
    #expect(errors.map(\.message) == ["Introduzca una dirección de correo electrónico."])
    let here = AddressChecks(countries: ["GB"], locale: ShopperLocale("pl"))
    let abroad = here.problems(with: RedactedContact(countryCode: "DE"), for: .delivery)
    #expect(abroad.map(\.message) == ["Nie dostarczamy do tego kraju."])
  }

  @Test func `requires a billing address if the merchant needs one`() {
    #expect(full(Sample.ada, billing: nil, required: true).map(\.code) == [.billingContactInvalid])
    #expect(full(Sample.ada, billing: Sample.ada, required: true).isEmpty)
  }
}
