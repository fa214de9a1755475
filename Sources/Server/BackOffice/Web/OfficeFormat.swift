import Administration
import Foundation
import TenderPayments

/// How an operator reads money, numbers and moments: as in their language, by a clock where they are. What is typed, sent
/// or recorded stays `12.50 EUR` and UTC.
struct OfficeFormat: Sendable {
  /// `de-AT`
  let language: String
  /// A name of the time zone database, or `UTC`.
  let zoneName: String
  private let forms: Locale
  private let zone: TimeZone

  /// Where neither the account nor the browser names a language: days before months, 24 hours.
  static let fallback = "en-GB"

  /// - Parameter accepted: the header `Accept-Language`.
  init(_ preferences: OfficePreferences, accepted: String? = nil) {
    let asked = accepted.flatMap { Self.firstLanguage(of: $0) }
    language = Self.isLanguage(preferences.language) ? preferences.language : asked ?? Self.fallback
    forms = Locale(identifier: language)
    let known = Self.zone(preferences.zone)
    (zone, zoneName) = (known ?? .gmt, known == nil ? "UTC" : preferences.zone)
  }

  /// A language of two or three letters, perhaps a script, perhaps a region.
  static func isLanguage(_ text: String) -> Bool {
    text.utf8.count <= 11 && text.wholeMatch(of: /[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?/) != nil
  }

  static func zone(_ name: String) -> TimeZone? {
    TimeZoneName.isPlace(name) ? TimeZone(identifier: name) : nil
  }

  /// Browsers name the language that is wanted most first.
  private static func firstLanguage(of header: String) -> String? {
    header.prefix(200).split { $0 == "," || $0 == ";" || $0 == " " }.first.map(String.init).flatMap {
      isLanguage($0) ? $0 : nil
    }
  }

  // MARK: Money and numbers

  /// `€12.50`, `12,50 €`, `¥1,200`.
  func amount(_ amount: Amount) -> String {
    guard let value = Decimal(string: amount.decimalString, locale: Locale(identifier: "en_US_POSIX")) else {
      return "\(amount)"
    }
    return value.formatted(
      .currency(code: amount.currency.code).precision(.fractionLength(amount.currency.exponent)).locale(forms))
  }

  /// - Parameter units: minor units of the currency.
  func amount(_ units: Int64, _ currency: String) -> String {
    Currency(code: currency).map { amount(Amount(minorUnits: units, currency: $0)) } ?? "\(number(units)) \(currency)"
  }

  /// `1,204`
  func number(_ value: Int64) -> String { value.formatted(.number.locale(forms)) }

  /// For an axis: `12K`, `3.5M`.
  func short(_ value: Double) -> String {
    value.formatted(.number.notation(.compactName).precision(.fractionLength(0...1)).locale(forms))
  }

  /// `97.3%` of 0.973.
  func share(_ value: Double) -> String {
    value.formatted(.percent.precision(.fractionLength(0...1)).locale(forms))
  }

  /// `412 ms`, `1.2 s`
  func duration(_ duration: Duration) -> String {
    let seconds = Double(duration.microseconds) / 1_000_000
    return seconds < 1
      ? "\(number(duration.microseconds / 1_000)) ms"
      : "\(seconds.formatted(.number.precision(.fractionLength(0...1)).locale(forms))) s"
  }

  // MARK: Moments

  /// `Dublin`, `UTC`: what a column of times is headed with.
  var place: String {
    zoneName.split(separator: "/").last.map { String($0.map { $0 == "_" ? " " : $0 }) } ?? zoneName
  }

  private var isUTC: Bool { zoneName == "UTC" }

  private func written(
    _ time: Timestamp, _ date: Date.FormatStyle.DateStyle, _ clock: Date.FormatStyle.TimeStyle, in zone: TimeZone
  ) -> String {
    Date(timeIntervalSince1970: Double(time.seconds)).formatted(
      Date.FormatStyle(date: date, time: clock, locale: forms, timeZone: zone))
  }

  /// `15 Jan 2027 at 9:00:00`, by the operator's clock.
  func local(_ time: Timestamp) -> String { written(time, .abbreviated, .standard, in: zone) }

  /// `15 Jan 2027 at 17:00:00 in Tokyo, 8:00:00 UTC`
  func time(_ time: Timestamp) -> String {
    guard !isUTC else { return "\(local(time)) UTC" }
    let isSameDay = written(time, .numeric, .omitted, in: zone) == written(time, .numeric, .omitted, in: .gmt)
    let beside = written(time, isSameDay ? .omitted : .abbreviated, .standard, in: .gmt)
    return "\(local(time)) in \(place), \(beside) UTC"
  }

  /// As the template `time` takes it, which has UTC beside.
  func moment(_ time: Timestamp) -> [String: Any] {
    ["local": local(time), "utc": "\(written(time, .abbreviated, .standard, in: .gmt)) UTC", "iso": time.description]
  }

  /// `15 Jan 2027`, by the operator's clock.
  func day(_ time: Timestamp) -> String { written(time, .abbreviated, .omitted, in: zone) }

  /// `15 Jan` of a day since 1970 in UTC.
  func shortDay(_ day: Int64) -> String {
    Date(timeIntervalSince1970: Double(day) * 86_400).formatted(
      Date.FormatStyle(locale: forms, timeZone: .gmt).day().month(.abbreviated))
  }

  /// `15 Jan 2027` of a day since 1970 in UTC.
  func longDay(_ day: Int64) -> String {
    Date(timeIntervalSince1970: Double(day) * 86_400).formatted(
      Date.FormatStyle(date: .abbreviated, time: .omitted, locale: forms, timeZone: .gmt))
  }

  /// `9:00`, by the operator's clock.
  func clock(_ time: Timestamp) -> String { written(time, .omitted, .shortened, in: zone) }

  private var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    return calendar
  }

  /// When the operator's day began.
  func midnight(before time: Timestamp) -> Timestamp {
    Timestamp(calendar.startOfDay(for: Date(timeIntervalSince1970: Double(time.seconds))))
  }

  /// A day on which the clock is put back or forward has 25 or 23 hours.
  func nextMidnight(after midnight: Timestamp) -> Timestamp {
    self.midnight(before: midnight.adding(.seconds(26 * 3_600)))
  }

  /// When a day begins by the operator's clock.
  ///
  /// - Parameter text: `2026-11-23`.
  func midnight(of text: String) -> Timestamp? {
    guard let utc = Timestamp(day: text) else { return nil }
    let (year, month, day) = utc.calendar
    let parts = DateComponents(year: Int(year), month: Int(month), day: Int(day))
    return calendar.date(from: parts).map { Timestamp($0) }
  }

  /// `2026-11-23` by the operator's clock, as fields for days take it.
  func isoDay(_ time: Timestamp) -> String {
    let shift = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.seconds)))
    return time.adding(.seconds(shift)).day
  }
}

extension Timestamp {
  /// `2026-11-23`, in UTC.
  var day: String { String(description.prefix(10)) }

  /// - Parameter text: `2026-11-23`, the beginning of that day in UTC.
  init?(day text: String) {
    let parts = text.split(separator: "-").compactMap { Int64($0) }
    guard parts.count == 3 else { return nil }
    self.init(year: parts[0], month: parts[1], day: parts[2])
  }
}
