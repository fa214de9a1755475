import Foundation
import TenderPayments
import TenderSheet
import Testing

@Suite struct `An agreement` {
  let factory = PaymentRequestFactory(businessName: "The Store", countryCode: "IE")
  let terms = AgreementTerms(
    paymentDescription: "Vegetables, weekly", managementURL: "https://example.com/box",
    billingAgreement: "Until you end it.", tokenNotificationURL: "https://example.com/token")

  private func eur(_ minorUnits: Int64) throws -> Amount {
    Amount(minorUnits: minorUnits, currency: try #require(Currency(code: "EUR")))
  }

  private func request(_ agreement: PaymentAgreement) throws -> PaymentRequest {
    let price = try eur(1_290)
    return try factory.request(
      for: SheetContents(
        currency: price.currency, service: .shipping, lines: [SummaryItem(label: "Box", amount: price)],
        agreement: agreement))
  }

  private func agreements() throws -> [PaymentAgreement] {
    let start = Timestamp(seconds: 1_900_000_000)
    let regular = RecurringPayment.Billing(
      label: "Box", amount: try eur(1_290), interval: BillingInterval(.day, count: 7), start: start,
      end: start.adding(.seconds(86_400)))
    let trial = RecurringPayment.Billing(label: "First box", amount: try eur(0), interval: BillingInterval(.month))
    return [
      .recurring(RecurringPayment(terms: terms, regular: regular, trial: trial)),
      .recurring(RecurringPayment(terms: terms, regular: trial)),
      .automaticReload(AutomaticReload(terms: terms, label: "Card", amount: try eur(2_000), threshold: try eur(500))),
      .deferred(DeferredPayment(terms: terms, label: "Table", amount: try eur(1_000), date: start)),
      .deferred(
        DeferredPayment(
          terms: terms, label: "Table", amount: try eur(1_000), date: start,
          freeCancellation: .init(until: start, timeZone: "Europe/Dublin"))),
    ]
  }

  @Test func `goes into Apple's dictionaries and comes back the same`() throws {
    for agreement in try agreements() {
      let request = try request(agreement)
      let json = try JSONEncoder().encode(request)
      #expect(try JSONDecoder().decode(PaymentRequest.self, from: json) == request)
      #expect(request.agreement?.terms == terms)
    }
  }

  @Test func `is written as Apple Pay JS spells it`() throws {
    let json = try JSONEncoder().encode(try request(try agreements()[0]))
    let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    let recurring = try #require(object["recurringPaymentRequest"] as? [String: Any])
    let billing = try #require(recurring["regularBilling"] as? [String: Any])
    #expect(billing["paymentTiming"] as? String == "recurring")
    #expect(billing["recurringPaymentIntervalUnit"] as? String == "day")
    #expect(billing["recurringPaymentIntervalCount"] as? Int == 7)
    #expect(billing["recurringPaymentStartDate"] as? String == "2030-03-17T17:46:40Z")
    #expect(billing["amount"] as? String == "12.90")
  }

  @Test func `that the device would refuse is refused`() throws {
    func deferred(_ terms: AgreementTerms, _ amount: Amount) -> PaymentAgreement {
      .deferred(DeferredPayment(terms: terms, label: "T", amount: amount, date: Timestamp(seconds: 0)))
    }
    let long = AgreementTerms(
      paymentDescription: "T", managementURL: "https://e.com", billingAgreement: String(repeating: "a", count: 501))
    let plain = AgreementTerms(paymentDescription: "T", managementURL: "http://e.com")
    let unnamed = AgreementTerms(paymentDescription: "", managementURL: "https://e.com")
    let yen = Amount(minorUnits: 1, currency: try #require(Currency(code: "JPY")))
    let never = RecurringPayment.Billing(label: "B", amount: try eur(1), interval: BillingInterval(.day, count: 0))
    let refused: [(PaymentAgreement, String)] = [
      (deferred(long, try eur(1)), "agreement_invalid"), (deferred(plain, try eur(1)), "agreement_invalid"),
      (deferred(unnamed, try eur(1)), "label_empty"), (deferred(terms, yen), "currency_mismatch"),
      (deferred(terms, try eur(-1)), "agreement_invalid"),
      (.recurring(RecurringPayment(terms: terms, regular: never)), "agreement_invalid"),
    ]
    for (agreement, code) in refused {
      let violation = try #require(throws: SheetViolation.self) { try request(agreement) }
      #expect(violation.code == code)
      #expect(!violation.reason.isEmpty && !violation.advice.isEmpty)
    }
  }

  @Test func `is the only one of its sheet and is complete`() throws {
    let both = #"{"recurringPaymentRequest":R,"deferredPaymentRequest":D,"#
    func text(_ agreement: PaymentAgreement) throws -> String {
      String(decoding: try JSONEncoder().encode(try request(agreement)), as: UTF8.self)
    }
    func member(_ key: String, _ agreement: PaymentAgreement) throws -> String {
      let object = try JSONSerialization.jsonObject(with: Data(try text(agreement).utf8)) as? [String: Any]
      let data = try JSONSerialization.data(withJSONObject: try #require(object?[key]))
      return String(decoding: data, as: UTF8.self)
    }
    let all = try agreements()
    let recurring = try member("recurringPaymentRequest", all[0])
    let deferred = try member("deferredPaymentRequest", all[4])
    let plain = try factory.request(
      for: SheetContents(
        currency: try eur(1).currency, service: .shipping, lines: [SummaryItem(label: "Box", amount: try eur(1))]))
    let body = String(decoding: try JSONEncoder().encode(plain), as: UTF8.self).dropFirst()
    let two = both.replacingOccurrences(
      of: "R", with: recurring,
      range: both.range(of: ":R").map {
        both.index(after: $0.lowerBound)..<$0.upperBound
      }
    ).replacingOccurrences(of: ":D,", with: ":" + deferred + ",")
    #expect(throws: SheetViolation.self) {
      try JSONDecoder().decode(PaymentRequest.self, from: Data((two + body).utf8))
    }
    let half = deferred.replacingOccurrences(of: #","freeCancellationDateTimeZone":"Europe\/Dublin""#, with: "")
      .replacingOccurrences(of: #""freeCancellationDateTimeZone":"Europe\/Dublin","#, with: "")
    #expect(throws: SheetViolation.self) {
      try JSONDecoder().decode(
        PaymentRequest.self, from: Data((#"{"deferredPaymentRequest":"# + half + "," + body).utf8))
    }
  }
}
