import Foundation
import StrictJSON
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import Testing

@Suite struct `The server's answers` {
  private func again<Value: Codable & Equatable>(_ value: Value) throws -> Bool {
    try StrictJSONDecoder().decode(Value.self, from: Array(try JSONEncoder().encode(value))) == value
  }

  @Test func `can be read by the client`() throws {
    #expect(try again(ValidateCall(basketId: Sample.basket, validationURL: "https://a")))
    #expect(try again(PostalCodeCall(postalCode: "1", countryCode: "DE")))
    #expect(try again(PostalCodeAnswer(deliverable: true)))
    #expect(try again(DetailsCall(serviceType: .delivery, requestedFor: "now", note: "n")))
    #expect(
      try again(
        ProblemDetails(
          title: "t", status: 422, code: "c", detail: "d", field: "f", errors: [.unknown("m")], requestId: "r")))
    #expect(
      try again(
        PaymentAnswer(
          orderId: OrderID("o"), paymentId: PaymentID("p"), status: .captured, guestToken: nil,
          receipt: .init(amount: "1.00", currency: "EUR", merchantReference: "R"))))
    #expect(
      try again(
        MetadataAnswer(
          enabled: true, environment: .simulated, merchantIdentifier: "m", displayName: "d", countryCode: "IE",
          currencyCode: "EUR", supportedNetworks: [.visa], merchantCapabilities: [.supports3DS],
          touchIcons: [.init(href: "/a")], apiVersion: 14, simulatedSession: nil)))
    let sheet = BasketSheetAnswer(
      basketId: Sample.basket, quoteId: QuoteID("q"), applePayVersion: 14, request: try Sample.sheet().request)
    let read = try StrictJSONDecoder().decode(BasketSheetAnswer.self, from: Array(try JSONEncoder().encode(sheet)))
    #expect(read.request == sheet.request && read.networkVersions == sheet.networkVersions)
  }
}
