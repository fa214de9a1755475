import TenderCheckout
import TenderSheet
import Testing

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
      locality: "London", postalCode: "SW1A 1AA", countryCode: "GB")
    #expect(full(moved).map(\.contactField) == [.postalCode])
    let abroad = FullContact(
      givenName: "Ada", phoneNumber: "1", emailAddress: "a@example.com", addressLines: ["1 Street"],
      locality: "Berlin", postalCode: "10115", countryCode: "DE")
    #expect(full(abroad).map(\.code) == [.addressUnserviceable])
    let misspelt = FullContact(
      givenName: "Ada", phoneNumber: "1", emailAddress: "a@example.com", addressLines: ["1 Street"],
      locality: "London", postalCode: "EC1A", countryCode: "GB")
    #expect(full(misspelt).map(\.contactField) == [.postalCode])
  }

  @Test func `names every empty field`() {
    let fields = full(FullContact(countryCode: "GB")).compactMap(\.contactField)
    #expect(fields == [.addressLines, .locality, .postalCode, .name, .phoneNumber, .emailAddress])
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
