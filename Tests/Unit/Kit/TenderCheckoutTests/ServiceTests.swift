import StrictJSON
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `The service` {
  @Test func `reports a payment from the sheet to the order, in this order`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.server.answer("pay", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    await conversation.close()
    let reports = try await fixture.reports(3)
    #expect(reports.map(\.name) == ["presented", "completed", "finished success"])
    guard case .completed(let order) = reports[1] else { return }
    #expect(order.id == OrderID("order-1"))
    #expect(order.payment == PaymentID("payment-1"))
    #expect(order.guestToken == "guest")
    #expect(order.basket == Sample.basket)
  }

  @Test func `reports the same to a delegate`() async throws {
    let fixture = await CheckoutFixture()
    let delegate = Delegate()
    await fixture.service.report(to: delegate)
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.server.refuse("pay", 402, "declined")
    _ = await answer.value
    await conversation.close()
    #expect(try await delegate.reports(3) == ["presented", "failed declined", "finished"])
  }

  @Test func `without a basket has nothing to present`() async throws {
    let fixture = await CheckoutFixture()
    await fixture.service.present()
    #expect(try await fixture.reports(1).map(\.name) == ["unavailable not_prepared"])
    #expect(await fixture.service.cancel() == .tooLate)
    #expect(await fixture.service.payment == nil)
  }

  @Test func `shows one sheet, however often the button is tapped`() async throws {
    let fixture = await CheckoutFixture()
    _ = try await fixture.opens()
    await fixture.service.present()
    await fixture.service.present()
    await fixture.service.prepare(try Sample.sheet("q9"))
    #expect(await fixture.service.isBusy)
    // Calls to the device are made in order: otherwise a second sheet would be shown before the first is dismissed.
    #expect(await fixture.service.cancel() == .cancelled)
    #expect(try await fixture.reports(3).count == 3)
    #expect(fixture.sheet.presented == 1)
    #expect(fixture.sheet.opening?.request == (try Sample.sheet().request))
  }

  @Test func `sends one payment, however often the sheet reports an authorization`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let first = fixture.authorizes(conversation)
    try await fixture.waits(for: "pay")
    #expect(await fixture.authorizes(conversation).value == nil)
    try await fixture.server.answer("pay", 200, Wire.payment())
    #expect(await first.value?.completion == .success)
    #expect(await conversation.isIdle)
    #expect(fixture.server.calls.count { $0.kind == "pay" } == 1)
  }

  @Test func `sends the guest token of the last order with the next, so that the guest stays the same`() async throws {
    let fixture = await CheckoutFixture()
    var sheet = try Sample.sheet()
    sheet.guestToken = "earlier"
    let conversation = try await fixture.opens(sheet)
    let answer = fixture.authorizes(conversation)
    try await fixture.server.answer("pay", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    #expect(try #require(fixture.server.calls.last { $0.kind == "pay" }).json["guestToken"] == "earlier")
  }

  @Test func `asks the device only for networks that both it and the app know`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    #expect(fixture.sheet.opening?.request.supportedNetworks == [.visa, .masterCard, .bankAxept])
    #expect(fixture.sheet.opening?.merchantIdentifier == "merchant.com.example.trattoria")
    await conversation.close()

    let old = ApplePayService(
      merchant: Sample.merchant, client: CheckoutClient(fixture.server.transport), sheet: fixture.sheet.sheet,
      device: .phone(.iOS(PlatformVersion(16))), clock: fixture.time.clock)
    await old.prepare(try Sample.sheet())
    await old.present()
    try await waitUntil("the second sheet") { fixture.sheet.presented == 2 }
    #expect(fixture.sheet.opening?.request.supportedNetworks == [.visa, .masterCard])
  }

  @Test func `refuses a certainly wrong address without asking the server`() async throws {
    let fixture = await CheckoutFixture(checks: AddressChecks(countries: ["GB"]))
    let conversation = try await fixture.opens()
    let update = await conversation.apply(.shippingContact(RedactedContact(postalCode: "10115", countryCode: "DE")))
    #expect(update?.errors.map(\.code) == [.addressUnserviceable])
    #expect(update?.newTotal.amount == (try Sample.eur(1250)))
    #expect(fixture.server.calls.isEmpty)
  }

  @Test func `checks the full contact again before it sends the payment`() async throws {
    let fixture = await CheckoutFixture(checks: AddressChecks(countries: ["GB"]))
    let conversation = try await fixture.opens()
    let nameless = FullContact(
      addressLines: ["1 Main Street"], locality: "Berlin", postalCode: "10115", countryCode: "DE")
    let answer = await conversation.authorize(Sample.payment(nameless))
    guard case .failure(let errors)? = answer?.completion else {
      Issue.record("it was sent")
      return
    }
    #expect(errors.first?.code == .addressUnserviceable)
    #expect(errors.compactMap(\.contactField) == [.name, .phoneNumber, .emailAddress])
    #expect(fixture.server.calls.isEmpty)
    // The sheet is still open: corrected, the same sheet pays.
    let second = fixture.authorizes(conversation)
    try await fixture.server.answer("pay", 200, Wire.payment())
    #expect(await second.value?.completion == .success)
  }

  @Test func `shows the server's errors of the full address and stays open`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    let answer = fixture.authorizes(conversation)
    try await fixture.server.refuse(
      "pay", 422, "address_changes_price", [Wire.error("shippingContactInvalid", "postalCode")])
    #expect(await answer.value?.completion == .failure([.shippingContactInvalid(.postalCode, "")]))
    #expect(await fixture.service.isBusy)
  }

  @Test func `never accepts an empty payment token or one that is not JSON`() async throws {
    let fixture = await CheckoutFixture()
    var conversation = try await fixture.opens()
    #expect(await conversation.authorize(Sample.payment(data: ""))?.completion == .failure([]))
    await conversation.close()
    conversation = try await fixture.opens()
    #expect(await conversation.authorize(Sample.payment(data: "{"))?.completion == .failure([]))
    await conversation.close()
    let names = try await fixture.reports(6).map(\.name)
    #expect(names.contains("failed empty_payment_data"))
    #expect(names.contains("failed not_json"))
    #expect(fixture.server.calls.isEmpty)
  }

  @Test func `gives Wallet the order to track`() async throws {
    let (server, sheet, time) = (HeldServer(), HeldSheet(), ManualTime())
    let tracking = OrderTracking(
      orderTypeIdentifier: "order", orderIdentifier: "1", webServiceURL: "https://example.com",
      authenticationToken: "t")
    let service = ApplePayService(
      merchant: Sample.merchant, client: CheckoutClient(server.transport), sheet: sheet.sheet, device: .phone(),
      clock: time.clock, tracking: { _ in tracking })
    await service.prepare(try Sample.sheet(), contact: Sample.ada)
    await service.present()
    let conversation = try await sheet.opened()
    #expect(sheet.opening?.contact == Sample.ada)
    async let answer = conversation.authorize(Sample.payment())
    try await server.answer("pay", 200, Wire.payment("pending"))
    #expect(await answer?.tracking == tracking)
  }

  @Test func `reports the outcome of a payment after a restart`() async throws {
    let fixture = await CheckoutFixture()
    await fixture.service.resume(Sample.basket)
    try await fixture.server.answer("outcome", 200, Wire.payment())
    let reports = try await fixture.reports(1)
    #expect(reports.map(\.name) == ["completed"])
    guard case .completed(let order)? = reports.first else { return }
    #expect((order.card, order.cardNetwork, order.cardType) == ("Visa 0492", "Visa", .debit))
    #expect(order.transactionIdentifier == "5a5a")
    await fixture.service.openWallet()
    #expect(await fixture.service.availability().button == .buy)
  }

  @Test func `answers an ended sheet with nil`() async throws {
    let fixture = await CheckoutFixture()
    let conversation = try await fixture.opens()
    await conversation.close()
    #expect(await conversation.apply(.couponCode("A")) == nil)
    #expect(await conversation.authorize(Sample.payment()) == nil)
    #expect(await conversation.merchantSession() == nil)
    #expect(await conversation.isIdle)
    #expect(fixture.server.calls.isEmpty)
  }

  @Test func `keeps asking for the outcome of a payment while another basket is paid`() async throws {
    let fixture = await CheckoutFixture()
    let first = try await fixture.opens()
    let answer = fixture.authorizes(first)
    try await fixture.waits(for: "pay")
    await fixture.time.pass(.seconds(28), in: first)
    #expect(await answer.value?.completion == .failure([]))
    await first.close()
    #expect(try await fixture.reports(3).last?.name == "finished unknown")

    let other = PreparedSheet(basket: BasketID("another"), quote: QuoteID("q7"), request: try Sample.sheet().request)
    await fixture.service.prepare(other)
    #expect(await fixture.service.basket == other.basket)
    await fixture.time.pass(.seconds(4), in: first)
    try await fixture.server.answer("outcome", 200, Wire.payment())
    guard case .completed(let order)? = try await fixture.reports(4).last else {
      Issue.record("the order was forgotten")
      return
    }
    #expect(order.basket == Sample.basket)
  }
}

@MainActor private final class Delegate: ApplePayServiceDelegate {
  private var lines: [String] = []

  func applePayServiceDidPresent() { lines.append("presented") }
  func applePayService(didComplete order: PlacedOrder) { lines.append("completed \(order.id)") }
  func applePayService(didFail failure: PaymentFailure) { lines.append("failed \(failure.code)") }
  func applePayService(didFinish result: PaymentResult) { lines.append("finished") }

  func reports(_ count: Int) async throws -> [String] {
    try await waitUntil("line \(count)") { lines.count >= count }
    return lines
  }
}
