import Foundation
package import TenderPayments

/// Steps of one length from a start: the n-th date is the start plus n intervals.
///
/// Months and years are clipped to the last day of the month, always counted from the start, so that a series that begins on
/// the 31st comes back to it. Days, months and years keep the time that a clock in the zone shows; minutes and hours are
/// exact. A time that the zone skips is as much later as the zone skips; of a time that it has twice the first counts.
package struct DateSeries: Sendable {
  package let start: Timestamp
  package let interval: BillingInterval
  private let zone: TimeZone

  /// - Parameter timeZone: a name of the time zone database; nil for one that is unknown here.
  package init?(start: Timestamp, interval: BillingInterval, timeZone: String) {
    guard interval.count > 0, let zone = Self.zone(timeZone) else { return nil }
    (self.start, self.interval, self.zone) = (start, interval, zone)
  }

  /// Whether the name is of the time zone database.
  package static func isTimeZone(_ name: String) -> Bool { zone(name) != nil }

  /// Names without a region are abbreviations, which have several meanings, but for UTC.
  private static func zone(_ name: String) -> TimeZone? {
    guard name == "UTC" || TimeZoneName.isPlace(name) else { return nil }
    return TimeZone(identifier: name)
  }

  /// The n-th date; nil after the year 9999.
  package func date(_ number: Int64) -> Timestamp? {
    let (steps, overflow) = number.multipliedReportingOverflow(by: Int64(interval.count))
    guard number >= 0, !overflow, steps < 10_000_000_000 else { return nil }
    switch interval.unit {
    case .minute: return bounded(start.adding(.seconds(steps * 60)))
    case .hour: return bounded(start.adding(.seconds(steps * 3_600)))
    case .day: return moment(of: local(start).adding(.seconds(steps * 86_400)))
    case .month: return month(after: steps)
    case .year: return month(after: steps * 12)
    }
  }

  /// How many dates come before the moment.
  package func count(before moment: Timestamp) -> Int64 {
    var (low, high): (Int64, Int64) = (0, 1)
    while let date = date(high), date < moment { (low, high) = (high, high * 2) }
    // From here on: `date(low)` may be before the moment, `date(high)` is not.
    while low < high {
      let middle = (low + high) / 2
      if let date = date(middle), date < moment { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func month(after months: Int64) -> Timestamp? {
    let local = local(start)
    let (year, month, day) = local.calendar
    let index = year * 12 + month - 1 + months
    let (newYear, newMonth) = (index / 12, index % 12 + 1)
    guard newYear <= 9_999, let midnight = Self.clipped(newYear, newMonth, day) else { return nil }
    return moment(of: midnight.adding(.seconds(local.seconds - Self.midnight(of: local).seconds)))
  }

  private static func clipped(_ year: Int64, _ month: Int64, _ day: Int64) -> Timestamp? {
    (0...3).lazy.compactMap { Timestamp(year: year, month: month, day: day - $0) }.first
  }

  private static func midnight(of time: Timestamp) -> Timestamp {
    let (year, month, day) = time.calendar
    return Timestamp(year: year, month: month, day: day) ?? time
  }

  /// What a clock in the zone shows, as if it were UTC.
  private func local(_ time: Timestamp) -> Timestamp { time.adding(.seconds(east(at: time))) }

  private func moment(of local: Timestamp) -> Timestamp? {
    let day = Duration.seconds(86_400)
    let (before, after) = (east(at: local.adding(.zero - day)), east(at: local.adding(day)))
    let earlier = local.adding(.seconds(-before))
    let later = local.adding(.seconds(-after))
    return bounded(east(at: earlier) != before && east(at: later) == after ? later : earlier)
  }

  private func east(at time: Timestamp) -> Int {
    zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.seconds)))
  }

  private func bounded(_ time: Timestamp) -> Timestamp? { time.calendar.year <= 9_999 ? time : nil }
}

/// When an agreement may be charged, and how much: its periods, numbered from 0.
///
/// A recurring payment has those of its trial first, before the regular price begins. Period 0 is the first payment's, unless
/// it begins later than that. An automatic reload has no dates; its periods count its charges. A deferred payment has period 1
/// alone.
package struct AgreementCalendar: Sendable {
  /// A period of an agreement.
  package struct Period: Sendable, Hashable {
    package let number: Int64
    /// Nil for a reload, which is charged when the balance asks for it.
    package let due: Timestamp?
    package let amount: Amount
  }

  private enum Kind: Sendable {
    case recurring(trial: (dates: DateSeries, count: Int64, amount: Amount)?, DateSeries, end: Timestamp?, Amount)
    case reload(Amount)
    case deferred(Timestamp, Amount)
  }

  private let kind: Kind
  private let begun: Timestamp

  /// - Parameter begun: when the shopper agreed.
  /// - Returns: nil for a time zone that is unknown here.
  package init?(_ agreement: PaymentAgreement, timeZone: String, begun: Timestamp) {
    self.begun = begun
    switch agreement {
    case .automaticReload(let reload): kind = .reload(reload.amount)
    case .deferred(let payment): kind = .deferred(payment.date, payment.amount)
    case .recurring(let payment):
      let (regular, trial) = (payment.regular, payment.trial)
      guard let trial else {
        guard let dates = DateSeries(start: regular.start ?? begun, interval: regular.interval, timeZone: timeZone)
        else { return nil }
        kind = .recurring(trial: nil, dates, end: regular.end, regular.amount)
        return
      }
      guard let trials = DateSeries(start: trial.start ?? begun, interval: trial.interval, timeZone: timeZone) else {
        return nil
      }
      let change = regular.start ?? trial.end ?? trials.date(1) ?? begun
      guard let dates = DateSeries(start: change, interval: regular.interval, timeZone: timeZone) else { return nil }
      kind = .recurring(
        trial: (trials, trials.count(before: change), trial.amount), dates, end: regular.end, regular.amount)
    }
  }

  /// The period of this number; nil where there is none, as after the end.
  package func period(_ number: Int64) -> Period? {
    guard number >= 0 else { return nil }
    switch kind {
    case .reload(let amount): return Period(number: number, due: nil, amount: amount)
    case .deferred(let date, let amount): return number == 1 ? Period(number: 1, due: date, amount: amount) : nil
    case .recurring(let trial, let dates, let end, let amount):
      if let trial, number < trial.count {
        return trial.dates.date(number).map { Period(number: number, due: $0, amount: trial.amount) }
      }
      guard let date = dates.date(number - (trial?.count ?? 0)), end.map({ date <= $0 }) ?? true else { return nil }
      return Period(number: number, due: date, amount: amount)
    }
  }

  /// Whether the period has the trial's price.
  package func isTrial(_ number: Int64) -> Bool {
    guard case .recurring(let trial?, _, _, _) = kind else { return false }
    return number < trial.count
  }

  /// The first period at the regular price; nil where there is none, and for a reload and a deferred payment.
  package var firstRegular: Period? {
    guard case .recurring(let trial, _, _, _) = kind else { return nil }
    return period(trial?.count ?? 0)
  }

  /// Whether the first payment is that of period 0. A reload and a deferred payment have no other.
  package var firstPaymentIsPeriod: Bool {
    guard case .recurring = kind else { return true }
    return period(0)?.due.map { $0 <= begun } ?? false
  }

  /// The last period that has begun by the moment; nil before the first, and for a reload.
  package func current(at now: Timestamp) -> Period? {
    switch kind {
    case .reload: return nil
    case .deferred: return period(1).flatMap { period in period.due.map { $0 <= now } == true ? period : nil }
    case .recurring(let trial, let dates, _, _):
      let after = now.adding(.microseconds(1))
      let trials = min(trial?.count ?? 0, trial?.dates.count(before: after) ?? 0)
      var number = trials + (trials < trial?.count ?? 0 ? 0 : dates.count(before: after)) - 1
      // After the end the last period stays the current one.
      while number >= 0 {
        if let period = period(number) { return period }
        number = lastNumber ?? -1
      }
      return nil
    }
  }

  /// The next period that begins after the moment; nil where there is none.
  package func next(after now: Timestamp) -> Period? {
    switch kind {
    case .reload: nil
    case .deferred: period(1).flatMap { period in period.due.map { $0 > now } == true ? period : nil }
    case .recurring: period((current(at: now)?.number ?? -1) + 1).flatMap { $0.due.map { $0 > now } == true ? $0 : nil }
    }
  }

  /// The number of the last period; nil where it never ends, or has none.
  private var lastNumber: Int64? {
    guard case .recurring(let trial, let dates, let end?, _) = kind else { return nil }
    let count = (trial?.count ?? 0) + dates.count(before: end.adding(.microseconds(1)))
    return count > 0 ? count - 1 : nil
  }
}
