import Acquiring
import Gateway
import Ledger
import Orders
import DirectWire
import Foundation
import Storage
import PaymentTesting
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `Placing an order` {
  private func shop(_ change: (inout BasketDocument) -> Void = { _ in }) async throws -> Shop {
    let shop = try await Shop()
    var document = BasketDocument.dinner
    change(&document)
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    return shop
  }

  private func place(_ shop: Shop, _ quote: QuoteID, billing: FullContact? = nil, shipping: FullContact? = .dublin)
    async throws -> PlacedOrder
  {
    let request = PlaceOrderRequest(
      basket: Shop.basket, quote: quote, token: try await shop.token(for: quote), billingContact: billing,
      shippingContact: shipping)
    return try await shop.orderService.place(request, of: Shop.merchant, before: .after(TestRun.whole))
  }

  @Test func `takes the money that was shown, and keeps whom it is for`() async throws {
    let shop = try await shop { $0.note = "ring twice" }
    let placed = try await shop.pays()
    #expect(placed.payment.status == .captured)
    #expect(placed.payment.amount.minorUnits == 2_490)
    #expect(placed.payment.order == placed.order.id)
    #expect(placed.order.note == "ring twice")
    #expect(try await shop.orderService.contact(Shop.basket, of: Shop.merchant)?.givenName == "Aoife")
    let answer = try await shop.orderService.basket(Shop.basket, of: Shop.merchant)
    #expect(answer.state == .placed)
    #expect(answer.order?.status == .captured)
    #expect(answer.order?.merchantReference == "HK-1042")
  }

  @Test func `says what was captured of it, where the rest was released`() async throws {
    let shop = try await shop { $0.capture = .manual }
    let payment = try await shop.pays().payment
    func order() async throws -> OrderAnswer? {
      try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order
    }
    #expect(try await order()?.captured == nil)
    _ = try await shop.gateway.capture(payment.id, .eur(200), isFinal: false)
    _ = try await shop.gateway.void(payment.id)
    let captured = try await order()
    #expect(captured?.status == .captured && captured?.captured == 200 && captured?.released == 2_290)
    #expect(captured?.amount.amount == 2_490)
    _ = try await shop.gateway.refund(payment.id, .eur(50))
    let refunded = try await order()
    #expect(refunded?.captured == 200 && refunded?.refunded == 50)
  }

  @Test(arguments: ["JA", "UK", "XX"]) func `needs a country that there is, of either contact`(
    _ code: String
  ) async throws {
    let shop = try await shop()
    let quote = try await shop.opens()
    func contact(_ code: String) -> FullContact {
      FullContact(
        givenName: "A", familyName: "B", phoneNumber: "1", emailAddress: "a@b.example", addressLines: ["1 Quay"],
        locality: "Cork", countryCode: code)
    }
    for (shipping, billing, field) in [(code, "IE", "shippingContact"), ("IE", code, "billingContact")] {
      let request = PlaceOrderRequest(
        basket: Shop.basket, quote: quote, token: try await shop.token(for: quote), billingContact: contact(billing),
        shippingContact: contact(shipping))
      let error = await #expect(throws: OrderError.self) {
        try await shop.orderService.place(request, of: Shop.merchant, before: .after(TestRun.whole))
      }
      #expect(error?.code == .contactIncomplete && error?.field == field)
      #expect(error?.sheetErrors.map(\.contactField) == [.countryCode])
    }
    #expect(shop.acquirer.authorizations.isEmpty && CountryCode.isOfAddress("XK"))
  }

  @Test(.enabled(if: !StoreEngineUnderTest.isFile)) func `waits for PostgreSQL five times`() async throws {
    let shop = try await shop { $0.capture = .manual }
    let quote = try await shop.opens()
    let token = try await shop.token(for: quote)
    let before = try #require(shop.database.pool?.trips)
    #expect(try await shop.pays(token: token, quote: quote).payment.status == .authorized)
    // Basket and quote; two for the claim and its commit; two for the answer and its commit. The payment is the first
    // of its audit chain, whose head takes one more.
    let after = try #require(shop.database.pool?.trips)
    #expect(after - before == 5 + 1)
  }

  @Test func `tells the merchant whom it is for, where it goes and what the sheet showed`() async throws {
    let shop = try await shop { ($0.note, $0.requestedFor, $0.customer) = ("ring twice", "19:30", "c-123") }
    #expect(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order == nil)
    let placed = try await shop.pays()
    let answer = try await shop.orderService.basket(Shop.basket, of: Shop.merchant)
    let order = try #require(answer.order)
    #expect(answer.merchantReference == "HK-1042" && order.paymentId == placed.payment.id)
    #expect(order.serviceType == "delivery" && order.shippingMethod == "bike")
    #expect(order.requestedFor == "19:30" && order.note == "ring twice" && order.placedAt == WireTime(Shop.noon))
    #expect(order.customer?.merchantCustomerId == "c-123" && order.customer?.billingAddress == nil)
    #expect(
      order.customer?.contactDetails == .init(emailAddress: "aoife@example.com", phoneNumber: "+353 1 555 0100"))
    let address = try #require(order.shipping?.address)
    #expect(address.name == .init(firstName: "Aoife", surname: "Byrne"))
    #expect(address.street == "1 North Quay" && address.additionalInfo == nil && address.zip == "D01 X2Y3")
    #expect(address.city == "Dublin" && address.countryCode == "IE")
    #expect(order.lines?.map(\.amount).reduce(0, +) == 2_490)
    let notified = try await shop.database.read { try OrderService.order(of: Shop.basket, in: $0) }
    #expect(notified?.shipping == order.shipping && notified?.paymentId == nil && notified?.status == nil)
  }

  @Test func `says how a name is read, where the basket asks for it`() async throws {
    let shop = try await shop { ($0.serviceType, $0.contactFields) = ("collection", ["name", "phoneticName"]) }
    let quote = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    let contact = FullContact(
      givenName: "花子", familyName: "砂場", phoneticGivenName: "はなこ", phoneticFamilyName: "すなば")
    _ = try await place(shop, quote.id, shipping: contact)
    let order = try #require(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order)
    let name = OrderAnswer.Name(
      firstName: "花子", surname: "砂場", phoneticFirstName: "はなこ", phoneticSurname: "すなば")
    #expect(order.customer?.personalInformation?.name == name)
  }

  @Test func `of a collection goes nowhere; a billing address is the customer's`() async throws {
    let shop = try await shop { ($0.serviceType, $0.billingRequired) = ("collection", true) }
    let quote = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    let billing = FullContact(
      givenName: "Nuala", familyName: "Byrne", addressLines: ["2 South Quay", "Flat 4", "Rear"], locality: "Cork",
      postalCode: "T12", countryCode: "IE")
    _ = try await place(shop, quote.id, billing: billing)
    let order = try #require(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order)
    #expect(order.serviceType == "collection" && order.shipping == nil && order.shippingMethod == nil)
    #expect(order.customer?.personalInformation?.name?.firstName == "Nuala")
    #expect(order.customer?.billingAddress?.street == "2 South Quay")
    #expect(order.customer?.billingAddress?.additionalInfo == "Flat 4\nRear")
    #expect(order.customer?.contactDetails?.phoneNumber == "+353 1 555 0100")
  }

  /// Who gets it, and who pays for it: https://docs.direct.worldline-solutions.com, Apple Pay, “mapping”.
  @Test func `that is delivered has both contacts: the provider bills the card's holder, never the recipient`()
    async throws
  {
    let shop = try await shop { $0.billingRequired = true }
    let quote = try await shop.opens()
    let billing = FullContact(
      givenName: "Nuala", familyName: "Walsh", addressLines: ["2 South Quay", "Flat 4"], locality: "Cork",
      administrativeArea: "Munster", postalCode: "T12", countryCode: "GB", namePrefix: "Dr.")
    _ = try await place(shop, quote, billing: billing)
    let order = try #require(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order)
    #expect(order.customer?.personalInformation?.name == .init(firstName: "Nuala", surname: "Walsh", title: "Dr."))
    let billed = try #require(order.customer?.billingAddress)
    #expect([billed.street, billed.additionalInfo, billed.city] == ["2 South Quay", "Flat 4", "Cork"])
    #expect([billed.state, billed.zip, billed.countryCode] == ["Munster", "T12", "GB"])
    #expect(order.shipping?.address.name == .init(firstName: "Aoife", surname: "Byrne"))
    #expect(order.shipping?.address.street == "1 North Quay" && order.shipping?.address.countryCode == "IE")
    #expect(
      order.customer?.contactDetails == .init(emailAddress: "aoife@example.com", phoneNumber: "+353 1 555 0100"))
    let told = try #require(shop.acquirer.authorizations.first?.sale.shopper)
    #expect([told.givenName, told.familyName, told.locality] == ["Nuala", "Walsh", "Cork"])
    #expect(told.addressLines == ["2 South Quay", "Flat 4"] && told.countryCode == "GB" && told.postalCode == "T12")
    #expect(told.emailAddress == "aoife@example.com")
  }

  @Test func `that is delivered has no billing address where none is asked for`() async throws {
    let shop = try await shop()
    _ = try await shop.pays()
    let told = try #require(shop.acquirer.authorizations.first?.sale.shopper)
    #expect(told.givenName == "Aoife" && told.countryCode == nil && told.addressLines.isEmpty)
  }

  @Test func `is found by the merchant's reference, its own orders alone`() async throws {
    let shop = try await shop()
    let order = try await shop.pays().order.id
    func found(_ reference: String, _ merchant: MerchantID? = nil) async throws -> [OrderID] {
      try await shop.database.read {
        try MerchantReferences.orders(with: reference, of: merchant.map { [$0] }, limit: 5, in: $0)
      }
    }
    #expect(try await found("HK-1042") == [order])
    #expect(try await found("HK-1042", Shop.merchant) == [order])
    #expect(try await found("HK-1042", MerchantID("another")).isEmpty)
    #expect(try await found("HK-104").isEmpty)
  }

  /// SQLite tells it best.
  @Test(.enabled(if: StoreEngineUnderTest.chosen == .sqlite))
  func `is found by the merchant's reference without reading others`() async throws {
    let shop = try await shop()
    _ = try await shop.pays()
    for merchants in [nil, [Shop.merchant], [Shop.merchant, MerchantID("another")]] {
      let condition = MerchantCondition(merchants, after: 2)
      let plan = try await shop.database.read { store in
        try store.rows(
          "EXPLAIN QUERY PLAN " + MerchantReferences.selection(condition),
          [.text("HK-1042"), .integer(5)] + condition.values
        ).map { try $0.text("detail") }
      }
      #expect(plan.count == 1 && plan[0].contains("INDEX orders_of_reference"), "\(plan)")
    }
  }

  @Test func `is found by the shopper's e-mail address without regard to case`() async throws {
    let shop = try await shop()
    let order = try await shop.pays().order.id
    func found(_ address: String, _ merchants: [MerchantID]? = nil) async throws -> [OrderID] {
      try await shop.database.read { try OrderContacts.orders(ofEmail: address, of: merchants, limit: 5, in: $0) }
    }
    #expect(try await found("Aoife@Example.com") == [order])
    #expect(try await found("Aoife@Example.com", [Shop.merchant]) == [order])
    #expect(try await found("Aoife@Example.com", [MerchantID("another")]).isEmpty)
    #expect(try await found("aoife@example.co").isEmpty)
  }

  @Test func `has a receipt with lines, expected dates and the order's page, the same at every answer`() async throws {
    let shop = try await shop { document in
      document.orderURL = "https://shop.example/orders/1042"
      document.expectedDates = ExpectedDates(dispatch: "2026-11-21", arrival: "2026-11-23", collection: "2026-11-22")
      document.shippingMethods[0].expectedDates = ExpectedDates(arrival: "2026-11-21T12:45:00Z")
    }
    let placed = try await shop.pays()
    #expect(placed.receipt.lines.map(\.label).contains("Bike"))
    #expect(placed.receipt.lines.map(\.amount.minorUnits).reduce(0, +) == 2_490)
    #expect(placed.receipt.expectedDates == ["dispatch": "2026-11-21", "arrival": "2026-11-21T12:45:00Z"])
    #expect(placed.receipt.orderURL == "https://shop.example/orders/1042")
    #expect(try await shop.orderService.resolve(Shop.basket, of: Shop.merchant)?.receipt == placed.receipt)
    let order = try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order
    #expect(order?.expectedDates == ExpectedDates(dispatch: "2026-11-21", arrival: "2026-11-21T12:45:00Z"))
    #expect(order?.orderURL == placed.receipt.orderURL)
  }

  @Test func `that is collected says when, and a basket without dates says nothing`() async throws {
    let shop = try await shop { document in
      document.serviceType = "collection"
      document.expectedDates = ExpectedDates(dispatch: "2026-11-21", collection: "2026-11-22")
    }
    let quote = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    #expect(try await place(shop, quote.id).receipt.expectedDates == ["collection": "2026-11-22"])
    let other = try await self.shop()
    #expect(try await other.pays().receipt.expectedDates.isEmpty)
    #expect(try await other.orderService.basket(Shop.basket, of: Shop.merchant).order?.expectedDates == nil)
  }

  @Test(arguments: [
    ("orderURL", #"javascript:alert(1)"#), ("orderURL", "/orders/1"), ("orderURL", "https://shop.example/a b"),
    ("expectedDates.arrival", "soon"), ("shippingMethods[1].expectedDates.dispatch", "2026-02-30"),
  ])
  func `takes no receipt that a page could not show`(field: String, value: String) async throws {
    let shop = try await Shop()
    var document = BasketDocument.dinner
    switch field {
    case "orderURL": document.orderURL = value
    case "expectedDates.arrival": document.expectedDates = ExpectedDates(arrival: value)
    default: document.shippingMethods[1].expectedDates = ExpectedDates(dispatch: value)
    }
    let refused = document
    await refusal(.basketInvalid, field: field) {
      try await shop.orderService.put(refused, as: Shop.basket, of: Shop.merchant)
    }
  }

  @Test func `leaves the money held when the merchant takes it later`() async throws {
    let shop = try await shop { $0.capture = .manual }
    #expect(try await shop.pays().payment.status == .authorized)
    #expect(try await shop.pays(quote: QuoteID("any")).payment.status == .authorized)
  }

  @Test func `is answered the same again, whatever comes with the call`() async throws {
    let shop = try await shop()
    let quote = try await shop.opens()
    let first = try await shop.pays(quote: quote)
    shop.clock.move(.seconds(90_000))
    #expect(try await place(shop, quote) == first)
    #expect(try await place(shop, QuoteID("another"), shipping: nil) == first)
    #expect(try await shop.orderService.resolve(Shop.basket, of: Shop.merchant) == first)
    #expect(shop.acquirer.authorizations.count == 1)
  }

  @Test func `whose capture was not sent is captured by recovery, and a repeat asks for nothing`() async throws {
    let shop = try await shop()
    shop.acquirer.captures(.notSent("connection refused"))
    #expect(try await shop.pays().payment.status == .authorized)
    shop.acquirer.captures(.approved(Approval(acquirerReference: "C1")))
    #expect(try await place(shop, QuoteID("any")).payment.status == .authorized)
    #expect(shop.acquirer.captures.count == 1)
    shop.clock.move(.seconds(61))
    #expect(try await shop.gateway.recover().captures == 1)
    #expect(try await place(shop, QuoteID("any")).payment.status == .captured)
    #expect(shop.acquirer.authorizations.count == 1)
  }

  @Test func `whose capture was never answered is inquired about when a client asks for the outcome`() async throws {
    let shop = try await shop()
    shop.acquirer.captures(.unknown(Interruption(.timeout)))
    shop.acquirer.finds(.answer(.approved(Approval(acquirerReference: "C1"))))
    #expect(try await shop.pays().payment.status == .authorized)
    shop.clock.move(.seconds(2))
    #expect(try await shop.orderService.resolve(Shop.basket, of: Shop.merchant)?.payment.status == .captured)
    #expect(try await shop.orderService.basket(Shop.basket, of: Shop.merchant).order?.status == .captured)
    #expect(shop.acquirer.authorizations.count == 1)
  }

  @Test func `is declined as an answer, and another card may pay`() async throws {
    let shop = try await shop()
    shop.acquirer.answers(.declined(Decline(reason: .insufficientFunds, code: "51")))
    let quote = try await shop.opens()
    let token = try await shop.token(for: quote)
    let declined = try await shop.pays(token: token, quote: quote)
    #expect(declined.payment.status == .declined)
    #expect(declined.guestToken == nil)
    #expect(try await shop.orderService.outcome(Shop.basket, of: Shop.merchant).state == .open)
    shop.acquirer.answers(.approved(Approval(acquirerReference: "A2")))
    #expect(try await shop.pays(token: token, quote: quote).payment == declined.payment)
    let paid = try await shop.pays()
    #expect(paid.payment.status == .captured)
    #expect(paid.order.id == declined.order.id)
    #expect(shop.acquirer.authorizations.count == 2)
  }

  @Test func `is unknown as long as its outcome is open, and is not tried again`() async throws {
    let shop = try await shop()
    shop.acquirer.answers(.unknown(Interruption(.timeout)))
    let quote = try await shop.opens()
    let token = try await shop.token(for: quote)
    #expect(try await shop.pays(token: token, quote: quote).payment.status == .unknown)
    #expect(try await shop.pays(token: token, quote: quote).payment.status == .unknown)
    await refusal(.paymentInProgress) { try await shop.pays(quote: quote) }
    #expect(shop.acquirer.authorizations.count == 1)
    await refusal(.basketPlaced) { try await shop.orderService.sheet(Shop.basket, of: Shop.merchant) }
    await refusal(.basketPlaced) { try await shop.orderService.cancel(Shop.basket, of: Shop.merchant) }
  }

  @Test func `names a quote of this basket, the last one shown`() async throws {
    let shop = try await shop()
    await refusal(.quoteUnknown, field: "quoteId") { try await place(shop, QuoteID("none")) }
    let opened = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    _ = try await shop.orderService.update(Shop.basket, of: Shop.merchant, .paymentMethod(.credit))
    await refusal(.quoteStale, field: "quoteId") { try await place(shop, opened.id) }
    let other = BasketID("0123456789abcdef0123456789abcdef")
    try await shop.orderService.put(.dinner, as: other, of: Shop.merchant)
    let foreign = try await shop.orderService.sheet(other, of: Shop.merchant).quote
    await refusal(.quoteForeign, field: "quoteId") { try await place(shop, foreign.id) }
    #expect(shop.acquirer.authorizations.count == 0)
    #expect(try await shop.count("orders") == 0)
  }

  @Test func `needs every part of the contact`() async throws {
    let shop = try await shop()
    let quote = try await shop.opens()
    let rows: [(FullContact?, [ErrorContactField])] = [
      (nil, [.countryCode, .addressLines, .name, .phoneNumber, .emailAddress]),
      (
        FullContact(givenName: "A", phoneNumber: "1", addressLines: ["1"], locality: "Cork", countryCode: "IE"),
        [.emailAddress]
      ),
      (
        FullContact(phoneNumber: "1", emailAddress: "a@b", addressLines: ["1"], locality: "Cork", countryCode: "IE"),
        [.name]
      ),
    ]
    for (contact, fields) in rows {
      let error = await #expect(throws: OrderError.self) { try await place(shop, quote, shipping: contact) }
      #expect(error?.code == .contactIncomplete)
      #expect(error?.sheetErrors.map(\.contactField) == fields)
    }
    #expect(try await place(shop, quote).payment.status == .captured)
  }

  @Test(
    arguments: [
      ("none", ["email", "phone"], FullContact(phoneNumber: "1", emailAddress: "a@b"), [.phoneNumber, .emailAddress]),
      ("collection", ["name"], FullContact(givenName: "A"), [.name]), ("collection", [], nil, []),
    ] as [(String, [String], FullContact?, [ErrorContactField])])
  func `needs what the basket asks for, and no more`(
    _ service: String, _ fields: [String], _ contact: FullContact?, _ missing: [ErrorContactField]
  ) async throws {
    let shop = try await shop { document in
      document.serviceTypes = [service]
      document.contactFields = fields
      document.fees = []
    }
    let sheet = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    #expect(Set(sheet.request.requiredShippingContactFields.map(\.rawValue)) == Set(fields))
    if !missing.isEmpty {
      let error = await #expect(throws: OrderError.self) { try await place(shop, sheet.quote.id, shipping: nil) }
      #expect(error?.sheetErrors.map(\.contactField) == missing)
    }
    #expect(try await place(shop, sheet.quote.id, shipping: contact).payment.status == .captured)
  }

  @Test func `asks for what the merchant's settings say where the basket is silent`() async throws {
    let shop = try await Shop(MerchantTerms(contactFields: [.email]))
    var document = BasketDocument.dinner
    document.serviceType = "collection"
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    #expect(
      try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).request.requiredShippingContactFields
        == [.email])
    document.contactFields = ["name"]
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    #expect(
      try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).request.requiredShippingContactFields
        == [.name])
  }

  @Test func `of something that is picked up at the shopper's needs an address that is served`() async throws {
    let shop = try await shop { document in
      document.serviceTypes = ["servicePickup"]
      document.fees = []
    }
    let quote = try await shop.opens()
    await refusal(.addressUnserviceable) {
      try await place(shop, quote, shipping: .dublin.with(postalCode: "E1 6AN", country: "GB"))
    }
    #expect(try await place(shop, quote).payment.status == .captured)
  }

  @Test(arguments: [BasketDocument.AddressCheck.country, .none])
  func `goes to an address that its country's post can read, unless the merchant takes any`(
    _ check: BasketDocument.AddressCheck
  ) async throws {
    let shop = try await shop { document in
      document.addressCheck = check
      (document.zones, document.fees) = ([], [])
      for index in document.items.indices { document.items[index].availableIn = nil }
    }
    let wrong = FullContact.dublin.with(postalCode: "ZZ99 9ZZ", country: "GB")
    _ = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant)
    let shown = try await shop.orderService.update(
      Shop.basket, of: Shop.merchant, .shippingContact(.init(postalCode: "ZZ99", countryCode: "GB")))
    #expect(shown.update.errors.map(\.contactField) == (check == .country ? [.postalCode] : []))
    let quote = try await shop.opens(.dublin)
    guard check == .country else {
      #expect(try await place(shop, quote, shipping: wrong).payment.status == .captured)
      return
    }
    let townless = FullContact(
      givenName: "A", phoneNumber: "1", emailAddress: "a@b.example", addressLines: ["1 Quay"], countryCode: "IE")
    for (contact, field) in [(wrong, ErrorContactField.postalCode), (townless, .locality)] {
      let error = await #expect(throws: OrderError.self) { try await place(shop, quote, shipping: contact) }
      #expect(error?.code == .contactIncomplete && error?.sheetErrors.map(\.contactField) == [field])
    }
    #expect(try await place(shop, quote).payment.status == .captured)
  }

  @Test func `needs a billing address where the merchant does`() async throws {
    let shop = try await shop { $0.billingRequired = true }
    let quote = try await shop.opens()
    let error = await #expect(throws: OrderError.self) { try await place(shop, quote) }
    #expect(error?.sheetErrors.map(\.code) == [.billingContactInvalid])
    #expect(try await place(shop, quote, billing: .dublin).payment.status == .captured)
  }

  @Test func `is not carried where the full address is not served`() async throws {
    let shop = try await shop()
    let seen = FullContact.dublin.with(postalCode: "SW1A", country: "GB")
    let quote = try await shop.opens(seen)
    for code in ["SW1A 2AA", "E1 6AN"] {
      let error = await #expect(throws: OrderError.self) {
        try await place(shop, quote, shipping: seen.with(postalCode: code, country: "GB"))
      }
      #expect(error?.code == .addressUnserviceable)
      #expect(error?.sheetErrors.map(\.code) == [.addressUnserviceable])
    }
    #expect(
      try await place(shop, quote, shipping: seen.with(postalCode: "SW1A 1AA", country: "GB")).payment.status
        == .captured)
  }

  @Test func `is not re-priced when the full address costs something else`() async throws {
    let shop = try await shop()
    let quote = try await shop.opens()
    let error = await #expect(throws: OrderError.self) {
      try await place(shop, quote, shipping: .dublin.with(postalCode: "D18 X2Y3"))
    }
    #expect(error?.code == .addressChangesPrice)
    #expect(error?.sheetErrors.first?.contactField == .postalCode)
    #expect(error?.sheetErrors.allSatisfy { $0.isAllowed(at: .payment) } == true)
    #expect(shop.acquirer.authorizations.count == 0)
  }

  @Test func `is not charged the fee of a zone that the sheet did not show, and says the new total`() async throws {
    let shop = try await shop { document in
      document.zones[1].methods = ["bike"]
      document.items[1].availableIn = nil
      document.fees = [.init(label: "Remote", basisPoints: 500, zones: ["county"])]
      document.locale = "de-AT"
    }
    let quote = try await shop.opens()
    let error = await #expect(throws: OrderError.self) {
      try await place(shop, quote, shipping: .dublin.with(postalCode: "D18 X2Y3"))
    }
    #expect(error?.code == .addressChangesPrice)
    #expect(error?.sheetErrors.first?.message.contains("25,50 EUR") == true, "\(error?.sheetErrors ?? [])")
    let again = try await shop.opens(.dublin.with(postalCode: "D18 X2Y3"))
    #expect(
      try await place(shop, again, shipping: .dublin.with(postalCode: "D18 X2Y3")).payment.amount.minorUnits == 2_550)
  }

  @Test func `without an address ever shown is priced by the full one`() async throws {
    let shop = try await shop()
    let quote = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    await refusal(.addressChangesPrice) {
      try await place(shop, quote.id, shipping: .dublin.with(postalCode: "D18 X2Y3"))
    }
    #expect(try await place(shop, quote.id).payment.status == .captured)
  }

  @Test func `keeps a coupon that ended while the shopper looked at the sheet`() async throws {
    let shop = try await shop()
    _ = try await shop.opens()
    let quote = try await shop.orderService.update(Shop.basket, of: Shop.merchant, .couponCode("NOON")).quote
    shop.clock.move(.seconds(61))
    let paid = try await place(shop, quote.id).payment.amount.minorUnits
    #expect(paid == 2_390)
  }

  @Test func `for collection asks for no address`() async throws {
    let shop = try await shop { $0.serviceType = "collection" }
    let quote = try await shop.orderService.sheet(Shop.basket, of: Shop.merchant).quote
    let contact = FullContact(givenName: "A", phoneNumber: "1", emailAddress: "a@b")
    #expect(try await place(shop, quote.id, shipping: contact).payment.amount.minorUnits == 2_190)
  }
}

@Suite struct `Many at once` {
  private enum Outcome: Hashable {
    case placed(PaymentID)
    case refused(String)
  }

  private func outcome(_ body: () async throws -> PlacedOrder) async -> Outcome {
    do { return .placed(try await body().payment.id) } catch let error as OrderError {
      return .refused(error.code.rawValue)
    } catch { return .refused("in progress") }
  }

  @Test func `pay a basket once`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    // Calls that have asked the acquirer, or ended.
    let calls = Counter()
    shop.acquirer.authorizes { reference, _ in
      calls.next()
      // It answers when every other call has met this one.
      try? await waitUntil("the other calls") { calls.value >= 32 }
      return FakeAcquirer.approval(reference)
    }
    let quote = try await shop.opens()
    let outcomes = await withTaskGroup(of: Outcome.self) { group in
      for _ in 0..<32 {
        group.addTask {
          defer { calls.next() }
          return await outcome { try await shop.pays(quote: quote) }
        }
      }
      return await group.reduce(into: Set<Outcome>()) { $0.insert($1) }
    }
    let payments = outcomes.compactMap { if case .placed(let id) = $0 { id } else { nil } }
    #expect(payments.count == 1)
    #expect(shop.acquirer.authorizations.count == 1)
    #expect(try await shop.count("payments") == 1)
    #expect(try await shop.count("orders") == 1)
    #expect(try await shop.pays(quote: quote).payment.id == payments.first)
  }

  @Test func `sixty-four merchants that take one basket id at once: it is one merchant's, and stays so`() async throws {
    let shop = try await Shop()
    let owners = try await withThrowingTaskGroup(of: MerchantID?.self) { group in
      for number in 0..<64 {
        group.addTask {
          let merchant = MerchantID("merchant-\(number)")
          do { try await shop.orderService.put(.dinner, as: Shop.basket, of: merchant) } catch let error as OrderError {
            return error.code == .basketIDTaken ? nil : MerchantID("\(error.code)")
          }
          return merchant
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
    }
    #expect(owners.count == 1, "\(owners)")
    let owner = try #require(owners.first)
    _ = try await shop.orderService.basket(Shop.basket, of: owner)
  }

  /// Exactly one of the two wins, in whatever order they arrive.
  @Test(arguments: 0..<12) func `cancel or pay, never both`(_ round: Int) async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let quote = try await shop.opens()
    let token = try await shop.token(for: quote)
    async let paid = outcome {
      try await Task.sleep(for: .microseconds(round * 100))
      return try await shop.pays(token: token, quote: quote)
    }
    async let cancelled: Bool = {
      do {
        try await shop.orderService.cancel(Shop.basket, of: Shop.merchant)
        return true
      } catch { return false }
    }()
    let (payment, isCancelled) = await (paid, cancelled)
    if isCancelled {
      #expect(payment == .refused("basket_cancelled"))
      #expect(shop.acquirer.authorizations.count == 0)
      #expect(try await shop.count("payments") == 0)
      #expect(try await shop.count("orders") == 0)
    } else {
      #expect(try await shop.orderService.outcome(Shop.basket, of: Shop.merchant).payment?.status == .captured)
    }
  }
}

@Suite struct `Cancelling a basket` {
  @Test func `ends it for good`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let quote = try await shop.opens()
    try await shop.orderService.cancel(Shop.basket, of: Shop.merchant)
    try await shop.orderService.cancel(Shop.basket, of: Shop.merchant)
    #expect(try await shop.orderService.outcome(Shop.basket, of: Shop.merchant).state == .cancelled)
    await refusal(.basketCancelled) { try await shop.pays(quote: quote) }
    await refusal(.basketCancelled) { try await shop.orderService.sheet(Shop.basket, of: Shop.merchant) }
    await refusal(.basketCancelled) { try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant) }
    #expect(shop.acquirer.authorizations.count == 0)
  }

  /// The check before the claim is not enough: what counts is what the claim itself sees.
  @Test func `between the checks and the claim is still seen by the claim`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    let quote = try await shop.opens()
    let orderService = shop.reaching(
      CrashPoints { point in
        guard point == .authorizeOpened else { return }
        try await shop.orderService.cancel(Shop.basket, of: Shop.merchant)
      })
    let request = PlaceOrderRequest(
      basket: Shop.basket, quote: quote, token: try await shop.token(for: quote), shippingContact: .dublin)
    await refusal(.basketCancelled) {
      try await orderService.place(request, of: Shop.merchant, before: .after(TestRun.whole))
    }
    #expect(shop.acquirer.authorizations.count == 0)
    #expect(try await shop.count("payments") == 0)
    #expect(try await shop.count("order_contacts") == 0)
  }

  @Test func `is too late once an acquirer may have been asked`() async throws {
    let shop = try await Shop()
    try await shop.orderService.put(.dinner, as: Shop.basket, of: Shop.merchant)
    _ = try await shop.pays()
    let error = await #expect(throws: OrderError.self) {
      try await shop.orderService.cancel(Shop.basket, of: Shop.merchant)
    }
    #expect(error?.code == .basketPlaced)
    #expect(error?.detail.contains("captured") == true)
  }
}

@Suite struct `Asking for an outcome that is open` {
  @Test func `makes us ask the acquirer again, and no one is charged twice`() async throws {
    let shop = try await Shop()
    shop.acquirer.answers(.pending(Pending(acquirerReference: "A1")))
    var document = BasketDocument.dinner
    document.capture = .manual
    try await shop.orderService.put(document, as: Shop.basket, of: Shop.merchant)
    let quote = try await shop.opens()
    let request = PlaceOrderRequest(
      basket: Shop.basket, quote: quote, token: try await shop.token(for: quote), shippingContact: .dublin)
    #expect(
      try await shop.orderService.place(request, of: Shop.merchant, before: .after(TestRun.whole)).payment.status
        == .pending)
    shop.acquirer.answers(.approved(Approval(acquirerReference: "A1")))
    shop.clock.move(.seconds(61))
    let placed = try #require(try await shop.orderService.resolve(Shop.basket, of: Shop.merchant))
    #expect(placed.payment.status == .authorized)
    // From now on it is the reported outcome.
    #expect((placed.payment.reportedOutcome, placed.payment.reportedStatus) == (.success, .authorized))
    let journal = Journal(shop.database)
    let void = try await journal.reserve(.void, nil, of: placed.payment.id)
    _ = try await journal.record(.approved(Approval(acquirerReference: "V1")), for: void)
    let again = try #require(try await shop.orderService.resolve(Shop.basket, of: Shop.merchant))
    #expect((again.payment.status, again.status) == (.voided, .authorized))
    #expect(again.guestToken == placed.guestToken)
    #expect(shop.acquirer.authorizations.count == 1)
  }
}
