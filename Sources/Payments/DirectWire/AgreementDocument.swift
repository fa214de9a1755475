package import TenderPayments

/// `agreement` of a basket or payment: what the shopper agrees to beyond this payment, one kind of three.
///
/// Amounts are whole minor units of the basket's currency.
package struct AgreementDocument: Sendable, Hashable, Codable {
  /// What is paid for, on the sheet.
  package var description: String
  /// Where the shopper changes or ends it.
  package var managementURL: String
  /// The text of the agreement, at most 500 characters.
  package var billingAgreement: String?
  /// The zone in which dates are reckoned, by its name in the time zone database. UTC if absent.
  package var timeZone: String?
  /// Whether Tender charges each period at its date; otherwise the merchant makes each charge.
  package var schedule: Bool?
  package var recurring: Recurring?
  package var automaticReload: Reload?
  package var deferred: Deferred?

  package init(
    description: String, managementURL: String, billingAgreement: String? = nil, timeZone: String? = nil,
    schedule: Bool? = nil, recurring: Recurring? = nil, automaticReload: Reload? = nil, deferred: Deferred? = nil
  ) {
    self.description = description
    self.managementURL = managementURL
    self.billingAgreement = billingAgreement
    self.timeZone = timeZone
    self.schedule = schedule
    self.recurring = recurring
    self.automaticReload = automaticReload
    self.deferred = deferred
  }

  package struct Recurring: Sendable, Hashable, Codable {
    package var regular: Billing
    package var trial: Billing?

    package init(regular: Billing, trial: Billing? = nil) { (self.regular, self.trial) = (regular, trial) }
  }

  package struct Billing: Sendable, Hashable, Codable {
    package var label: String
    package var amount: Int64
    package var interval: Interval
    /// Nil: with this payment.
    package var startsAt: WireTime?
    /// The latest date of a charge; nil: until the agreement is ended.
    package var endsAt: WireTime?

    package init(
      label: String, amount: Int64, interval: Interval, startsAt: WireTime? = nil, endsAt: WireTime? = nil
    ) {
      self.label = label
      self.amount = amount
      self.interval = interval
      self.startsAt = startsAt
      self.endsAt = endsAt
    }
  }

  package struct Interval: Sendable, Hashable, Codable {
    package var unit: BillingInterval.Unit
    package var count: Int64

    package init(_ unit: BillingInterval.Unit, count: Int64 = 1) { (self.unit, self.count) = (unit, count) }
  }

  package struct Reload: Sendable, Hashable, Codable {
    package var label: String
    package var amount: Int64
    /// The balance below which a reload is charged.
    package var threshold: Int64

    package init(label: String, amount: Int64, threshold: Int64) {
      self.label = label
      self.amount = amount
      self.threshold = threshold
    }
  }

  package struct Deferred: Sendable, Hashable, Codable {
    package var label: String
    package var amount: Int64
    package var date: WireTime
    package var freeCancellation: FreeCancellation?

    package init(label: String, amount: Int64, date: WireTime, freeCancellation: FreeCancellation? = nil) {
      self.label = label
      self.amount = amount
      self.date = date
      self.freeCancellation = freeCancellation
    }
  }

  package struct FreeCancellation: Sendable, Hashable, Codable {
    package var until: WireTime
    /// A name of the time zone database: where the service is.
    package var timeZone: String

    package init(until: WireTime, timeZone: String) { (self.until, self.timeZone) = (until, timeZone) }
  }
}

extension AgreementDocument {
  /// The agreement in a currency; nil where it has not exactly one kind.
  package func agreement(in currency: Currency) -> PaymentAgreement? {
    func amount(_ minorUnits: Int64) -> Amount { Amount(minorUnits: minorUnits, currency: currency) }
    let terms = AgreementTerms(
      paymentDescription: description, managementURL: managementURL, billingAgreement: billingAgreement)
    switch (recurring, automaticReload, deferred) {
    case (let recurring?, nil, nil):
      return .recurring(
        RecurringPayment(
          terms: terms, regular: recurring.regular.billing(amount), trial: recurring.trial?.billing(amount)))
    case (nil, let reload?, nil):
      return .automaticReload(
        AutomaticReload(
          terms: terms, label: reload.label, amount: amount(reload.amount), threshold: amount(reload.threshold)))
    case (nil, nil, let deferred?):
      return .deferred(
        DeferredPayment(
          terms: terms, label: deferred.label, amount: amount(deferred.amount), date: deferred.date.timestamp,
          freeCancellation: deferred.freeCancellation.map { .init(until: $0.until.timestamp, timeZone: $0.timeZone) }))
    default: return nil
    }
  }

  /// An agreement as it is written.
  package init(_ agreement: PaymentAgreement, timeZone: String, isScheduled: Bool) {
    let terms = agreement.terms
    self.init(
      description: terms.paymentDescription, managementURL: terms.managementURL,
      billingAgreement: terms.billingAgreement, timeZone: timeZone, schedule: isScheduled ? true : nil)
    switch agreement {
    case .recurring(let payment):
      recurring = Recurring(regular: Billing(payment.regular), trial: payment.trial.map { Billing($0) })
    case .automaticReload(let reload):
      automaticReload = Reload(
        label: reload.label, amount: reload.amount.minorUnits, threshold: reload.threshold.minorUnits)
    case .deferred(let payment):
      deferred = Deferred(
        label: payment.label, amount: payment.amount.minorUnits, date: WireTime(payment.date),
        freeCancellation: payment.freeCancellation.map {
          FreeCancellation(until: WireTime($0.until), timeZone: $0.timeZone)
        })
    }
  }
}

extension AgreementDocument.Billing {
  fileprivate func billing(_ amount: (Int64) -> Amount) -> RecurringPayment.Billing {
    RecurringPayment.Billing(
      label: label, amount: amount(self.amount), interval: BillingInterval(interval.unit, count: Int(interval.count)),
      start: startsAt?.timestamp, end: endsAt?.timestamp)
  }

  fileprivate init(_ billing: RecurringPayment.Billing) {
    self.init(
      label: billing.label, amount: billing.amount.minorUnits,
      interval: .init(billing.interval.unit, count: Int64(billing.interval.count)),
      startsAt: billing.start.map { WireTime($0) }, endsAt: billing.end.map { WireTime($0) })
  }
}

// Reading is written out, because unknown properties are errors.

extension AgreementDocument {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case description, managementURL, billingAgreement, timeZone, schedule, recurring, automaticReload, deferred
  }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    description = try keys.required(.description)
    managementURL = try keys.required(.managementURL)
    billingAgreement = try keys.optional(.billingAgreement)
    timeZone = try keys.optional(.timeZone)
    schedule = try keys.optional(.schedule)
    recurring = try keys.optional(.recurring)
    automaticReload = try keys.optional(.automaticReload)
    deferred = try keys.optional(.deferred)
  }
}

extension AgreementDocument.Recurring {
  enum CodingKeys: String, CodingKey, CaseIterable { case regular, trial }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    regular = try keys.required(.regular)
    trial = try keys.optional(.trial)
  }
}

extension AgreementDocument.Billing {
  enum CodingKeys: String, CodingKey, CaseIterable { case label, amount, interval, startsAt, endsAt }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    label = try keys.required(.label)
    amount = try keys.required(.amount)
    interval = try keys.required(.interval)
    startsAt = try keys.optional(.startsAt)
    endsAt = try keys.optional(.endsAt)
  }
}

extension AgreementDocument.Interval {
  enum CodingKeys: String, CodingKey, CaseIterable { case unit, count }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    unit = try keys.required(.unit)
    count = try keys.optional(.count) ?? 1
  }
}

extension AgreementDocument.Reload {
  enum CodingKeys: String, CodingKey, CaseIterable { case label, amount, threshold }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    label = try keys.required(.label)
    amount = try keys.required(.amount)
    threshold = try keys.required(.threshold)
  }
}

extension AgreementDocument.Deferred {
  enum CodingKeys: String, CodingKey, CaseIterable { case label, amount, date, freeCancellation }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    label = try keys.required(.label)
    amount = try keys.required(.amount)
    date = try keys.required(.date)
    freeCancellation = try keys.optional(.freeCancellation)
  }
}

extension AgreementDocument.FreeCancellation {
  enum CodingKeys: String, CodingKey, CaseIterable { case until, timeZone }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    until = try keys.required(.until)
    timeZone = try keys.required(.timeZone)
  }
}
