import Foundation
import DirectWire
import TenderPayments
import Testing

private let complete = """
  { "currencyCode":"EUR", "countryCode":"IE", "merchantReference":"HK-1042", "businessName":"Harbour Kitchen",
    "serviceTypes":["delivery","collection"], "serviceType":"delivery",
    "items":[{"id":"fish","label":"Fish and chips","unitAmount":1290,"quantity":1,"availableIn":["central"]}],
    "fees":[{"label":"Service fee","amount":50,"serviceTypes":["delivery"],"paymentMethodTypes":["credit"]},
            {"label":"Tax","basisPoints":1350,"zones":["central"]}],
    "zones":[{"id":"central","countryCode":"IE","postalPrefixes":["D01","D02"],"methods":["bike"]}],
    "shippingMethods":[{"identifier":"bike","label":"Bike","detail":"30–45 minutes","amount":250,"freeFrom":3000}],
    "coupons":[{"code":"LUNCH10","label":"Lunch offer","percentBasisPoints":1000,"expiresAt":"2030-01-01T00:00:00Z"}],
    "requestedFor":"19:30", "note":"ring twice", "customer":"c-123", "capture":"immediate", "authorization":"final", "pending":false,
    "contactFields":["email","phone"], "lines":"subtotal", "addressCheck":"none", "locale":"de-AT", "billingRequired":false, "supportedCountries":["IE","GB"], "quoteURL": null }
  """

private func decode(_ text: String) throws -> BasketDocument {
  try JSONDecoder().decode(BasketDocument.self, from: Data(text.utf8))
}

@Suite struct `A basket document` {
  @Test func `is read with every property`() throws {
    let basket = try decode(complete)
    #expect(basket.items[0].availableIn == ["central"])
    #expect(basket.fees[0].paymentMethodTypes == ["credit"])
    #expect(basket.zones[0].postalPrefixes == ["D01", "D02"])
    #expect(basket.shippingMethods[0].freeFrom == 3_000)
    #expect(basket.coupons[0].expiresAt == Timestamp(rfc3339: "2030-01-01T00:00:00Z").map(WireTime.init))
    #expect(basket.quoteURL == nil && basket.authorization == .final)
    #expect(
      basket.contactFields == ["email", "phone"] && basket.lines == .subtotal
        && basket.addressCheck == BasketDocument.AddressCheck.none && basket.locale == "de-AT")
    #expect(basket.fees[1].basisPoints == 1_350 && basket.fees[1].zones == ["central"] && basket.fees[1].amount == nil)
  }

  @Test func `has its every property on the page for back ends`() throws {
    let source = try text("Sources/Payments/DirectWire/BasketDocumentReading.swift")
    let keys = source.components(separatedBy: "extension BasketDocument.")[0].split(separator: "\n")
      .filter { $0.hasPrefix("    case ") }
      .flatMap { $0.dropFirst("    case ".count).split(separator: ",") }
      .map { $0.filter { !$0.isWhitespace } }
    let page = try text("docs/back-end.md")
    #expect(keys.count > 20 && keys.contains("quoteURL"))
    #expect(keys.filter { !page.contains("`\($0)`") }.isEmpty)
  }

  /// A file of the tree that the tests were built from.
  private func text(_ path: String) throws -> String {
    let root = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  @Test func `survives being written and read again`() throws {
    let basket = try decode(complete)
    #expect(try JSONDecoder().decode(BasketDocument.self, from: JSONEncoder().encode(basket)) == basket)
  }

  /// What is stored must be readable again: a basket that is not can be neither shown nor replaced.
  @Test(arguments: [
    "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.9Z", "1999-12-31T23:59:59Z", "2030-01-01T00:00:00.000001Z",
    "9999-12-31T23:59:59.999999Z",
  ])
  func `is read again as it was written, whenever its coupon ends`(_ time: String) throws {
    let basket = try decode(complete.replacing("2030-01-01T00:00:00Z", with: time))
    #expect(try JSONDecoder().decode(BasketDocument.self, from: JSONEncoder().encode(basket)) == basket)
    #expect(basket.coupons[0].expiresAt?.timestamp.description.utf8.count == 20)
  }

  @Test func `needs only what a sale needs`() throws {
    let basket = try decode(
      """
      {"currencyCode":"JPY","countryCode":"JP","merchantReference":"1","businessName":"Shop",
       "serviceTypes":["shipping"],"items":[{"id":"a","label":"A","unitAmount":500}]}
      """)
    #expect(basket.items[0].quantity == 1)
    #expect(basket.capture == .immediate)
    #expect(basket.fees.isEmpty && basket.zones.isEmpty && !basket.pending && basket.serviceType == nil)
  }

  @Test(arguments: [
    ("\"note\"", "\"notes\"", "notes"), ("\"postalPrefixes\"", "\"prefixes\"", "prefixes"),
    ("\"freeFrom\"", "\"freeAbove\"", "freeAbove"), ("\"paymentMethodTypes\"", "\"types\"", "types"),
  ]) func `with a misspelt property is refused by its name`(_ right: String, _ wrong: String, _ name: String) throws {
    let text = complete.replacing(right, with: wrong)
    let error = try #require(throws: DecodingError.self) { try decode(text) }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("another error: \(error)")
      return
    }
    #expect(context.codingPath.last?.stringValue == name)
  }

  @Test(arguments: [
    ("\"EUR\"", "\"XAU\""), ("\"immediate\"", "\"later\""), ("\"subtotal\"", "\"none\""),
    ("2030-01-01T00:00:00Z", "2030-02-30"),
    ("2030-01-01T00:00:00Z", "0999-01-01T00:00:00Z"), ("2030-01-01T00:00:00Z", "999-01-01T00:00:00Z"),
    ("2030-01-01T00:00:00Z", "1969-12-31T23:59:59Z"), ("2030-01-01T00:00:00Z", "10000-01-01T00:00:00Z"),
  ])
  func `with a value that means nothing is refused`(_ right: String, _ wrong: String) {
    #expect(throws: DecodingError.self) { try decode(complete.replacing(right, with: wrong)) }
  }
}

@Suite struct `An error of the platform API` {
  @Test func `has Worldline's shape`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let error = PlatformError(errorId: "e-1", .invalidValue("items[0].unitAmount", "must not be negative"))
    let text = String(decoding: try encoder.encode(error), as: UTF8.self)
    #expect(
      text == """
        {"errorId":"e-1","errors":[{"category":"DIRECT_PLATFORM_ERROR","code":"1008","errorCode":"50001111",\
        "httpStatusCode":400,"id":"INVALID_VALUE","message":"must not be negative",\
        "propertyName":"items[0].unitAmount","retriable":false}],"status":400}
        """)
  }

  @Test func `does not tell why a caller is not believed`() {
    #expect(PlatformFault.accessNotAllowed.httpStatusCode == 403)
    #expect(PlatformFault.accessNotAllowed.code == "9007")
  }
}
