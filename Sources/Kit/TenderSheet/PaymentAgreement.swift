public import TenderPayments

/// What the shopper agrees to beyond this one payment. A sheet carries at most one agreement: Apple refuses two.
///
/// Where the card's network has them, the payment token then holds a merchant token, which outlives the device.
public enum PaymentAgreement: Sendable, Hashable {
  /// Again and again: a subscription.
  case recurring(RecurringPayment)
  /// Whenever a balance falls below a threshold.
  case automaticReload(AutomaticReload)
  /// Once, later: a booking, a pre-order.
  case deferred(DeferredPayment)

  /// What the shopper reads, and where the shopper ends it.
  public var terms: AgreementTerms {
    switch self {
    case .recurring(let payment): payment.terms
    case .automaticReload(let reload): reload.terms
    case .deferred(let payment): payment.terms
    }
  }
}

/// The words of an agreement.
public struct AgreementTerms: Sendable, Hashable {
  /// Apple shows no longer text.
  public static let longestBillingAgreement = 500

  /// What is paid for: "Vegetable box, every week".
  public let paymentDescription: String
  /// Where the shopper changes or ends the agreement; an https URL.
  public let managementURL: String
  /// What the shopper agrees to, at most 500 characters.
  public let billingAgreement: String?
  /// Where Apple reports changes of the merchant token; an https URL.
  public let tokenNotificationURL: String?

  /// The words that a sheet shows of an agreement.
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

/// How often a recurring payment is taken.
public struct BillingInterval: Sendable, Hashable {
  /// Apple Pay JS has no week: seven days.
  public enum Unit: String, Sendable, Hashable, Codable, CaseIterable {
    /// Apple's units, from the shortest to the longest.
    case minute, hour, day, month, year
  }

  /// What is counted.
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
  /// One price of the agreement, and when it holds.
  public struct Billing: Sendable, Hashable {
    /// What the sheet calls this price.
    public let label: String
    /// What is taken each time.
    public let amount: Amount
    /// How often it is taken.
    public let interval: BillingInterval
    /// Nil: with this payment.
    public let start: Timestamp?
    /// Nil: until somebody ends it.
    public let end: Timestamp?

    /// One price, how often it is taken, and from when to when.
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

  /// The words of the agreement.
  public let terms: AgreementTerms
  /// What is paid in the long run.
  public let regular: Billing
  /// What holds before, often nothing.
  public let trial: Billing?

  /// A subscription, perhaps with a trial before it.
  public init(terms: AgreementTerms, regular: Billing, trial: Billing? = nil) {
    self.terms = terms
    self.regular = regular
    self.trial = trial
  }
}

/// Apple's `ApplePayAutomaticReloadPaymentRequest`.
public struct AutomaticReload: Sendable, Hashable {
  /// The words of the agreement.
  public let terms: AgreementTerms
  /// What the sheet calls it.
  public let label: String
  /// What is added each time.
  public let amount: Amount
  /// Below this balance it is added.
  public let threshold: Amount

  /// A balance that is filled up whenever it is low.
  public init(terms: AgreementTerms, label: String, amount: Amount, threshold: Amount) {
    self.terms = terms
    self.label = label
    self.amount = amount
    self.threshold = threshold
  }
}

/// Apple's `ApplePayDeferredPaymentRequest`; on devices from iOS 16.4.
public struct DeferredPayment: Sendable, Hashable {
  /// The words of the agreement.
  public let terms: AgreementTerms
  /// What the sheet calls it.
  public let label: String
  /// What is taken then.
  public let amount: Amount
  /// When it is taken.
  public let date: Timestamp
  /// Until when cancelling costs nothing, and in whose time that is meant.
  public let freeCancellation: FreeCancellation?

  /// A time in which the shopper may still change their mind.
  public struct FreeCancellation: Sendable, Hashable {
    /// The last moment.
    public let until: Timestamp
    /// A name of the time zone database: `Europe/Dublin`.
    public let timeZone: String

    /// Free until this moment, which is shown in this time zone.
    public init(until: Timestamp, timeZone: String) {
      self.until = until
      self.timeZone = timeZone
    }
  }

  /// A payment that is agreed now and taken later.
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

extension PaymentAgreement {
  /// Refuses what the device would refuse without saying why: it closes the sheet.
  func check(_ currency: Currency) throws(SheetViolation) {
    try checkWords()
    for amount in amounts {
      guard amount.currency == currency else { throw .mixedCurrencies(currency) }
      guard !amount.isNegative else { throw .agreement("an amount of the agreement is negative") }
      _ = try amount.sheetText
    }
    guard intervals.allSatisfy({ $0.count >= 1 }) else { throw .agreement("an interval is shorter than one unit") }
  }

  private func checkWords() throws(SheetViolation) {
    guard !terms.paymentDescription.isEmpty, labels.allSatisfy({ !$0.isEmpty }) else { throw .emptyLabel }
    guard TextLimits.holds(terms.billingAgreement ?? "", most: AgreementTerms.longestBillingAgreement) else {
      throw .agreement("the billing agreement has more than \(AgreementTerms.longestBillingAgreement) characters")
    }
    let addresses = [terms.managementURL] + (terms.tokenNotificationURL.map { [$0] } ?? [])
    guard addresses.allSatisfy({ $0.hasPrefix("https://") && $0.count > 8 }) else {
      throw .agreement("a URL of the agreement is not https")
    }
  }

  private var labels: [String] {
    switch self {
    case .recurring(let payment): [payment.regular.label] + (payment.trial.map { [$0.label] } ?? [])
    case .automaticReload(let reload): [reload.label]
    case .deferred(let payment): [payment.label]
    }
  }

  private var amounts: [Amount] {
    switch self {
    case .recurring(let payment): [payment.regular.amount] + (payment.trial.map { [$0.amount] } ?? [])
    case .automaticReload(let reload): [reload.amount, reload.threshold]
    case .deferred(let payment): [payment.amount]
    }
  }

  private var intervals: [BillingInterval] {
    guard case .recurring(let payment) = self else { return [] }
    return [payment.regular.interval] + (payment.trial.map { [$0.interval] } ?? [])
  }
}
