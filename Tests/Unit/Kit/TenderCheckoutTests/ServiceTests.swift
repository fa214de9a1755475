import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import Testing

@Suite struct `The service` {
  @Test func `reports a payment from the sheet to the order, in this order`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.server.answer("pay", 200, Wire.payment())
    #expect(await answer.value?.completion == .success)
    await conversation.closed()
    let reports = try await till.reports(3)
    #expect(reports.map(\.name) == ["presented", "completed", "finished success"])
    guard case .completed(let order) = reports[1] else { return }
    #expect(order.id == OrderID("order-1"))
    #expect(order.payment == PaymentID("payment-1"))
    #expect(order.guestToken == "guest")
    #expect(order.basket == Sample.basket)
  }

  @Test func `tells a delegate the same`() async throws {
    let till = await Till()
    let delegate = Delegate()
    await till.service.report(to: delegate)
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.server.refuse("pay", 402, "declined")
    _ = await answer.value
    await conversation.closed()
    #expect(try await delegate.heard(3) == ["presented", "failed declined", "finished"])
  }

  @Test func `without a basket has nothing to present`() async throws {
    let till = await Till()
    await till.service.present()
    #expect(try await till.reports(1).map(\.name) == ["unavailable not_prepared"])
    #expect(await till.service.cancel() == .tooLate)
    #expect(await till.service.payment == nil)
  }

  @Test func `shows one sheet, however often the button is tapped`() async throws {
    let till = await Till()
    _ = try await till.opens()
    await till.service.present()
    await till.service.present()
    await till.service.prepare(try Sample.sheet("q9"))
    #expect(await till.service.isBusy)
    // The device is asked for one thing after the other: a second sheet would be there before the first is taken away.
    #expect(await till.service.cancel() == .cancelled)
    #expect(try await till.reports(3).count == 3)
    #expect(till.sheet.presented == 1)
    #expect(till.sheet.opening?.request == (try Sample.sheet().request))
  }

  @Test func `sends one payment, however often the sheet says that the shopper agreed`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let first = till.authorizes(conversation)
    try await till.waits(for: "pay")
    #expect(await till.authorizes(conversation).value == nil)
    try await till.server.answer("pay", 200, Wire.payment())
    #expect(await first.value?.completion == .success)
    #expect(await conversation.isIdle)
    #expect(till.server.calls.count { $0.kind == "pay" } == 1)
  }

  @Test func `asks the device only for networks that both it and the app know`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    #expect(till.sheet.opening?.request.supportedNetworks == [.visa, .masterCard, .bankAxept])
    #expect(till.sheet.opening?.merchantIdentifier == "merchant.com.example.trattoria")
    await conversation.closed()

    let old = ApplePayService(
      merchant: Sample.merchant, client: CheckoutClient(till.server.transport), sheet: till.sheet.sheet,
      device: .phone(.iOS(PlatformVersion(16))), clock: till.time.clock)
    await old.prepare(try Sample.sheet())
    await old.present()
    try await becomes("the second sheet") { till.sheet.presented == 2 }
    #expect(till.sheet.opening?.request.supportedNetworks == [.visa, .masterCard])
  }

  @Test func `refuses an address that is plainly wrong without asking the server`() async throws {
    let till = await Till(checks: AddressChecks(countries: ["GB"]))
    let conversation = try await till.opens()
    let update = await conversation.changed(.shippingContact(RedactedContact(postalCode: "10115", countryCode: "DE")))
    #expect(update?.errors.map(\.code) == [.addressUnserviceable])
    #expect(update?.newTotal.amount == (try Sample.eur(1250)))
    #expect(till.server.calls.isEmpty)
  }

  @Test func `judges the whole contact again before it sends the payment`() async throws {
    let till = await Till(checks: AddressChecks(countries: ["GB"]))
    let conversation = try await till.opens()
    let nobody = FullContact(addressLines: ["1 Main Street"], postalCode: "10115", countryCode: "DE")
    let answer = await conversation.authorized(Sample.payment(nobody))
    guard case .failure(let errors)? = answer?.completion else {
      Issue.record("it was sent")
      return
    }
    #expect(errors.first?.code == .addressUnserviceable)
    #expect(errors.compactMap(\.contactField) == [.name, .phoneNumber, .emailAddress])
    #expect(till.server.calls.isEmpty)
    // The sheet is still open: corrected, the same sheet pays.
    let second = till.authorizes(conversation)
    try await till.server.answer("pay", 200, Wire.payment())
    #expect(await second.value?.completion == .success)
  }

  @Test func `shows what the server finds wrong with the full address, and stays open`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    let answer = till.authorizes(conversation)
    try await till.server.refuse(
      "pay", 422, "address_changes_price", [Wire.error("shippingContactInvalid", "postalCode")])
    #expect(await answer.value?.completion == .failure([.shippingContactInvalid(.postalCode, "")]))
    #expect(await till.service.isBusy)
  }

  @Test func `never takes an empty payment token, nor one that is no JSON`() async throws {
    let till = await Till()
    var conversation = try await till.opens()
    #expect(await conversation.authorized(Sample.payment(data: ""))?.completion == .failure([]))
    await conversation.closed()
    conversation = try await till.opens()
    #expect(await conversation.authorized(Sample.payment(data: "{"))?.completion == .failure([]))
    await conversation.closed()
    let names = try await till.reports(6).map(\.name)
    #expect(names.contains("failed empty_payment_data"))
    #expect(names.contains("failed not_json"))
    #expect(till.server.calls.isEmpty)
  }

  @Test func `gives Wallet the order to follow`() async throws {
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
    async let answer = conversation.authorized(Sample.payment())
    try await server.answer("pay", 200, Wire.payment("pending"))
    #expect(await answer?.tracking == tracking)
  }

  @Test func `tells after a new start what became of a payment`() async throws {
    let till = await Till()
    await till.service.resume(Sample.basket)
    try await till.server.answer("outcome", 200, Wire.payment())
    #expect(try await till.reports(1).map(\.name) == ["completed"])
    await till.service.openWallet()
    #expect(await till.service.availability().button == .buy)
  }

  @Test func `answers a sheet that is over with nothing`() async throws {
    let till = await Till()
    let conversation = try await till.opens()
    await conversation.closed()
    #expect(await conversation.changed(.couponCode("A")) == nil)
    #expect(await conversation.authorized(Sample.payment()) == nil)
    #expect(await conversation.merchantSession() == nil)
    #expect(await conversation.isIdle)
    #expect(till.server.calls.isEmpty)
  }

  @Test func `goes on asking what became of a payment while another basket is paid`() async throws {
    let till = await Till()
    let first = try await till.opens()
    let answer = till.authorizes(first)
    try await till.waits(for: "pay")
    await till.time.pass(.seconds(28), in: first)
    #expect(await answer.value?.completion == .failure([]))
    await first.closed()
    #expect(try await till.reports(3).last?.name == "finished unknown")

    let other = PreparedSheet(basket: BasketID("another"), quote: QuoteID("q7"), request: try Sample.sheet().request)
    await till.service.prepare(other)
    #expect(await till.service.basket == other.basket)
    await till.time.pass(.seconds(4), in: first)
    try await till.server.answer("outcome", 200, Wire.payment())
    guard case .completed(let order)? = try await till.reports(4).last else {
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

  func heard(_ count: Int) async throws -> [String] {
    try await becomes("line \(count)") { lines.count >= count }
    return lines
  }
}
