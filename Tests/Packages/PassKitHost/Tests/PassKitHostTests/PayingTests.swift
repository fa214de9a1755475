import Foundation
import PassKit
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import Testing

/// Real payment tokens, over HTTP, through the adapter's own sources.
@Suite struct `Paying through the adapter` {
  let world: World

  init() throws { world = try World.running() }

  @Test func `a delivery is ordered, for what the sheet showed`() async throws {
    let app = App(world)
    let outcome = try await app.checkout { sheet in
      try await sheet.select(contact: "gb-london")
      #expect(sheet.methods == ["bike", "van"])
      await sheet.select(method: "van")
      #expect(sheet.total == "18.3")
      #expect(sheet.lines.last?.label == "Harbour Kitchen")
      await sheet.select(cardType: .debit)
      let status = try await sheet.authorize(card: "visa-debit")
      #expect(status == .success)
      #expect(sheet.trackedOrder != nil)
    }
    try await app.agrees(outcome, paid: 1830)
    #expect(!app.wallet.isShowing)
  }

  @Test func `a collection needs no address, and no shipping method`() async throws {
    let app = App(world, service: .collection)
    let outcome = try await app.checkout(OrderDetails(service: .collection, note: "Without vinegar")) { sheet in
      #expect(sheet.request.requiredShippingContactFields == [.name, .phoneNumber, .emailAddress])
      #expect(sheet.request.shippingType == .storePickup)
      #expect(sheet.request.shippingContactEditingMode == .storePickup)
      #expect(sheet.methods.isEmpty)
      try await sheet.authorize(card: "mastercard-credit", contact: "gb-london")
    }
    try await app.agrees(outcome, paid: 1290)
  }

  @Test func `an address that is not served is refused in the sheet, and another one pays`() async throws {
    let app = App(world)
    let outcome = try await app.checkout { sheet in
      try await sheet.select(contact: "aq-undeliverable")
      #expect(sheet.errors.map(\.code) == [.shippingAddressUnserviceableError])
      try await sheet.select(contact: "gb-bad-postal-code")
      #expect(!sheet.errors.isEmpty)
      try await sheet.select(contact: "gb-london")
      #expect(sheet.errors.isEmpty)
      try await sheet.authorize(card: "visa-credit")
    }
    try await app.agrees(outcome, paid: 1590)
  }

  @Test func `an address that the server refuses after authorization is marked, and another pays`() async throws {
    let app = App(world)
    let outcome = try await app.checkout { sheet in
      try await sheet.select(contact: "gb-london")
      let first = try await sheet.authorize(card: "visa-debit", contact: "de-berlin")
      #expect(first == .failure)
      #expect(sheet.errors.map(\.code) == [.shippingContactInvalidError])
      let second = try await sheet.authorize(card: "visa-debit", contact: "gb-london")
      #expect(second == .success)
    }
    try await app.agrees(outcome, paid: 1590)
  }

  @Test func `a country that the device knows not to be served is refused without asking`() async throws {
    let app = App(world, checks: AddressChecks(countries: ["GB", "IE"]))
    let outcome = try await app.checkout { sheet in
      let before = sheet.total
      try await sheet.select(contact: "de-berlin")
      #expect(sheet.errors.map(\.code) == [.shippingAddressUnserviceableError])
      #expect(sheet.total == before)
      try await sheet.select(contact: "gb-london")
      try await sheet.authorize(card: "visa-debit")
    }
    try await app.agrees(outcome, paid: 1590)
  }

  @Test func `a contact that lacks a street is corrected after the shopper has agreed`() async throws {
    let app = App(world)
    let outcome = try await app.checkout { sheet in
      try await sheet.select(contact: "gb-incomplete")
      let first = try await sheet.authorize(card: "visa-debit")
      #expect(first == .failure)
      #expect(sheet.errors.map(\.postalAddressKey).contains("street"))
      #expect(sheet.errors.map(\.contactField).contains(.phoneNumber))
      try await sheet.select(contact: "gb-london")
      let second = try await sheet.authorize(card: "visa-debit")
      #expect(second == .success)
    }
    try await app.agrees(outcome, paid: 1590)
  }

  @Test func `a coupon is taken off, and a wrong one changes nothing`() async throws {
    let app = App(world, service: .collection)
    let outcome = try await app.checkout(OrderDetails(service: .collection)) { sheet in
      await sheet.enter(coupon: "NONSENSE")
      #expect(sheet.errors.map(\.code) == [.couponCodeInvalidError])
      await sheet.enter(coupon: "SUMMER")
      #expect(sheet.errors.map(\.code) == [.couponCodeExpiredError])
      await sheet.enter(coupon: "WELCOME")
      #expect(sheet.total == "10.9")
      #expect(sheet.lines.contains { $0.amount == "-2" })
      try await sheet.authorize(card: "visa-debit", contact: "us-arlington")
    }
    try await app.agrees(outcome, paid: 1090)
  }

  @Test func `after a decline another card pays the same basket`() async throws {
    let app = App(world, service: .collection)
    let basket = try await world.basket(.collection)
    let flow = PaymentFlowController(service: app.service, checkout: CheckoutService(client: app.client)) { _ in basket
    }
    try await SandboxWallet.$current.withValue(app.wallet) {
      var sheets = app.wallet.sheets.makeAsyncIterator()
      async let first = flow.pay(OrderDetails(service: .collection))
      let declined = try #require(await sheets.next())
      try await declined.authorize(card: "visa-insufficient-funds", contact: "gb-london")
      guard case .standardCheckout(.failure(let failure)) = await first else {
        Issue.record("not declined")
        return
      }
      #expect(failure.code == "declined")
      async let second = flow.pay(OrderDetails(service: .collection))
      let accepted = try #require(await sheets.next())
      try await accepted.authorize(card: "visa-debit", contact: "gb-london")
      try await app.agrees(await second, paid: 1290)
    }
  }

  @Test func `a subscription, a reload and a deferred payment reach the sheet`() async throws {
    let euro = try #require(Currency(code: "EUR"))
    let terms = AgreementTerms(paymentDescription: "Fish, weekly", managementURL: "https://example.com/fish")
    let app = App(world, service: .collection)
    let agreement = PaymentAgreement.recurring(
      RecurringPayment(
        terms: terms,
        regular: .init(label: "Fish", amount: Amount(minorUnits: 1290, currency: euro), interval: .init(.day, count: 7))
      ))
    let outcome = try await app.checkout(OrderDetails(service: .collection), agreement: agreement) { sheet in
      #expect(sheet.request.recurringPaymentRequest?.regularBilling.intervalCount == 7)
      try await sheet.authorize(card: "visa-debit", contact: "gb-london")
    }
    try await app.agrees(outcome, paid: 1290)
  }

  /// `scripts/attack months` puts the basket, and looks at what is charged afterwards.
  @Test(.enabled(if: World.isJudged))
  func `a subscription that another program judges is sold from its basket`() async throws {
    let app = App(world, basket: BasketID(try World.judged("BASKET")))
    let outcome = try await app.checkout(OrderDetails(service: .noFulfillment)) { sheet in
      let shown = try #require(sheet.request.recurringPaymentRequest)
      #expect(shown.trialBilling?.label == "First month")
      #expect(shown.regularBilling.amount.stringValue == "12.9")
      #expect(shown.regularBilling.intervalUnit == .month)
      #expect(shown.billingAgreement == "Until you end it.")
      #expect(shown.tokenNotificationURL != nil)
      try await sheet.authorize(card: try World.judged("CARD"))
    }
    guard case .ordered = outcome else {
      Issue.record("not ordered: \(outcome)")
      return
    }
  }
}
