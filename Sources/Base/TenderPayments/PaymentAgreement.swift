/// An agreement beyond this payment. Apple allows at most one per sheet.
///
/// If the card's network supports it, the payment token then holds a merchant token, which is independent of the
/// device.
public enum PaymentAgreement: Sendable, Hashable {
  /// A recurring payment: a subscription.
  case recurring(RecurringPayment)
  /// A payment whenever a balance falls below a threshold.
  case automaticReload(AutomaticReload)
  /// One later payment: a booking, a pre-order.
  case deferred(DeferredPayment)

  /// The kind, without its contents.
  public var kind: AgreementKind {
    switch self {
    case .recurring: .recurring
    case .automaticReload: .automaticReload
    case .deferred: .deferred
    }
  }

  /// What a later charge takes unless another amount is named: of a recurring payment the regular price.
  public var amount: Amount {
    switch self {
    case .recurring(let payment): payment.regular.amount
    case .automaticReload(let reload): reload.amount
    case .deferred(let payment): payment.amount
    }
  }

  /// The terms shown to the shopper.
  public var terms: AgreementTerms {
    switch self {
    case .recurring(let payment): payment.terms
    case .automaticReload(let reload): reload.terms
    case .deferred(let payment): payment.terms
    }
  }
}

/// The three kinds of agreement, as Apple names them.
public enum AgreementKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// Charged at fixed intervals.
  case recurring
  /// Charged whenever a balance is low.
  case automaticReload = "automatic_reload"
  /// Charged once, at a later date.
  case deferred
}

/// The terms of an agreement.
public struct AgreementTerms: Sendable, Hashable {
  /// Apple's limit in characters.
  public static let longestBillingAgreement = 500

  /// What is paid for: "Vegetable box, every week".
  public let paymentDescription: String
  /// Where the shopper changes or ends the agreement; an https URL.
  public let managementURL: String
  /// The text of the agreement, at most 500 characters.
  public let billingAgreement: String?
  /// The https URL that Apple notifies of changes of the merchant token.
  public let tokenNotificationURL: String?

  /// The terms of an agreement.
  public init(
    paymentDescription: String, managementURL: String, billingAgreement: String? = nil,
    tokenNotificationURL: String? = nil
  ) {
    self.paymentDescription = paymentDescription
    self.managementURL = managementURL
    self.billingAgreement = billingAgreement
    self.tokenNotificationURL = tokenNotificationURL
  }
}

extension PaymentAgreement {
  /// This agreement, about whose merchant token Apple reports to an address; nil for none.
  package func notified(at url: String?) -> PaymentAgreement {
    switch self {
    case .recurring(let payment):
      .recurring(
        RecurringPayment(terms: payment.terms.notified(at: url), regular: payment.regular, trial: payment.trial))
    case .automaticReload(let reload):
      .automaticReload(
        AutomaticReload(
          terms: reload.terms.notified(at: url), label: reload.label, amount: reload.amount, threshold: reload.threshold
        ))
    case .deferred(let payment):
      .deferred(
        DeferredPayment(
          terms: payment.terms.notified(at: url), label: payment.label, amount: payment.amount, date: payment.date,
          freeCancellation: payment.freeCancellation))
    }
  }
}

extension AgreementTerms {
  fileprivate func notified(at url: String?) -> AgreementTerms {
    AgreementTerms(
      paymentDescription: paymentDescription, managementURL: managementURL, billingAgreement: billingAgreement,
      tokenNotificationURL: url)
  }
}

/// How often a recurring payment is charged.
public struct BillingInterval: Sendable, Hashable {
  /// Apple Pay JS has no week: use seven days.
  public enum Unit: String, Sendable, Hashable, Codable, CaseIterable {
    /// Apple's units, from the shortest to the longest.
    case minute, hour, day, month, year
  }

  /// The unit.
  public let unit: Unit
  /// From 1.
  public let count: Int

  /// Every `count` units.
  public init(_ unit: Unit, count: Int = 1) {
    self.unit = unit
    self.count = count
  }
}

/// Apple's `ApplePayRecurringPaymentRequest`.
public struct RecurringPayment: Sendable, Hashable {
  /// One price of the agreement and its period.
  public struct Billing: Sendable, Hashable {
    /// What the sheet calls this price.
    public let label: String
    /// The amount of each charge.
    public let amount: Amount
    /// The interval of the charges.
    public let interval: BillingInterval
    /// Nil: with this payment.
    public let start: Timestamp?
    /// Nil: until the agreement is ended.
    public let end: Timestamp?

    /// A price with its interval and period.
    public init(
      label: String, amount: Amount, interval: BillingInterval, start: Timestamp? = nil, end: Timestamp? = nil
    ) {
      self.label = label
      self.amount = amount
      self.interval = interval
      self.start = start
      self.end = end
    }
  }

  /// The terms of the agreement.
  public let terms: AgreementTerms
  /// The regular price.
  public let regular: Billing
  /// The price of the trial period.
  public let trial: Billing?

  /// A subscription, optionally with a trial.
  public init(terms: AgreementTerms, regular: Billing, trial: Billing? = nil) {
    self.terms = terms
    self.regular = regular
    self.trial = trial
  }
}

/// Apple's `ApplePayAutomaticReloadPaymentRequest`.
public struct AutomaticReload: Sendable, Hashable {
  /// The terms of the agreement.
  public let terms: AgreementTerms
  /// What the sheet calls it.
  public let label: String
  /// The amount of each reload.
  public let amount: Amount
  /// The balance below which a reload happens.
  public let threshold: Amount

  /// An automatic reload.
  public init(terms: AgreementTerms, label: String, amount: Amount, threshold: Amount) {
    self.terms = terms
    self.label = label
    self.amount = amount
    self.threshold = threshold
  }
}

/// Apple's `ApplePayDeferredPaymentRequest`; on devices from iOS 16.4.
public struct DeferredPayment: Sendable, Hashable {
  /// The terms of the agreement.
  public let terms: AgreementTerms
  /// What the sheet calls it.
  public let label: String
  /// The amount to charge.
  public let amount: Amount
  /// The date of the charge.
  public let date: Timestamp
  /// The end of free cancellation, with its time zone.
  public let freeCancellation: FreeCancellation?

  /// A period in which the shopper may cancel free of charge.
  public struct FreeCancellation: Sendable, Hashable {
    /// The last moment.
    public let until: Timestamp
    /// A name of the time zone database: `Europe/Dublin`.
    public let timeZone: String

    /// Free until this time, shown in this time zone.
    public init(until: Timestamp, timeZone: String) {
      self.until = until
      self.timeZone = timeZone
    }
  }

  /// A payment that is agreed now and charged later.
  public init(
    terms: AgreementTerms, label: String, amount: Amount, date: Timestamp, freeCancellation: FreeCancellation? = nil
  ) {
    self.terms = terms
    self.label = label
    self.amount = amount
    self.date = date
    self.freeCancellation = freeCancellation
  }
}
