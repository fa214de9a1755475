import Foundation
import PassKit
import TenderCheckout
import TenderPayments
import TenderSheet
import Testing

@Suite struct `What is said to PassKit` {
  private let full = FullContact(
    givenName: "花子", familyName: "砂場", phoneticGivenName: "はなこ", phoneticFamilyName: "すなば",
    phoneNumber: "+81312345678", emailAddress: "hanako@example.com", addressLines: ["神宮前1-2-3", "4F"],
    subLocality: "神宮前", locality: "渋谷区", subAdministrativeArea: "s", administrativeArea: "東京都",
    postalCode: "150-0001", country: "日本", countryCode: "jp")

  private func eur(_ minorUnits: Int64) throws -> Amount {
    Amount(minorUnits: minorUnits, currency: try #require(Currency(code: "EUR")))
  }

  @Test func `a contact comes back as it was`() {
    #expect(ContactConverter.full(ContactConverter.passKit(full)) == full)
    #expect(ContactConverter.redacted(ContactConverter.passKit(full)) == full.place)
    let empty = ContactConverter.passKit(FullContact())
    #expect(empty.name == nil && empty.postalAddress == nil)
    #expect(ContactConverter.full(PKContact()) == FullContact())
  }

  @Test(arguments: ErrorContactField.allCases)
  func `an error marks its own field`(_ field: ErrorContactField) throws {
    let shipping = try #require(SheetError.shippingContactInvalid(field, "m").passKit as? PKPaymentError)
    #expect(shipping.code == .shippingContactInvalidError && shipping.message == "m")
    #expect(shipping.contactField != nil)
    let billing = try #require(SheetError.billingContactInvalid(field, "m").passKit as? PKPaymentError)
    #expect(billing.code == .billingContactInvalidError && billing.postalAddressKey != nil)
  }

  @Test func `an unknown error is PassKit's own`() throws {
    #expect((SheetError.unknown("m").passKit as? PKPaymentError)?.code == .unknownError)
    #expect((SheetError.shippingContactInvalid(nil, "m").passKit as? PKPaymentError)?.contactField == .postalAddress)
  }

  @Test func `a request carries all of it, the total last`() throws {
    let new = try #require(CardNetwork(rawValue: "neuCard"))
    let factory = PaymentRequestFactory(
      businessName: "The Store", countryCode: "IE", supportedNetworks: CardNetwork.known + [new],
      merchantCapabilities: MerchantCapability.allCases, supportedCountries: ["IE"], merchantCategoryCode: "0763")
    let range = ShippingDateRange(
      start: ShippingDate(years: 2027, months: 1, days: 2, hours: 3), end: ShippingDate(years: 2027, months: 1, days: 4)
    )
    let contents = SheetContents(
      currency: try eur(0).currency, service: .shipping,
      lines: [
        SummaryItem(label: "Box", amount: try eur(1_290)), SummaryItem(label: "Discount", amount: try eur(-100)),
        .pending("Tax", try eur(0).currency),
      ], cardFee: SummaryItem(label: "Card", amount: try eur(5)),
      shippingMethods: [
        ShippingMethod(identifier: "post", label: "Post", detail: "2 days", amount: try eur(500), dateRange: range)
      ], supportsCouponCode: true, couponCode: "A", billingRequired: true, applicationData: [1, 2])
    let request = try factory.request(for: contents).passKit(merchantIdentifier: "merchant.x")
    #expect(request.supportedNetworks.count == CardNetwork.known.count + 1)
    #expect(Set(request.supportedNetworks).count == CardNetwork.known.count + 1)
    #expect(request.supportedNetworks.contains(.JCB) && request.supportedNetworks.contains(.girocard))
    #expect(request.supportedNetworks.last?.rawValue == "NeuCard")
    #expect(request.merchantCategoryCode?.rawValue == 763)
    #expect(request.merchantCapabilities == [.threeDSecure, .credit, .debit, .emv])
    #expect(request.paymentSummaryItems.map(\.label) == ["Box", "Discount", "Tax", "Card", "The Store"])
    #expect(request.paymentSummaryItems[1].amount == NSDecimalNumber(string: "-1"))
    #expect(request.paymentSummaryItems[2].type == .pending)
    #expect(request.shippingMethods?.first?.dateComponentsRange?.startDateComponents.hour == 3)
    #expect(request.requiredBillingContactFields == [.postalAddress])
    #expect(
      request.applicationData == Data([1, 2]) && request.couponCode == "A" && request.supportedCountries == ["IE"])
  }

  @Test func `every kind of agreement becomes PassKit's`() throws {
    let terms = AgreementTerms(
      paymentDescription: "Box", managementURL: "https://e.com", billingAgreement: "b",
      tokenNotificationURL: "https://t.com")
    let date = Timestamp(seconds: 1_900_000_000)
    func request(_ agreement: PaymentAgreement) throws -> PKPaymentRequest {
      let factory = PaymentRequestFactory(businessName: "S", countryCode: "IE")
      let contents = SheetContents(
        currency: try eur(0).currency, service: .collection, lines: [SummaryItem(label: "B", amount: try eur(9))],
        agreement: agreement)
      return try factory.request(for: contents).passKit(merchantIdentifier: "m")
    }
    for (unit, calendar) in zip(
      BillingInterval.Unit.allCases, [NSCalendar.Unit.minute, .hour, .day, .month, .year])
    {
      let billing = RecurringPayment.Billing(
        label: "B", amount: try eur(1), interval: BillingInterval(unit, count: 2), start: date, end: date)
      let made = try request(.recurring(RecurringPayment(terms: terms, regular: billing, trial: billing)))
      #expect(made.recurringPaymentRequest?.trialBilling?.intervalUnit == calendar)
      #expect(made.recurringPaymentRequest?.tokenNotificationURL?.host == "t.com")
    }
    let reload = try request(
      .automaticReload(AutomaticReload(terms: terms, label: "R", amount: try eur(200), threshold: try eur(50))))
    #expect(
      reload.automaticReloadPaymentRequest?.automaticReloadBilling.thresholdAmount == NSDecimalNumber(string: "0.5"))
    let deferred = try request(
      .deferred(
        DeferredPayment(
          terms: terms, label: "D", amount: try eur(1), date: date,
          freeCancellation: .init(until: date, timeZone: "Europe/Dublin"))))
    #expect(deferred.deferredPaymentRequest?.freeCancellationDateTimeZone?.identifier == "Europe/Dublin")
    #expect(deferred.deferredPaymentRequest?.deferredBilling.deferredDate == Date(timeIntervalSince1970: 1_900_000_000))
  }

  @Test func `kinds of cards and shipping have their counterparts`() {
    #expect(PaymentMethodType(PKPaymentMethodType.prepaid) == .prepaid)
    #expect(PaymentMethodType(PKPaymentMethodType.store) == .store)
    #expect(PaymentMethodType(PKPaymentMethodType.eMoney) == .unknown)
    let broken = OrderTracking(
      orderTypeIdentifier: "o", orderIdentifier: "1", webServiceURL: "http://e.com", authenticationToken: "t")
    #expect(broken.passKit == nil)
  }
}
