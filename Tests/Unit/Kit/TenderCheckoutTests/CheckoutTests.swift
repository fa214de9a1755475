import StrictJSON
import Synchronization
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `Preparing an order` {
  let server = HeldServer()

  private func service(_ checks: AddressChecks = .standard) -> CheckoutService {
    CheckoutService(client: CheckoutClient(server.transport), checks: checks)
  }

  @Test func `saves service, time, note and address, and reports its progress`() async throws {
    let steps = Mutex<[PreparationProgress]>([])
    let details = OrderDetails(
      service: .delivery, requestedFor: Timestamp(seconds: 1_795_260_000), note: "Ring twice", contact: Sample.ada,
      guestToken: "earlier")
    async let prepared = service().prepare(Sample.basket, details) { step in steps.withLock { $0.append(step) } }
    try await server.answer("details", 200, Wire.sheet(Sample.basket.rawValue, quote: "q1"))
    let sheet = try await prepared
    #expect(sheet.quote == QuoteID("q1"))
    #expect(sheet.service == .delivery)
    #expect(sheet.guestToken == "earlier")
    #expect(steps.withLock { $0 } == PreparationProgress.allCases)
    #expect(PreparationProgress.allCases.map(\.fraction) == [0.1, 0.4, 1])
    let body = try #require(server.calls.first).json
    #expect(body["serviceType"] == "delivery")
    #expect(body["requestedFor"] == "2026-11-21T10:00:00Z" || body["requestedFor"]?.word?.hasSuffix("Z") == true)
    #expect(body["note"] == "Ring twice")
    #expect(body["contact"] == ["locality": "London", "postalCode": "EC1A 1BB", "countryCode": "GB"])
  }

  @Test func `refuses an address at once, before the sheet`() async throws {
    let details = OrderDetails(service: .delivery, contact: Sample.ada)
    await #expect(throws: PreparationFailure.self) {
      try await service(AddressChecks(countries: ["IE"])).prepare(Sample.basket, details)
    }
    #expect(server.calls.isEmpty)
  }

  @Test func `adds an agreement to the sheet`() async throws {
    let agreement = PaymentAgreement.deferred(
      DeferredPayment(
        terms: AgreementTerms(paymentDescription: "Table", managementURL: "https://example.com"), label: "Table",
        amount: try Sample.eur(500), date: Timestamp(seconds: 2_000_000_000)))
    async let prepared = service().prepare(Sample.basket, OrderDetails(service: .delivery), agreement: agreement)
    try await server.answer("details", 200, Wire.sheet(Sample.basket.rawValue, quote: "q1"))
    #expect(try await prepared.request.agreement == agreement)
  }

  @Test func `asks whether a place is served`() async throws {
    async let served = service().delivers(Sample.basket, to: "10115", in: "DE")
    try await server.answer("/applepay/basket/\(Sample.basket)/validatepostalcode", 200, ["deliverable": true])
    #expect(try await served)
    #expect(try await service(AddressChecks(countries: ["IE"])).delivers(Sample.basket, to: "10115", in: "DE") == false)
  }

  @Test func `cancels, or is too late, or gets no answer`() async throws {
    async let first = service().cancel(Sample.basket)
    try await server.answer("cancel", 204)
    #expect(await first == .cancelled)
    async let second = service().cancel(Sample.basket)
    try await server.refuse("cancel", 409, "basket_placed")
    #expect(await second == .tooLate)
    async let third = service().cancel(Sample.basket)
    try await server.lose("cancel")
    #expect(await third == .unanswered)
    async let fourth = service().cancel(Sample.basket)
    try await server.refuse("cancel", 503, "store_unavailable")
    #expect(await fourth == .unanswered)
  }

  @Test func `asks for an outcome and distinguishes the unknown ones`() async throws {
    func outcome(_ status: Int, _ body: JSONValue) async throws -> PaymentResult? {
      async let outcome = service().outcome(of: Sample.basket)
      try await server.answer("outcome", status, body)
      return try await outcome
    }
    guard case .success? = try await outcome(200, Wire.payment()) else {
      Issue.record("not a success")
      return
    }
    #expect(try await outcome(202, Wire.payment("unknown")) == .unknown)
    #expect(try await outcome(404, Wire.problem(404, "payment_not_found")) == nil)
    #expect(try await outcome(409, Wire.problem(409, "payment_in_progress")) == .unknown)
    guard case .failure(let failure)? = try await outcome(402, Wire.problem(402, "declined")) else {
      Issue.record("not a failure")
      return
    }
    #expect(failure.code == "declined")
    await #expect(throws: CheckoutFailure.self) { try await outcome(503, Wire.problem(503, "store_unavailable")) }
    let lost = Task { try await service().outcome(of: Sample.basket) }
    try await server.lose("outcome")
    await #expect(throws: CheckoutFailure.lost) { try await lost.value }
  }
}

@Suite struct `The whole checkout` {
  private struct NoBasket: Error {}

  let server = HeldServer()
  let sheet = HeldSheet()
  let time = ManualTime()

  private func flow(_ device: PaymentDevice = .phone(), fails: Bool = false) -> PaymentFlowController {
    let client = CheckoutClient(server.transport)
    let service = ApplePayService(
      merchant: Sample.merchant, client: client, sheet: sheet.sheet, device: device, clock: time.clock)
    return PaymentFlowController(service: service, checkout: CheckoutService(client: client)) { _ in
      if fails { throw NoBasket() }
      return Sample.basket
    }
  }

  private func prepared() async throws {
    try await server.answer("details", 200, Wire.sheet(Sample.basket.rawValue, quote: "q1"))
  }

  @Test func `ends with an order`() async throws {
    let flow = flow()
    async let outcome = flow.pay(OrderDetails(service: .delivery), as: .signedIn("customer-7"))
    try await prepared()
    let conversation = try await sheet.opened()
    async let answer = conversation.authorize(Sample.payment())
    try await server.answer("pay", 200, Wire.payment())
    _ = await answer
    await conversation.close()
    guard case .ordered(let order) = await outcome else {
      Issue.record("not ordered")
      return
    }
    #expect(order.receipt.amount == "12.50")
  }

  @Test func `starts once, however often the button is tapped`() async throws {
    let flow = flow()
    async let first = flow.pay(OrderDetails(service: .delivery))
    try await prepared()
    let conversation = try await sheet.opened()
    #expect(await flow.pay(OrderDetails(service: .delivery)) == .busy)
    await conversation.close()
    #expect(await first == .cancelled)
    #expect(await flow.cancel() == .cancelled)
  }

  @Test func `starts once, also from two places of the app`() async throws {
    let (client, basket) = (CheckoutClient(server.transport), BasketID("second"))
    let service = ApplePayService(
      merchant: Sample.merchant, client: client, sheet: sheet.sheet, device: .phone(), clock: time.clock)
    let checkout = CheckoutService(client: client)
    let first = PaymentFlowController(service: service, checkout: checkout) { _ in Sample.basket }
    let second = PaymentFlowController(service: service, checkout: checkout) { _ in basket }
    async let slow = second.pay(OrderDetails(service: .delivery))
    let held = try await server.next("details")
    async let quick = first.pay(OrderDetails(service: .delivery))
    try await prepared()
    let conversation = try await sheet.opened()
    held.answer.resume(
      returning: .success(CheckoutReply(status: 200, body: Wire.sheet("second", quote: "q2").serialized())))
    #expect(await slow == .busy)
    #expect(await second.pay(OrderDetails(service: .delivery)) == .busy)
    await conversation.close()
    #expect(await quick == .cancelled)
    #expect(sheet.presented == 1)
  }

  @Test func `falls back to the standard checkout where Apple Pay cannot be used`() async throws {
    #expect(
      await flow(.phone(canPay: false)).pay(OrderDetails(service: .delivery))
        == .standardCheckout(.unavailable(.deviceUnable)))
    guard case .standardCheckout(.failure(let failure)) = await flow(fails: true).pay(OrderDetails(service: .delivery))
    else {
      Issue.record("there was a basket")
      return
    }
    #expect(failure.code == "basket_not_made")
    async let outcome = flow().pay(OrderDetails(service: .delivery))
    try await server.refuse("details", 409, "basket_expired")
    #expect(await outcome.failureCode == "basket_expired")
    let misspelt = FullContact(postalCode: "ABCDE", countryCode: "DE")
    guard
      case .standardCheckout(.address(let errors)) = await flow().pay(
        OrderDetails(service: .delivery, contact: misspelt))
    else {
      Issue.record("the address was taken")
      return
    }
    #expect(errors.count == 1)
    #expect(await flow().availability().button == .buy)
    await flow().openWallet()
  }

  @Test func `distinguishes a decline from an unknown outcome`() async throws {
    let flow = flow()
    async let declined = flow.pay(OrderDetails(service: .delivery))
    try await prepared()
    let conversation = try await sheet.opened()
    async let first = conversation.authorize(Sample.payment())
    try await server.refuse("pay", 402, "declined")
    #expect(await first?.completion == .failure([]))
    await conversation.close()
    #expect(await declined.failureCode == "declined")

    async let unknown = flow.pay(OrderDetails(service: .delivery))
    try await prepared()
    try await waitUntil("the second sheet") { sheet.presented == 2 }
    async let second = conversation.authorize(Sample.payment())
    _ = try await server.next("pay")
    await time.pass(.seconds(28), in: conversation)
    #expect(await second?.completion == .failure([]))
    await conversation.close()
    #expect(await unknown == .unknown(Sample.basket))
  }
}

extension CheckoutOutcome {
  fileprivate var failureCode: String? {
    if case .standardCheckout(.failure(let failure)) = self { failure.code } else { nil }
  }
}

@Suite struct `A payment of a sheet of the app's own` {
  @Test func `is sent once and ends with its order`() async throws {
    let server = HeldServer()
    let handler = await ApplePayPaymentHandler(
      Sample.payment(), on: try Sample.sheet(), client: CheckoutClient(server.transport), clock: ManualTime().clock)
    #expect(handler.contact.address?.postalCode == "EC1A 1BB")
    async let result = handler.pay()
    try await server.answer("pay", 200, Wire.payment("authorized"))
    guard case .success(let order) = await result else {
      Issue.record("no order")
      return
    }
    #expect(order.status == .authorized)
    #expect(await handler.pay() == .success(order))
    #expect(server.calls.count == 1)
  }

  @Test func `takes name and address of a collection from billing, phone and e-mail from shipping`() async throws {
    var sheet = try Sample.sheet("q1", .collection)
    sheet.request.requiredBillingContactFields = [.postalAddress]
    let payment = AuthorizedPayment(
      paymentData: Array("{}".utf8), transactionIdentifier: "t",
      shippingContact: FullContact(givenName: "G", phoneNumber: "1", emailAddress: "g@example.com"),
      billingContact: FullContact(givenName: "Ada", addressLines: ["1 Street"], postalCode: "10115", countryCode: "DE"))
    let handler = await ApplePayPaymentHandler(payment, on: sheet, client: CheckoutClient(HeldServer().transport))
    #expect(handler.contact.givenName == "Ada")
    #expect(handler.contact.phoneNumber == "1")
    #expect(handler.contact.address?.postalCode == "10115")
  }

  @Test func `that is refused with errors can be corrected, with a new handler`() async throws {
    let server = HeldServer()
    let handler = await ApplePayPaymentHandler(
      Sample.payment(FullContact()), on: try Sample.sheet(), client: CheckoutClient(server.transport))
    guard case .failure(let failure) = await handler.pay() else {
      Issue.record("it was sent")
      return
    }
    #expect(failure.code == "contact_incomplete")
    #expect(failure.sheetErrors.count == 5)
  }
}

@Suite struct `A payment handed over from a watch` {
  let handoff = PaymentHandoff(basket: Sample.basket, service: .collection, title: "Trattoria")

  @Test func `arrives unchanged`() {
    #expect(PaymentHandoff(activityType: PaymentHandoff.activityType, userInfo: handoff.userInfo) == handoff)
  }

  @Test func `is refused when it has another type or lacks a member`() {
    #expect(PaymentHandoff(activityType: "other", userInfo: handoff.userInfo) == nil)
    for key in ["version", "basket", "service"] {
      var broken = handoff.userInfo
      broken[key] = nil
      #expect(PaymentHandoff(activityType: PaymentHandoff.activityType, userInfo: broken) == nil)
    }
    var long = handoff.userInfo
    long["basket"] = String(repeating: "b", count: 129)
    #expect(PaymentHandoff(activityType: PaymentHandoff.activityType, userInfo: long) == nil)
  }
}
