import Crypto
import Foundation
import Ledger
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The calendar of an agreement` {
  /// A line of `Vectors/agreement-calendar.txt`, which `Tests/Judges/calendar/verify.py` writes by python-dateutil.
  struct Case: Sendable, CustomTestStringConvertible {
    let interval: BillingInterval
    let zone: String
    let time: String
    let first: String
    let starts: Int64
    let dates: Int64
    let hash: String

    init?(_ line: Substring) {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 8, let unit = BillingInterval.Unit(rawValue: words[0]), let count = Int(words[1]),
        let starts = Int64(words[5]), let dates = Int64(words[6])
      else { return nil }
      interval = BillingInterval(unit, count: count)
      (zone, time, first, self.starts, self.dates, hash) = (words[2], words[3], words[4], starts, dates, words[7])
    }

    var testDescription: String { "\(interval.count) \(interval.unit.rawValue) \(zone)" }
  }

  static let cases: [Case] =
    ((try? Repository.text("Tests/Support/Vectors/agreement-calendar.txt")) ?? "").split(separator: "\n").compactMap(
      Case.init)

  @Test func `is judged by all lines of the table`() { #expect(Self.cases.count == 39) }

  /// The moment at which a clock in the zone first shows the time.
  private func moment(_ day: String, _ time: String, _ zone: String) throws -> Timestamp {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: zone)
    formatter.dateFormat = "yyyy-MM-dd HH:mm"
    return Timestamp(try #require(formatter.date(from: "\(day) \(time)")))
  }

  @Test(arguments: cases) func `has the dates that python-dateutil reckons`(_ entry: Case) throws {
    let first = try moment(entry.first, entry.time, entry.zone)
    let starts = try #require(DateSeries(start: first, interval: BillingInterval(.day), timeZone: entry.zone))
    var (hash, block) = (SHA256(), [UInt8]())
    for day in 0..<entry.starts {
      let start = try #require(starts.date(day))
      let series = try #require(DateSeries(start: start, interval: entry.interval, timeZone: entry.zone))
      for number in 0..<entry.dates {
        block.append(contentsOf: "\(try #require(series.date(number)).seconds)\n".utf8)
      }
      hash.update(data: block)
      block.removeAll(keepingCapacity: true)
    }
    #expect(Hex.encode(hash.finalize()) == entry.hash)
  }

  @Test func `counts the dates before a moment`() throws {
    let start = AgreementBench.begun
    for unit in BillingInterval.Unit.allCases {
      let interval = BillingInterval(unit, count: 3)
      let series = try #require(DateSeries(start: start, interval: interval, timeZone: "Europe/Dublin"))
      for number in [0, 1, 2, 13, 400] as [Int64] {
        let date = try #require(series.date(number))
        #expect(series.count(before: date) == number)
        #expect(series.count(before: date.adding(.microseconds(1))) == number + 1)
      }
      #expect(series.date(9_999_999_999) == nil)
    }
    #expect(DateSeries(start: start, interval: BillingInterval(.month, count: 0), timeZone: "UTC") == nil)
    for name in ["", "CET", "Nowhere/Town", "Europe/Dublin ", "Europe/Dublin\0", "Europe/Dublin\0/x"] {
      #expect(!DateSeries.isTimeZone(name))
    }
  }

  @Test func `counts minutes and hours exactly, across a change of the clock`() throws {
    let night = try #require(Timestamp(rfc3339: "2026-03-29T00:30:00Z"))
    let hours = try #require(DateSeries(start: night, interval: BillingInterval(.hour), timeZone: "Europe/Dublin"))
    #expect(hours.date(3) == night.adding(.seconds(3 * 3_600)))
    let days = try #require(DateSeries(start: night, interval: BillingInterval(.day), timeZone: "Europe/Dublin"))
    #expect(days.date(1) == night.adding(.seconds(23 * 3_600)))
  }

  private func calendar(_ agreement: PaymentAgreement) throws -> AgreementCalendar {
    try #require(AgreementCalendar(agreement, timeZone: "UTC", begun: AgreementBench.begun))
  }

  @Test func `has the trial's periods first, and the regular price from its own beginning on`() throws {
    let (begun, day) = (AgreementBench.begun, AgreementBench.day)
    let trial = RecurringPayment.Billing(
      label: "Trial", amount: .eur(100), interval: BillingInterval(.day, count: 7), end: begun.adding(day * 14))
    let calendar = try calendar(AgreementBench.monthly(trial: trial))
    let periods = (0..<4).compactMap { calendar.period($0) }
    #expect(periods.map(\.amount) == [.eur(100), .eur(100), .eur(1_250), .eur(1_250)])
    #expect(
      periods.map { "\($0.due?.description.prefix(10) ?? "")" } == [
        "2026-01-31", "2026-02-07", "2026-02-14", "2026-03-14",
      ])
    #expect(calendar.firstPaymentIsPeriod)
    #expect(calendar.current(at: begun.adding(day * 13))?.number == 1)
    #expect(calendar.current(at: begun.adding(day * 14))?.number == 2)
    #expect(calendar.next(after: begun)?.number == 1)
  }

  @Test func `begins later than the first payment where the terms say so, and ends with its last date`() throws {
    let (begun, day) = (AgreementBench.begun, AgreementBench.day)
    let start = begun.adding(day)
    let calendar = try calendar(AgreementBench.monthly(end: start.adding(day * 28), start: start))
    #expect(!calendar.firstPaymentIsPeriod)
    #expect(calendar.current(at: begun) == nil && calendar.next(after: begun)?.due == start)
    #expect(calendar.period(1)?.due == start.adding(day * 28) && calendar.period(2) == nil)
    #expect(calendar.current(at: begun.adding(day * 900))?.number == 1)
    #expect(calendar.next(after: begun.adding(day * 900)) == nil)
  }
}
