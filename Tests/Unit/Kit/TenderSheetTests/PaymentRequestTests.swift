import Foundation
import TenderPayments
import TenderSheet
import Testing

private func text(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}

@Suite struct `A payment request` {
  private let factory = PaymentRequestFactory(
    businessName: "Harbour Kitchen", countryCode: "ie", merchantCapabilities: [.supportsCredit],
    supportedCountries: ["IE", "GB"], merchantCategoryCode: "5812")

  private func euro(_ units: Int64) throws -> Amount {
    Amount(minorUnits: units, currency: try #require(Currency(code: "EUR")))
  }

  private func contents(_ service: ServiceType, billing: Bool = false) throws -> SheetContents {
    SheetContents(
      currency: try #require(Currency(code: "EUR")), service: service,
      lines: [
        SummaryItem(label: "Fish and chips", amount: try euro(1_290)),
        SummaryItem(label: "Lunch offer", amount: try euro(-129)), SummaryItem(label: "Bike", amount: try euro(250)),
      ],
      cardFee: SummaryItem(label: "Card fee", amount: try euro(30)),
      shippingMethods: [
        ShippingMethod(
          identifier: "bike", label: "Bike", detail: "30–45 minutes", amount: try euro(250),
          dateRange: ShippingDateRange(
            start: ShippingDate(years: 2026, months: 11, days: 21, hours: 19),
            end: ShippingDate(years: 2026, months: 11, days: 21, hours: 20)))
      ],
      supportsCouponCode: true, couponCode: "LUNCH10", billingRequired: billing,
      applicationData: Array("tender:v1:m:b".utf8))
  }

  @Test func `for delivery equals Apple's dictionary`() throws {
    let request = try factory.request(for: contents(.delivery))
    #expect(
      try text(request) == """
        {"applicationData":"dGVuZGVyOnYxOm06Yg==","countryCode":"IE","couponCode":"LUNCH10","currencyCode":"EUR",\
        "lineItems":[{"amount":"12.90","label":"Fish and chips","type":"final"},\
        {"amount":"-1.29","label":"Lunch offer","type":"final"},{"amount":"2.50","label":"Bike","type":"final"},\
        {"amount":"0.30","label":"Card fee","type":"final"}],\
        "merchantCapabilities":["supports3DS","supportsCredit"],"merchantCategoryCode":"5812",\
        "requiredShippingContactFields":["postalAddress","name","phone","email"],\
        "shippingMethods":[{"amount":"2.50","dateComponentsRange":\
        {"endDateComponents":{"days":21,"hours":20,"months":11,"years":2026},\
        "startDateComponents":{"days":21,"hours":19,"months":11,"years":2026}},\
        "detail":"30–45 minutes","identifier":"bike","label":"Bike"}],\
        "shippingType":"delivery","supportedCountries":["IE","GB"],"supportedNetworks":["visa","masterCard","amex"],\
        "supportsCouponCode":true,"total":{"amount":"14.41","label":"Harbour Kitchen","type":"final"}}
        """)
  }

  @Test func `is read back as it was written`() throws {
    let request = try factory.request(for: contents(.shipping, billing: true))
    #expect(try JSONDecoder().decode(PaymentRequest.self, from: Data(text(request).utf8)) == request)
  }

  @Test func `for collection requests no address and offers no methods`() throws {
    let request = try factory.request(for: contents(.collection))
    #expect(request.requiredShippingContactFields == [.name, .phone, .email])
    #expect(request.requiredBillingContactFields.isEmpty)
    #expect(request.shippingMethods.isEmpty)
    #expect(request.shippingType == .storePickup)
    #expect(request.shippingContactEditingMode == .storePickup)
  }

  @Test func `of a ride asks for e-mail and phone, and speaks of no shipping`() throws {
    var ride = try contents(.noFulfillment)
    ride.contactFields = [.email, .phone]
    let request = try factory.request(for: ride)
    #expect(request.requiredShippingContactFields == [.phone, .email])
    #expect(request.shippingType == nil && request.shippingContactEditingMode == nil)
    #expect(try !text(request).contains("shippingType"))
    #expect(try JSONDecoder().decode(PaymentRequest.self, from: Data(text(request).utf8)) == request)
  }

  @Test func `asks for nothing when the basket does`() throws {
    var contents = try contents(.collection)
    contents.contactFields = []
    #expect(try !text(factory.request(for: contents)).contains("requiredShippingContactFields"))
  }

  @Test(
    arguments: [
      (.delivery, .delivery), (.shipping, .shipping), (.collection, .storePickup), (.servicePickup, .servicePickup),
      (.noFulfillment, nil),
    ] as [(ServiceType, ShippingType?)])
  func `names the service in Apple's words`(_ service: ServiceType, _ word: ShippingType?) throws {
    let request = try factory.request(for: contents(service))
    #expect(request.shippingType == word)
    #expect(request.requiredShippingContactFields.contains(.postalAddress) == service.needsAddress)
    #expect(request.shippingMethods.isEmpty != service.needsAddress)
  }

  @Test func `asks for a billing address only when the merchant needs it`() throws {
    #expect(
      try factory.request(for: contents(.collection, billing: true)).requiredBillingContactFields == [.postalAddress])
  }

  @Test func `leaves out empty members`() throws {
    let euro = try #require(Currency(code: "EUR"))
    let lone = SheetContents(
      currency: euro, service: .collection,
      lines: [SummaryItem(label: "A", amount: Amount(minorUnits: 5, currency: euro))])
    let text = try text(factory.request(for: lone))
    for key in ["lineItems", "shippingMethods", "applicationData", "couponCode", "supportsCouponCode"] {
      #expect(!text.contains("\"\(key)\""))
    }
  }

  @Test func `never offers a method with a negative price`() throws {
    var contents = try contents(.delivery)
    contents.shippingMethods = [ShippingMethod(identifier: "x", label: "X", detail: "", amount: try euro(-1))]
    #expect(throws: SheetViolation.negativeShipping(try euro(-1))) { try factory.request(for: contents) }
  }
}

@Suite struct `A change and its answer` {
  private func change(_ text: String) throws -> SheetChange {
    try JSONDecoder().decode(SheetChange.self, from: Data(text.utf8))
  }

  @Test(arguments: [
    (#"{"shippingMethod":{"identifier":"bike","label":"Bike","amount":"1.00"}}"#, SheetChange.shippingMethod("bike")),
    (#"{"shippingMethod":"bike"}"#, .shippingMethod("bike")), (#"{"couponCode":""}"#, .couponCode("")),
    (#"{"paymentMethod":{"type":"credit"}}"#, .paymentMethod(.credit)),
    (#"{"paymentMethod":{}}"#, .paymentMethod(.unknown)), (#"{"paymentMethod":"elsewhere"}"#, .paymentMethod(.unknown)),
    (
      #"{"shippingContact":{"countryCode":"ie","postalCode":" D01 ","givenName":"","addressLines":["1 Quay"]}}"#,
      .shippingContact(RedactedContact(postalCode: "D01", countryCode: "IE"))
    ),
    (#"{"couponCode":"A","shippingMethod":null}"#, .couponCode("A")),
  ]) func `is read from Apple's events`(_ text: String, _ expected: SheetChange) throws {
    #expect(try change(text) == expected)
    let again = try JSONDecoder().decode(SheetChange.self, from: JSONEncoder().encode(expected))
    #expect(again == expected)
  }

  @Test(arguments: ["{}", #"{"couponCode":"A","shippingMethod":"b"}"#, #"{"shippingMethod":{}}"#, "[]"])
  func `is exactly one change`(_ text: String) {
    #expect(throws: DecodingError.self) { try change(text) }
  }

  @Test func `is answered with Apple's update`() throws {
    let euro = try #require(Currency(code: "EUR"))
    let lines = [100, -1].map { SummaryItem(label: "L", amount: Amount(minorUnits: $0, currency: euro)) }
    let update = SheetUpdate(
      summary: try Summary(businessName: "Shop", lines: lines, currency: euro), shippingMethods: [],
      errors: [.addressUnserviceable("Not there."), .shippingContactInvalid(.postalCode, "Which?")])
    let text = try text(update)
    #expect(
      text == """
        {"errors":[{"code":"addressUnserviceable","message":"Not there."},\
        {"code":"shippingContactInvalid","contactField":"postalCode","message":"Which?"}],\
        "newLineItems":[{"amount":"1.00","label":"L","type":"final"},{"amount":"-0.01","label":"L","type":"final"}],\
        "newShippingMethods":[],"newTotal":{"amount":"0.99","label":"Shop","type":"final"}}
        """)
  }
}
