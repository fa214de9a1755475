import Administration
import Foundation
import Hummingbird
import Ledger
import Storage
import TenderPayments

/// Volume, approvals, declines, unknown outcomes and latency, as charts with a table behind each.
struct OverviewController: Sendable {
  let office: BackOffice
  private static let ranges: [Int64] = [1, 7, 31, 92]

  var routes: [OfficeRoute] { [.get("/overview", .role(.viewer), show)] }

  private func show(_ call: OfficeCall) async throws -> Response {
    let days = call.query("days").flatMap { Int64($0) }.flatMap { Self.ranges.contains($0) ? $0 : nil } ?? 31
    let today = office.clock.now().seconds / 86_400
    let allowed = try call.user.merchants
    let wanted = call.query("merchant").map { MerchantID($0) }
    let merchants = wanted.map { one in allowed.map { $0.filter { $0 == one } } ?? [one] } ?? allowed
    let (range, currency) = (FigureRange(today - days + 1...today, of: merchants), call.query("currency"))
    let overview = try await office.database.read { try Overview(range, currency, in: $0) }
    var values = overview.values
    values["ranges"] = Self.ranges.map {
      ["days": "\($0)", "name": $0 == 1 ? "Today" : "\($0) days", "isHere": $0 == days] as [String: Any]
    }
    values["merchant"] = wanted?.rawValue ?? ""
    values["days"] = "\(days)"
    return try office.pages.page("overview", "Overview", call, values)
  }
}

/// The figures of some days, in one currency.
struct Overview {
  private let range: FigureRange
  private let figures: [PaymentFigure.Group: [PaymentFigure]]
  private let currencies: [String]
  private let currency: String
  private let isCounted: Bool

  /// - Parameter wanted: the currency; nil for the one with the most payments.
  init(_ range: FigureRange, _ wanted: String?, in store: Transaction) throws {
    let counts = Dictionary(
      try range.figures(by: .currency, in: store).map { ($0.name, $0.count) }, uniquingKeysWith: +)
    currencies = counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map(\.key)
    currency = currencies.first { $0 == wanted } ?? currencies.first ?? "EUR"
    var chosen = range
    chosen.currency = currency
    figures = try [.day, .network, .route, .reason].reduce(into: [:]) { [chosen] in
      $0[$1] = try chosen.figures(by: $1, in: store)
    }
    (self.range, isCounted) = (chosen, try range.isCounted(in: store))
  }

  private static let approved: Set<PaymentStatus> = [
    .authorized, .partiallyCaptured, .captured, .partiallyRefunded, .refunded, .verified, .voided,
  ]

  private func all(_ group: PaymentFigure.Group) -> [PaymentFigure] { figures[group, default: []] }

  var values: [String: Any] {
    let count = all(.day).sum(\.count)
    return [
      "isEmpty": count == 0, "currency": currency, "isCounted": isCounted,
      "currencies": currencies.map { ["code": $0, "isHere": $0 == currency] as [String: Any] },
      "tiles": tiles(all(.day)).map { ["name": $0.0, "value": $0.1] },
      "charts": [
        volume, approvals("Approval rate by network", .network), approvals("Approval rate by route", .route),
        declines,
        latency,
      ].map(\.values),
    ]
  }

  private func tiles(_ figures: [PaymentFigure]) -> [(String, String)] {
    let taken = figures.filter { Self.approved.contains($0.status) }
    let open = figures.filter { !$0.status.isResolved }
    return [
      ("Payments", "\(figures.sum(\.count))"), ("Volume", amount(taken.sum(\.amount))),
      ("Approved", Self.rate(figures)),
      ("Refunded", amount(figures.sum(\.refunded))), ("Outcome open", "\(open.sum(\.count))"),
      ("Time of an authorization", Self.time(figures)),
    ]
  }

  private func amount(_ units: Int64) -> String {
    guard let currency = Currency(code: currency) else { return "\(units)" }
    return Amount(minorUnits: units, currency: currency).shown
  }

  /// The share of approvals among the payments with an outcome.
  private static func share(_ figures: [PaymentFigure]) -> Double? {
    let resolved = figures.filter { $0.status.isResolved }.sum(\.count)
    guard resolved > 0 else { return nil }
    return Double(figures.filter { approved.contains($0.status) }.sum(\.count)) / Double(resolved) * 100
  }

  private static func rate(_ figures: [PaymentFigure]) -> String {
    share(figures).map { "\(($0 * 10).rounded() / 10) %" } ?? "–"
  }

  private static func time(_ figures: [PaymentFigure]) -> String {
    let answered = figures.sum(\.answered)
    guard answered > 0 else { return "–" }
    return Duration.microseconds(figures.map(\.latency).reduce(.zero, +).microseconds / answered).shownMilliseconds
  }

  private var byDay: [Int64: [PaymentFigure]] { Dictionary(grouping: all(.day)) { Int64($0.name) ?? 0 } }

  private var volume: BarChart {
    let byDay = byDay.mapValues { $0.filter { Self.approved.contains($0.status) } }
    return BarChart(
      title: "Volume by day, \(currency)",
      bars: range.days.map { day in
        let units = byDay[day, default: []].sum(\.amount)
        return .init(label: Self.label(day), value: Double(units), text: amount(units))
      })
  }

  /// `11-23`
  private static func label(_ day: Int64) -> String { String(Timestamp(seconds: day * 86_400).day.dropFirst(5)) }

  private func approvals(_ title: String, _ group: PaymentFigure.Group) -> BarChart {
    let groups = Dictionary(grouping: all(group), by: \.name).sorted { $0.key < $1.key }
    return BarChart(
      title: title,
      bars: groups.map { name, figures in
        .init(
          label: name, value: Self.share(figures) ?? 0,
          text: "\(Self.rate(figures)) of \(figures.sum(\.count)) payment\(figures.sum(\.count) == 1 ? "" : "s")")
      }, maximum: 100)
  }

  private var declines: BarChart {
    let declined = all(.reason).filter { $0.status == .declined }.sorted { $0.count > $1.count }
    return BarChart(
      title: "Declines by reason",
      bars: declined.map {
        .init(label: $0.name.isEmpty ? "unknown" : $0.name, value: Double($0.count), text: "\($0.count)")
      })
  }

  private var latency: BarChart {
    let byDay = byDay
    return BarChart(
      title: "Time of an authorization by day, mean",
      bars: range.days.map { day in
        let figures = byDay[day, default: []]
        let answered = max(1, figures.sum(\.answered))
        let whole = figures.map(\.latency).reduce(.zero, +).microseconds
        return .init(label: Self.label(day), value: Double(whole / answered), text: Self.time(figures))
      })
  }
}

extension [PaymentFigure] {
  fileprivate func sum(_ value: (PaymentFigure) -> Int64) -> Int64 { reduce(0) { $0.addingClamped(value($1)) } }
}
