import Ledger
import Storage
import TenderPayments

/// What is counted of some time, and of the same time before, in one currency: by hours of a day, or by days.
struct Figures {
  /// An hour or a day.
  struct Bucket {
    let label: String
    let begin: Timestamp
    let end: Timestamp
    let now: [PaymentFigure]
    let before: [PaymentFigure]
  }

  let buckets: [Bucket]
  let groups: [FigureSpan.Group: [PaymentFigure]]
  let groupsBefore: [FigureSpan.Group: [PaymentFigure]]
  /// False as long as older payments are being counted.
  let isCounted: Bool
  let currency: String
  /// What the time before is called: `the same day last week`.
  let beforeName: String

  private static let hour: Int64 = 3_600
  static let day: Int64 = 86_400

  var now: [PaymentFigure] { buckets.flatMap(\.now) }
  var before: [PaymentFigure] { buckets.flatMap(\.before) }

  /// The currency with the most payments of some days first.
  static func currencies(_ range: FigureRange, in store: Transaction) throws -> [String] {
    let counts = Dictionary(
      try range.figures(by: .currency, in: store).map { ($0.name, $0.count) },
      uniquingKeysWith: { $0.addingClamped($1) })
    return counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map(\.key)
  }

  // MARK: The hours of a day

  /// - Parameters:
  ///   - moment: of the day by the operator's clock.
  ///   - hasGroups: whether networks, routes and reasons are wanted too.
  static func ofDay(
    _ moment: Timestamp, _ merchants: [MerchantID]?, _ currency: String, _ format: OfficeFormat, hasGroups: Bool = true,
    in store: Transaction
  ) throws -> Figures {
    let midnight = format.midnight(before: moment)
    let next = format.nextMidnight(after: midnight)
    // Noon is on the day that is meant, also where the clock was put forward or back since.
    let lastWeek = format.midnight(before: midnight.adding(.seconds(day / 2 - 7 * day)))
    let span = FigureSpan(midnight..<next, of: merchants, currency)
    let spanBefore = FigureSpan(lastWeek..<lastWeek.adding(next.since(midnight)), of: merchants, currency)
    let now = byHour(try span.figures(in: store), from: midnight)
    let before = byHour(try spanBefore.figures(in: store), from: lastWeek)
    let hours = next.since(midnight).components.seconds / hour
    let buckets = (0..<hours).map { number in
      let begin = midnight.adding(.seconds(number * hour))
      return Bucket(
        label: format.clock(begin), begin: begin, end: begin.adding(.seconds(hour)), now: now[number, default: []],
        before: before[number, default: []])
    }
    return Figures(
      buckets: buckets, groups: hasGroups ? try span.groups(in: store) : [:],
      groupsBefore: hasGroups ? try spanBefore.groups(in: store) : [:],
      isCounted: try span.isCounted(in: store), currency: currency, beforeName: "the same day last week")
  }

  private static func byHour(_ figures: [PaymentFigure], from midnight: Timestamp) -> [Int64: [PaymentFigure]] {
    Dictionary(grouping: figures) { max(0, $0.stretchBegin.since(midnight).components.seconds / hour) }
  }

  // MARK: Days

  /// - Parameter days: since 1970, in UTC.
  static func ofDays(
    _ days: ClosedRange<Int64>, _ merchants: [MerchantID]?, _ currency: String, _ format: OfficeFormat,
    in store: Transaction
  ) throws -> Figures {
    let count = Int64(days.count)
    var (range, rangeBefore) = (
      FigureRange(days, of: merchants),
      FigureRange(days.lowerBound - count...days.upperBound - count, of: merchants)
    )
    (range.currency, rangeBefore.currency) = (currency, currency)
    let now = byDay(try range.figures(by: .day, in: store))
    let before = byDay(try rangeBefore.figures(by: .day, in: store))
    let buckets = days.map { day in
      let begin = Timestamp(seconds: day * Self.day)
      return Bucket(
        label: format.shortDay(day), begin: begin, end: begin.adding(.seconds(Self.day)), now: now[day, default: []],
        before: before[day - count, default: []])
    }
    func all(_ range: FigureRange) throws -> [FigureSpan.Group: [PaymentFigure]] {
      [
        .network: try range.figures(by: .network, in: store), .route: try range.figures(by: .route, in: store),
        .reason: try range.figures(by: .reason, in: store),
      ]
    }
    return Figures(
      buckets: buckets, groups: try all(range), groupsBefore: try all(rangeBefore),
      isCounted: try range.isCounted(in: store), currency: currency, beforeName: "the \(count) days before")
  }

  private static func byDay(_ figures: [PaymentFigure]) -> [Int64: [PaymentFigure]] {
    Dictionary(grouping: figures) { Int64($0.name) ?? 0 }
  }
}

/// What the figures of some payments add up to.
struct FigureSums {
  private static let approvedStatuses: Set<PaymentStatus> = [
    .authorized, .partiallyCaptured, .captured, .partiallyRefunded, .refunded, .verified, .voided,
  ]

  /// How many payments there are in all.
  let count: Int64
  let approved: Int64
  let declined: Int64
  /// Without an outcome.
  let open: Int64
  /// What approved payments were begun for, in minor units.
  let volume: Int64
  /// In minor units.
  let refunded: Int64
  /// How long an authorization takes; nil where none has an answer.
  let meanTime: Duration?

  init(_ figures: [PaymentFigure]) {
    let taken = figures.filter { Self.approvedStatuses.contains($0.status) }
    count = figures.sum(\.count)
    approved = taken.sum(\.count)
    declined = figures.filter { $0.status == .declined }.sum(\.count)
    open = figures.filter { !$0.status.isResolved }.sum(\.count)
    (volume, refunded) = (taken.sum(\.amount), figures.sum(\.refunded))
    let answered = figures.sum(\.answered)
    meanTime = answered == 0 ? nil : Duration.microseconds(figures.sum(\.latency.microseconds) / answered)
  }

  /// Approved, declined, failed and open, as parts of all; nil where there are no payments.
  var shares: (approved: Double, declined: Double, failed: Double, open: Double)? {
    guard count > 0 else { return nil }
    func share(_ part: Int64) -> Double { Double(part) / Double(count) }
    let rest = max(0, 1 - share(approved) - share(declined) - share(open))
    return (share(approved), share(declined), rest, share(open))
  }

  /// The share of approvals among the payments with an outcome.
  var approvalRate: Double? {
    let resolved = count.subtractingClamped(open)
    return resolved > 0 ? Double(approved) / Double(resolved) : nil
  }
}

extension [PaymentFigure] {
  fileprivate func sum(_ value: (PaymentFigure) -> Int64) -> Int64 { reduce(0) { $0.addingClamped(value($1)) } }
}
