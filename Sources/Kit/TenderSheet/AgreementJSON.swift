import TenderPayments

// The dictionaries of Apple Pay JS for agreements. Dates are RFC 3339 texts, which a page converts to `Date`s.

/// The common members of the three kinds.
private protocol AgreementJSON {
  var paymentDescription: String { get }
  var billingAgreement: String? { get }
  var managementURL: String { get }
  var tokenNotificationURL: String? { get }
}

extension AgreementJSON {
  fileprivate var terms: AgreementTerms {
    AgreementTerms(
      paymentDescription: paymentDescription, managementURL: managementURL, billingAgreement: billingAgreement,
      tokenNotificationURL: tokenNotificationURL)
  }
}

struct RecurringPaymentJSON: Codable, AgreementJSON {
  let paymentDescription: String
  let regularBilling: AgreementLineJSON
  let trialBilling: AgreementLineJSON?
  let billingAgreement: String?
  let managementURL: String
  let tokenNotificationURL: String?

  init(_ payment: RecurringPayment) throws {
    paymentDescription = payment.terms.paymentDescription
    regularBilling = try AgreementLineJSON(payment.regular)
    trialBilling = try payment.trial.map { try AgreementLineJSON($0) }
    billingAgreement = payment.terms.billingAgreement
    managementURL = payment.terms.managementURL
    tokenNotificationURL = payment.terms.tokenNotificationURL
  }

  func payment(_ currency: Currency) throws -> RecurringPayment {
    RecurringPayment(
      terms: terms,
      regular: try regularBilling.billing(currency), trial: try trialBilling?.billing(currency))
  }
}

struct AutomaticReloadJSON: Codable, AgreementJSON {
  let paymentDescription: String
  let automaticReloadBilling: AgreementLineJSON
  let billingAgreement: String?
  let managementURL: String
  let tokenNotificationURL: String?

  init(_ reload: AutomaticReload) throws {
    paymentDescription = reload.terms.paymentDescription
    automaticReloadBilling = try AgreementLineJSON(reload)
    billingAgreement = reload.terms.billingAgreement
    managementURL = reload.terms.managementURL
    tokenNotificationURL = reload.terms.tokenNotificationURL
  }

  func reload(_ currency: Currency) throws -> AutomaticReload {
    let threshold = automaticReloadBilling.automaticReloadPaymentThresholdAmount ?? ""
    return AutomaticReload(
      terms: terms,
      label: automaticReloadBilling.label, amount: try automaticReloadBilling.money(currency),
      threshold: try Amount(sheetText: threshold, currency: currency))
  }
}

struct DeferredPaymentJSON: Codable, AgreementJSON {
  let paymentDescription: String
  let deferredBilling: AgreementLineJSON
  let billingAgreement: String?
  let managementURL: String
  let tokenNotificationURL: String?
  let freeCancellationDate: DateText?
  let freeCancellationDateTimeZone: String?

  init(_ payment: DeferredPayment) throws {
    paymentDescription = payment.terms.paymentDescription
    deferredBilling = try AgreementLineJSON(payment)
    billingAgreement = payment.terms.billingAgreement
    managementURL = payment.terms.managementURL
    tokenNotificationURL = payment.terms.tokenNotificationURL
    freeCancellationDate = payment.freeCancellation.map { DateText($0.until) }
    freeCancellationDateTimeZone = payment.freeCancellation?.timeZone
  }

  func payment(_ currency: Currency) throws -> DeferredPayment {
    guard let date = deferredBilling.deferredPaymentDate?.time else {
      throw SheetViolation.agreement("a deferred payment has no date")
    }
    return DeferredPayment(
      terms: terms,
      label: deferredBilling.label, amount: try deferredBilling.money(currency), date: date,
      freeCancellation: try freeCancellation())
  }

  /// Apple requires both members or neither.
  private func freeCancellation() throws -> DeferredPayment.FreeCancellation? {
    switch (freeCancellationDate, freeCancellationDateTimeZone) {
    case (let date?, let zone?): .init(until: date.time, timeZone: zone)
    case (nil, nil): nil
    default: throw SheetViolation.agreement("a free cancellation has a date and a time zone, or neither")
    }
  }
}

/// Apple's `ApplePayLineItem` with the members that agreements use.
struct AgreementLineJSON: Codable {
  let label: String
  let amount: String
  let paymentTiming: String
  var recurringPaymentStartDate: DateText?
  var recurringPaymentIntervalUnit: BillingInterval.Unit?
  var recurringPaymentIntervalCount: Int?
  var recurringPaymentEndDate: DateText?
  var deferredPaymentDate: DateText?
  var automaticReloadPaymentThresholdAmount: String?

  init(_ billing: RecurringPayment.Billing) throws {
    (label, amount, paymentTiming) = (billing.label, try billing.amount.sheetText, "recurring")
    recurringPaymentStartDate = billing.start.map(DateText.init)
    recurringPaymentIntervalUnit = billing.interval.unit
    recurringPaymentIntervalCount = billing.interval.count
    recurringPaymentEndDate = billing.end.map(DateText.init)
  }

  init(_ reload: AutomaticReload) throws {
    (label, amount, paymentTiming) = (reload.label, try reload.amount.sheetText, "automaticReload")
    automaticReloadPaymentThresholdAmount = try reload.threshold.sheetText
  }

  init(_ payment: DeferredPayment) throws {
    (label, amount, paymentTiming) = (payment.label, try payment.amount.sheetText, "deferred")
    deferredPaymentDate = DateText(payment.date)
  }

  func money(_ currency: Currency) throws -> Amount { try Amount(sheetText: amount, currency: currency) }

  /// Apple's defaults: every month.
  func billing(_ currency: Currency) throws -> RecurringPayment.Billing {
    RecurringPayment.Billing(
      label: label, amount: try money(currency),
      interval: BillingInterval(recurringPaymentIntervalUnit ?? .month, count: recurringPaymentIntervalCount ?? 1),
      start: recurringPaymentStartDate?.time, end: recurringPaymentEndDate?.time)
  }
}

/// A time as RFC 3339 text.
struct DateText: Codable {
  let time: Timestamp

  init(_ time: Timestamp) { self.time = time }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let time = Timestamp(rfc3339: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time of RFC 3339 in UTC")
    }
    self.time = time
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(time.description)
  }
}
