import Foundation
import TenderCheckout
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
    #expect(request.summaryItems.last?.label == "The Store")
    #expect(try request.total.amount.sheetText == "23.40")
  }

  @Test func `has everything for a checkout, from the button to the order`() async throws {
    let server = try #require(URL(string: "http://127.0.0.1:9"))
    let client = CheckoutClient(.urlSession(server: server))
    let service = ApplePayService(
      merchant: MerchantConfiguration(merchantIdentifier: "merchant.com.example.store"), client: client,
      sheet: PaymentSheet(present: { _, _ in false }, dismiss: {}),
      device: PaymentDevice(
        platform: .iOS(PlatformVersion(16)), canMakePayments: { true }, hasCard: { _, _ in true },
        canOpenWallet: { true }, openWallet: {}))
    let flow = PaymentFlowController(service: service, checkout: CheckoutService(client: client)) { _ in
      BasketID("00112233445566778899aabbccddeeff")
    }
    #expect(await flow.availability().button == .buy)
    guard case .standardCheckout(.failure(let failure)) = await flow.pay(OrderDetails(service: .collection)) else {
      Issue.record("there is no server, but the order was paid")
      return
    }
    #expect(failure.code == "server_unreachable")
  }
}
