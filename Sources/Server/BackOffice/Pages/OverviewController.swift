import Administration
import Foundation
import HTTPServing
import HTTPTypes
import Hummingbird
import Ledger
import NIOCore
import Storage
import TenderPayments

/// Volume, approvals, declines, unknown outcomes and latency, as charts beside the period before, each with a table.
struct OverviewController: Sendable {
  let office: BackOffice
  private static let ranges: [Int64] = [1, 7, 31, 92]

  var routes: [OfficeRoute] {
    [.get("/overview", .role(.viewer), show), .get("/overview.csv", .role(.viewer), csv)]
  }

  /// What a call asks for, and what is counted of it.
  private struct Asked: Sendable {
    let days: Int64
    let merchant: MerchantID?
    let overview: Overview
    let currencies: [String]
  }

  private func read(_ call: OfficeCall) async throws -> Asked {
    let days = call.query("days").flatMap { Int64($0) }.flatMap { Self.ranges.contains($0) ? $0 : nil } ?? 31
    let (now, format) = (office.clock.now(), call.format)
    let today = now.seconds / Figures.day
    let allowed = try call.user.merchants
    let wanted = call.query("merchant").map { MerchantID($0) }
    let merchants = wanted.map { one in allowed.map { $0.filter { $0 == one } } ?? [one] } ?? allowed
    let asked = call.query("currency")
    let (overview, currencies) = try await office.database.read { store in
      let range = today - days...today
      let currencies = try Figures.currencies(FigureRange(range, of: merchants), in: store)
      let currency = currencies.first { $0 == asked } ?? currencies.first ?? "EUR"
      let figures =
        days == 1
        ? try Figures.ofDay(now, merchants, currency, format, in: store)
        : try Figures.ofDays(today - days + 1...today, merchants, currency, format, in: store)
      let times = try AnswerTimes.newest(of: merchants, in: store)
      return (Overview(figures, times, format, of: wanted), currencies)
    }
    return Asked(days: days, merchant: wanted, overview: overview, currencies: currencies)
  }

  private func show(_ call: OfficeCall) async throws -> Response {
    let asked = try await read(call)
    var values = asked.overview.values
    values["ranges"] = Self.ranges.map {
      ["days": "\($0)", "name": $0 == 1 ? "Today" : "\($0) days", "isHere": $0 == asked.days] as [String: Any]
    }
    values["currencies"] = asked.currencies.map {
      ["code": $0, "isHere": $0 == asked.overview.currency] as [String: Any]
    }
    values["merchant"] = asked.merchant?.rawValue ?? ""
    values["days"] = "\(asked.days)"
    values["clock"] =
      asked.days == 1
      ? "the hour in which it was begun, by the clock of \(call.format.place)"
      : "the day on which it was begun, in UTC"
    return try office.pages.page("overview", "Overview", call, values)
  }

  /// What the charts show, as CSV (RFC 4180): an hour or a day in a line.
  private func csv(_ call: OfficeCall) async throws -> Response {
    let lines = try await read(call).overview.lines
    return Response(
      status: .ok,
      headers: [
        .contentType: MediaType.csv + "; charset=utf-8", .contentDisposition: "attachment; filename=\"overview.csv\"",
      ], body: ResponseBody(byteBuffer: ByteBuffer(string: lines.map { CSV.line($0) }.joined())))
  }
}

/// The charts of some time.
struct Overview {
  private let figures: Figures
  private let times: [AnswerTimes]
  private let format: OfficeFormat
  private let merchant: MerchantID?

  /// - Parameter merchant: the one that was asked for, whose payments the tables lead to.
  init(_ figures: Figures, _ times: [AnswerTimes], _ format: OfficeFormat, of merchant: MerchantID?) {
    (self.figures, self.times, self.format, self.merchant) = (figures, times, format, merchant)
  }

  var currency: String { figures.currency }

  var values: [String: Any] {
    let sums = FigureSums(figures.now)
    return [
      "isEmpty": sums.count == 0, "currency": currency, "isCounted": figures.isCounted,
      "beforeName": figures.beforeName,
      "tiles": tiles(sums, FigureSums(figures.before)).map { ["name": $0.0, "value": $0.1, "before": $0.2] },
      "charts": [volume, outcomes, open, latency].map(\.values),
      "ranks": [
        declines, approvals("Approved by network, of how many", .network),
        approvals("Approved by route, of how many", .route),
      ].map(\.values), "times": times.map(row), "hasTimes": !times.isEmpty,
      "reach": format.number(Int64(AnswerTimes.reach)),
    ]
  }

  /// For a file: the same for every reader.
  var lines: [[String]] {
    let names = ["from", "until", "currency", "payments", "approved", "declined", "open", "volume", "refunded"]
    return [names] + figures.buckets.map(line)
  }

  private func line(_ bucket: Figures.Bucket) -> [String] {
    let sums = FigureSums(bucket.now)
    return [
      bucket.begin.description, bucket.end.description, currency, "\(sums.count)", "\(sums.approved)",
      "\(sums.declined)", "\(sums.open)", decimal(sums.volume), decimal(sums.refunded),
    ]
  }

  private func decimal(_ units: Int64) -> String {
    Currency(code: currency).map { Amount(minorUnits: units, currency: $0).decimalString } ?? "\(units)"
  }

  // MARK: Numbers

  private func tiles(_ now: FigureSums, _ before: FigureSums) -> [(String, String, String)] {
    func row(_ name: String, _ text: (FigureSums) -> String) -> (String, String, String) {
      (name, text(now), text(before))
    }
    return [
      row("Volume") { money($0.volume) }, row("Payments") { format.number($0.count) },
      row("Approved") { share($0.approvalRate) }, row("Refunded") { money($0.refunded) },
      row("Outcome open") { format.number($0.open) }, row("Authorization, mean") { time($0.meanTime) },
    ]
  }

  private func money(_ units: Int64) -> String { format.amount(units, currency) }
  private func share(_ value: Double?) -> String { value.map { format.share($0) } ?? "–" }
  private func time(_ value: Duration?) -> String { value.map { format.duration($0) } ?? "–" }

  /// In major units, for the axis alone.
  private func major(_ units: Int64) -> Double {
    Double(units) / pow(10, Double(Currency(code: currency)?.exponent ?? 0))
  }

  private func row(_ times: AnswerTimes) -> [String: Any] {
    [
      "stage": times.kind.rawValue.spaced.capitalizedFirst, "count": format.number(Int64(times.times.count)),
      "half": format.duration(times.percentile(50)), "most": format.duration(times.percentile(95)),
      "nearlyAll": format.duration(times.percentile(99)),
    ]
  }

  private func path(_ bucket: Figures.Bucket, status: PaymentStatus? = nil) -> String {
    var fields: [(name: String, value: String)] = [
      ("from", bucket.begin.description), ("until", bucket.end.description),
    ]
    if let merchant { fields.append(("merchant", merchant.rawValue)) }
    if let status { fields.append(("status", status.rawValue)) }
    return "/payments?\(PaymentListController.address(fields))"
  }

  // MARK: Charts over time

  private func chart(
    _ title: String, _ summary: (FigureSums) -> String, kind: String, least: Double = 0,
    tick: @escaping (Double) -> String,
    status: PaymentStatus? = nil, height: (FigureSums) -> Double, text: (FigureSums) -> String
  ) -> TimeChart {
    TimeChart(
      title: title,
      summary: "\(summary(FigureSums(figures.now))); \(figures.beforeName): \(summary(FigureSums(figures.before)))",
      columns: figures.buckets.map { bucket in
        let (now, before) = (FigureSums(bucket.now), FigureSums(bucket.before))
        return .init(
          label: bucket.label, parts: [(kind, height(now))], before: height(before), text: text(now),
          beforeText: text(before), path: path(bucket, status: status))
      }, least: least, tick: tick)
  }

  private var volume: TimeChart {
    chart(
      "Volume, \(currency)", { money($0.volume) }, kind: "bar", tick: { format.short($0) },
      height: { major($0.volume) }, text: { money($0.volume) })
  }

  /// What was not approved: the rest of the whole would make it too small to be seen.
  private var outcomes: TimeChart {
    let (now, before) = (FigureSums(figures.now), FigureSums(figures.before))
    return TimeChart(
      title: "Not approved, share of payments",
      summary: "approved \(share(now.approvalRate)); \(figures.beforeName): \(share(before.approvalRate))",
      columns: figures.buckets.map { bucket in
        let (sums, before) = (FigureSums(bucket.now), FigureSums(bucket.before))
        let shares = sums.shares ?? (0, 0, 0, 0)
        return .init(
          label: bucket.label,
          parts: [("declined", shares.declined), ("failed", shares.failed), ("open", shares.open)],
          before: before.shares.map { 1 - $0.approved }, text: words(sums), beforeText: words(before),
          path: path(bucket))
      }, least: 0.01, tick: { format.share($0) },
      legend: [("declined", "declined"), ("failed", "not made"), ("open", "outcome open")])
  }

  private func words(_ sums: FigureSums) -> String {
    guard let shares = sums.shares else { return "no payments" }
    let payments = "\(format.number(sums.count)) payment\(sums.count == 1 ? "" : "s")"
    return "\(format.share(shares.approved)) approved, \(format.share(shares.declined)) declined of \(payments)"
  }

  private var open: TimeChart {
    chart(
      "Outcome open, payments", { format.number($0.open) }, kind: "open", least: 1, tick: { format.short($0) },
      status: .unknown, height: { Double($0.open) }, text: { format.number($0.open) })
  }

  private var latency: TimeChart {
    chart(
      "Mean time of an authorization, ms", { time($0.meanTime) }, kind: "bar", tick: { format.short($0) },
      height: { Double(($0.meanTime ?? .zero).microseconds) / 1_000 }, text: { time($0.meanTime) })
  }

  // MARK: Ranks

  private func approvals(_ title: String, _ group: FigureSpan.Group) -> RankChart {
    let before = Dictionary(grouping: figures.groupsBefore[group] ?? [], by: \.name)
    let groups = Dictionary(grouping: figures.groups[group] ?? [], by: \.name).mapValues { FigureSums($0) }
    return RankChart(
      title: title,
      rows: groups.sorted { ($0.value.count, $1.key) > ($1.value.count, $0.key) }.map { name, sums in
        return .init(
          name: name, share: sums.approvalRate ?? 0,
          text: "\(share(sums.approvalRate)) of \(format.number(sums.count))",
          before: share(FigureSums(before[name] ?? []).approvalRate),
          path: group == .route ? "/payments?\(PaymentListController.address([("route", name)]))" : "")
      })
  }

  private var declines: RankChart {
    func counts(_ figures: [PaymentFigure]?) -> [String: Int64] {
      Dictionary(
        (figures ?? []).filter { $0.status == .declined }.map { ($0.name, $0.count) },
        uniquingKeysWith: { $0.addingClamped($1) })
    }
    let (now, before) = (counts(figures.groups[.reason]), counts(figures.groupsBefore[.reason]))
    let (all, allBefore) = (FigureSums(figures.now).count, FigureSums(figures.before).count)
    func words(_ count: Int64, of all: Int64) -> String {
      all == 0 ? "–" : "\(format.number(count)) (\(format.share(Double(count) / Double(all))))"
    }
    let most = max(now.values.max() ?? 0, 1)
    return RankChart(
      title: "Declined because, payments and their share",
      rows: now.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { name, count in
        .init(
          name: name.isEmpty ? "no reason given" : name.spaced, share: Double(count) / Double(most),
          text: words(count, of: all), before: words(before[name] ?? 0, of: allBefore))
      })
  }
}
