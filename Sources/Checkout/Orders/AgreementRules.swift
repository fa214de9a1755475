package import DirectWire
import Ledger
package import TenderPayments
import TenderSheet

/// What must hold of an agreement, property by property. Every refusal names the property.
package enum AgreementRules {
  /// The longest interval, in its unit: what no calendar of a shop has is a mistake.
  private static let longest: Int64 = 10_000

  /// The agreement of a document.
  ///
  /// - Parameters:
  ///   - place: of the document in its request: `agreement`.
  ///   - now: nil for a document that is stored, whose dates may have passed.
  package static func check(
    _ document: AgreementDocument, in currency: Currency, at now: Timestamp?, _ place: String
  ) throws(OrderError) -> PaymentAgreement {
    for (name, billing) in billings(document) {
      guard (1...longest).contains(billing.interval.count) else {
        throw invalid(place, "recurring.\(name).interval.count", "from 1 to \(longest)")
      }
    }
    try checkTexts(document, place)
    guard let agreement = document.agreement(in: currency) else {
      throw invalid(place, nil, "exactly one of recurring, automaticReload and deferred")
    }
    do { try agreement.check(currency) } catch { throw OrderError(.basketInvalid, error.reason, field: place) }
    guard DateSeries.isTimeZone(document.timeZone ?? "UTC") else {
      throw invalid(place, "timeZone", "a name of the time zone database, such as Europe/Dublin")
    }
    if document.schedule == true, case .automaticReload = agreement {
      throw invalid(place, "schedule", "absent: a reload is charged when the merchant's server finds the balance low")
    }
    try checkDates(agreement, at: now, place)
    return agreement
  }

  private static func billings(_ document: AgreementDocument) -> [(name: String, AgreementDocument.Billing)] {
    [("regular", document.recurring?.regular), ("trial", document.recurring?.trial)].compactMap { name, billing in
      billing.map { (name, $0) }
    }
  }

  private static func checkTexts(_ document: AgreementDocument, _ place: String) throws(OrderError) {
    let (billings, reload, deferred) = (Self.billings(document), document.automaticReload, document.deferred)
    var labels: [(String, String?)] = [("description", document.description), ("automaticReload.label", reload?.label)]
    labels += [("deferred.label", deferred?.label)] + billings.map { ("recurring.\($0.name).label", $0.1.label) }
    for (name, label) in labels {
      guard let label else { continue }
      guard !label.isEmpty, TextLimits.holds(label, most: 200), label.unicodeScalars.allSatisfy(\.isPrintable) else {
        throw invalid(place, name, "1 to 200 characters, without control characters")
      }
    }
    var amounts: [(String, Int64?)] = [
      ("automaticReload.amount", reload?.amount), ("deferred.amount", deferred?.amount),
    ]
    amounts += [("automaticReload.threshold", reload?.threshold)]
    amounts += billings.map { ("recurring.\($0.name).amount", $0.1.amount) }
    for (name, amount) in amounts {
      guard (0...Amount.limit.upperBound).contains(amount ?? 0) else {
        throw invalid(place, name, "from 0 to \(Amount.limit.upperBound) minor units")
      }
    }
    guard TextLimits.holds(document.billingAgreement ?? "", most: AgreementTerms.longestBillingAgreement) else {
      throw invalid(place, "billingAgreement", "at most \(AgreementTerms.longestBillingAgreement) characters")
    }
    let url = document.managementURL
    guard url.hasPrefix("https://"), (9...2_000).contains(url.utf8.count) else {
      throw invalid(place, "managementURL", "an address that begins with https://, of at most 2000 characters")
    }
  }

  private static func checkDates(
    _ agreement: PaymentAgreement, at now: Timestamp?, _ place: String
  ) throws(OrderError) {
    switch agreement {
    case .automaticReload(let reload):
      guard reload.amount.isPositive else { throw invalid(place, "automaticReload.amount", "more than zero") }
    case .deferred(let payment):
      guard payment.amount.isPositive else { throw invalid(place, "deferred.amount", "more than zero") }
      guard now.map({ payment.date > $0 }) ?? true else { throw invalid(place, "deferred.date", "in the future") }
      guard payment.freeCancellation.map({ $0.until <= payment.date }) ?? true else {
        throw invalid(place, "deferred.freeCancellation.until", "not after the date")
      }
      guard payment.freeCancellation.map({ DateSeries.isTimeZone($0.timeZone) }) ?? true else {
        throw invalid(place, "deferred.freeCancellation.timeZone", "a name of the time zone database")
      }
    case .recurring(let payment):
      try checkDates(payment, place)
    }
  }

  private static func checkDates(_ payment: RecurringPayment, _ place: String) throws(OrderError) {
    let (regular, trial) = (payment.regular, payment.trial)
    guard regular.amount.isPositive else {
      throw invalid(place, "recurring.regular.amount", "more than zero; a trial may cost nothing")
    }
    for (name, billing) in [("regular", Optional(regular)), ("trial", trial)] {
      if let start = billing?.start, let end = billing?.end, end < start {
        throw invalid(place, "recurring.\(name).endsAt", "not before its startsAt")
      }
    }
    guard let trial else { return }
    guard regular.start != nil || trial.end != nil else {
      throw invalid(place, "recurring.regular.startsAt", "given, or else the trial's endsAt")
    }
    if let start = regular.start, let end = trial.end, end > start {
      throw invalid(place, "recurring.trial.endsAt", "not after the regular price begins")
    }
  }

  /// What this payment has to take: the first period's price where that begins with it.
  ///
  /// - Parameter total: that the sheet opens with; nil while it is pending.
  package static func check(
    _ agreement: PaymentAgreement, timeZone: String, pays total: Amount?, at now: Timestamp, _ place: String
  ) throws(OrderError) {
    guard let total, case .recurring = agreement,
      let calendar = AgreementCalendar(agreement, timeZone: timeZone, begun: now), calendar.firstPaymentIsPeriod,
      let first = calendar.period(0)
    else { return }
    guard total.minorUnits >= first.amount.minorUnits else {
      throw OrderError(
        .basketInvalid,
        "the total of \(total) must have the first period's \(first.amount) in it: sell it as an item, or begin later",
        field: place)
    }
  }

  private static func invalid(_ place: String, _ member: String?, _ wanted: String) -> OrderError {
    let field = member.map { "\(place).\($0)" } ?? place
    return OrderError(.basketInvalid, "\(field) must be \(wanted)", field: field)
  }
}
