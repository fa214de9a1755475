import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import Testing

@Suite struct `An app that takes the app kit alone` {
  @Test func `makes a payment request without any part of the server`() throws {
    let euro = try #require(Currency(code: "EUR"))
    let factory = PaymentRequestFactory(businessName: "The Store", countryCode: "FR")
    let request = try factory.request(
      for: SheetContents(
        currency: euro, service: .delivery,
        lines: [
          SummaryItem(label: "Comté, 24 months", amount: Amount(minorUnits: 1_890, currency: euro)),
          SummaryItem(label: "Delivery", amount: Amount(minorUnits: 450, currency: euro)),
        ]))
    #expect(request.total.label == "The Store")
    #expect(try request.total.amount.sheetText == "23.40")
  }
}
