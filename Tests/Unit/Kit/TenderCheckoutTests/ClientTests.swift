import Foundation
import StrictJSON
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `The checkout client` {
  let server = HeldServer()
  var client: CheckoutClient { CheckoutClient(server.transport) }

  @Test func `writes the payment as Apple Pay JS does, and the payment token unchanged`() async throws {
    let token = #"{"data":"ab/+=","version":"EC_v1","header":{"z":1,"a":2}}"#
    let submission = PaymentSubmission(
      basket: Sample.basket, quote: QuoteID("q1"), payment: Sample.payment(data: token))
    let text = String(decoding: try submission.json().serialized(), as: UTF8.self)
    #expect(text.contains(#""paymentData":{"data":"ab/+=","version":"EC_v1","header":{"z":1,"a":2}}"#))
    #expect(text.contains(#""paymentMethod":{"displayName":"Visa 0492","network":"Visa","type":"debit"}"#))
    #expect(text.contains(#""shippingContact":{"givenName":"Ada","familyName":"Sandford""#))
    #expect(text.contains(#""countryCode":"GB""#))
    #expect(!text.contains("billingContact"))
  }

  @Test func `never prints a payment`() {
    #expect("\(Sample.payment())" == "AuthorizedPayment")
    #expect(String(reflecting: Sample.payment()) == "AuthorizedPayment")
    #expect(Mirror(reflecting: Sample.payment()).children.isEmpty)
    #expect("\(CheckoutCall(.post, "/applepay/payment", body: [1]))" == "POST /applepay/payment")
  }

  @Test func `reads metadata, sheet and update`() async throws {
    async let metadata = client.metadata()
    try await server.answer(
      "/applepay/metadata", 200,
      [
        "enabled": true, "environment": "simulated", "merchantIdentifier": "m", "displayName": "D", "countryCode": "IE",
        "currencyCode": "EUR", "supportedNetworks": ["visa"], "merchantCapabilities": ["supports3DS"],
        "touchIcons": [["href": "/a"]], "apiVersion": 14,
      ])
    #expect(try await metadata.touchIcons.first?.href == "/a")

    async let sheet = client.sheet(of: Sample.basket)
    try await server.answer("sheet", 200, Wire.sheet(Sample.basket.rawValue, quote: "q1"))
    #expect(try await sheet.request.applicationData == [1, 2, 3])

    let euro = try #require(Currency(code: "EUR"))
    async let update = client.update(Sample.basket, .couponCode("A"), currency: euro)
    try await server.answer("update", 200, Wire.update("q2", total: "10.00", methods: [("bike", "2.50")]))
    #expect(try await update.update.newShippingMethods?.first?.amount.minorUnits == 250)
    #expect(try await update.update.summaryItems.count == 1)
  }

  @Test func `distinguishes refused, unsent, lost and unreadable calls`() async throws {
    func failure(_ step: () async throws -> Void) async throws -> CheckoutFailure {
      let call = Task { try await client.cancel(Sample.basket) }
      try await step()
      return try await #require(throws: CheckoutFailure.self) { try await call.value }
    }
    let refused = try await failure {
      try await server.refuse("cancel", 409, "basket_placed", [Wire.error("unknown", nil)])
    }
    #expect(refused.code == "basket_placed")
    #expect(refused.detail == "For the integrator.")
    #expect(refused.sheetErrors == [.unknown("")])
    let unsent = try await failure { try await server.lose("cancel", .notSent("no network")) }
    #expect(unsent.code == "server_unreachable")
    #expect(unsent.detail.contains("no network"))
    let lost = try await failure { try await server.lose("cancel") }
    #expect(lost.code == "connection_lost")
    #expect(!lost.detail.isEmpty)
    let unreadable = try await failure { try await server.answer("cancel", 502, "Bad Gateway") }
    #expect(unreadable == .unreadable(status: 502))
    #expect(unreadable.code == "answer_unreadable")
    #expect(unreadable.detail.contains("502"))
    #expect(unreadable.sheetErrors.isEmpty)
    let nonsense = Task { try await client.sheet(of: Sample.basket) }
    try await server.answer("sheet", 200, ["no": "sheet"])
    await #expect(throws: CheckoutFailure.unreadable(status: 200)) { try await nonsense.value }
  }

  @Test func `escapes a basket's id in a path`() async throws {
    async let outcome: Void = client.cancel(BasketID("a/../b?c=ü"))
    try await waitUntil("a call") { !server.calls.isEmpty }
    let call = try #require(server.calls.first)
    #expect(call.path == "/applepay/payment/a%2F%2E%2E%2Fb%3Fc%3D%C3%BC")
    try await server.answer(call.kind, 204)
    try await outcome
  }

  @Test func `sends every change of the sheet`() async throws {
    let place = RedactedContact(
      subLocality: "a", locality: "b", subAdministrativeArea: "c", administrativeArea: "d", postalCode: "e",
      countryCode: "FR")
    let euro = try #require(Currency(code: "EUR"))
    for change in [
      SheetChange.shippingContact(place), .shippingMethod("bike"), .couponCode(""), .paymentMethod(.credit),
    ] {
      let update = Task { try await client.update(Sample.basket, change, currency: euro) }
      let held = try await server.next("update")
      #expect(try StrictJSONDecoder().decode(SheetChange.self, from: held.call.json) == change)
      held.answer.resume(returning: .failure(.lost))
      await #expect(throws: CheckoutFailure.lost) { try await update.value }
    }
  }

  @Test func `sends no payment that is not JSON`() async throws {
    let submission = PaymentSubmission(basket: Sample.basket, quote: QuoteID("q"), payment: Sample.payment(data: "{"))
    await #expect(throws: CheckoutFailure.self) { try await client.pay(submission) }
    #expect(server.calls.isEmpty)
  }

  @Test func `over URLSession reports a port without a server as not sent`() async throws {
    let transport = CheckoutTransport.urlSession(server: try #require(URL(string: "http://127.0.0.1:9/")))
    await #expect(throws: CheckoutFailure.self) { try await CheckoutClient(transport).metadata() }
    do {
      _ = try await transport.send(CheckoutCall(.get, "/applepay/metadata"), TestRun.whole)
    } catch {
      guard case .notSent = error else {
        Issue.record("\(error)")
        return
      }
    }
    let nowhere = CheckoutTransport.urlSession(
      server: try #require(URL(string: "http://[::1") ?? URL(string: "nothing:")))
    await #expect(throws: CheckoutInterruption.self) {
      try await nowhere.send(CheckoutCall(.get, " /%"), TestRun.whole)
    }
  }
}

#if DEBUG
  @Suite struct `Simulated payments` {
    @Test func `never replace a payment token that is not empty, and need a sandbox that answers`() async throws {
      let closedPort = try #require(URL(string: "http://127.0.0.1:9"))
      let server = HeldServer()
      let (sheet, client) = (HeldSheet(), CheckoutClient(server.transport))
      let service = ApplePayService(
        merchant: Sample.merchant, client: client, sheet: sheet.sheet, device: .phone(),
        clock: ManualTime().clock)
      await service.use(SimulatedPayments(sandbox: closedPort, merchantIdentifier: "m"))
      await service.prepare(try Sample.sheet())
      await service.present()
      let conversation = try await sheet.opened()
      async let real = conversation.authorize(Sample.payment())
      let held = try await server.next("pay")
      #expect(held.call.json["token"]?["paymentData"]?["version"] == "EC_v1")
      held.answer.resume(
        returning: .success(CheckoutReply(status: 402, body: Wire.problem(402, "declined").serialized())))
      _ = await real
      await service.prepare(try Sample.sheet())
      await service.present()
      #expect(await conversation.authorize(Sample.payment(data: ""))?.completion == .failure([]))
    }
  }
#endif
