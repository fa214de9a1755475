import Administration
import Gateway
import Hummingbird
import Storage
import TenderPayments

/// Compares a day, or several, with what the provider of a route lists.
struct ReconciliationController: Sendable {
  /// A listing is asked for page by page, while the person waits.
  private static let longest: Int64 = 31
  /// How many differences a page shows.
  private static let most = 1_000
  let office: BackOffice

  var routes: [OfficeRoute] {
    [
      .get("/reconciliation", .everywhere(.viewer), on: empty, show),
      .post("/reconciliation", .everywhere(.viewer), takesFile: true, on: empty, upload),
    ]
  }

  private func empty(_ call: OfficeCall) async throws -> Response { try await page(call, [:]) }

  private func show(_ call: OfficeCall) async throws -> Response {
    guard let route = call.query("route") else { return try await page(call, [:]) }
    let period = try period(call)
    let differences = try await OfficeRefusal.translating {
      try await office.services.reconciliation.differences(at: route, period)
    }
    let days = "\(call.query("from") ?? "") to \(call.query("until") ?? "")"
    return try await page(call, try await result(differences, route, days, call))
  }

  /// Compares with a report that the user sends.
  private func upload(_ call: OfficeCall) async throws -> Response {
    guard let file = call.form.file("report"), !file.bytes.isEmpty else {
      throw OfficeRefusal.badRequest("Choose the report's file.", at: "report")
    }
    let route = call.form["route"]
    let differences = try await OfficeRefusal.translating {
      try await office.services.reconciliation.differences(
        from: file.bytes, nil, nil, through: route.isEmpty ? nil : route)
    }
    return try await page(call, try await result(differences, route, file.name, call))
  }

  /// Notes the comparison in the history.
  private func result(
    _ differences: [Difference], _ route: String, _ source: String, _ call: OfficeCall
  ) async throws -> [String: Any] {
    let run = ReconciliationRun(
      at: office.clock.now(), user: try call.user.name, route: route, source: String(source.prefix(200)),
      differences: Int64(differences.count))
    try await office.database.write { try ReconciliationRuns(store: $0).note(run) }
    return [
      "isCompared": true, "differences": differences.prefix(Self.most).map(Self.row), "agrees": differences.isEmpty,
      "found": "\(differences.count)", "isCut": differences.count > Self.most, "most": "\(Self.most)",
    ]
  }

  private func page(_ call: OfficeCall, _ result: [String: Any]) async throws -> Response {
    let (names, wanted) = (office.services.reconciliation.listingRoutes, call.query("route"))
    let runs = try await office.database.read { try ReconciliationRuns(store: $0).newest() }
    var values: [String: Any] = [
      "routes": names.map { ["name": $0, "isChosen": $0 == wanted] as [String: Any] },
      "hasNone": names.isEmpty, "hasRoutes": !names.isEmpty, "from": call.query("from") ?? "",
      "until": call.query("until") ?? "", "runs": runs.map { Self.row($0, call.format) }, "place": call.format.place,
      "hasRuns": !runs.isEmpty,
    ]
    values.merge(result) { _, new in new }
    return try office.pages.page("reconciliation", "Reconciliation", call, values)
  }

  private static func row(_ run: ReconciliationRun, _ format: OfficeFormat) -> [String: Any] {
    [
      "at": format.moment(run.at), "user": run.user, "route": run.route.isEmpty ? "all" : run.route,
      "source": run.source,
      "count": "\(run.differences)",
    ]
  }

  /// Whole days in UTC, the last one included.
  private func period(_ call: OfficeCall) throws -> Range<Timestamp> {
    guard let from = call.query("from").flatMap({ Timestamp(day: $0) }),
      let last = call.query("until").flatMap({ Timestamp(day: $0) }), from <= last
    else { throw OfficeRefusal.badRequest("Say the first and the last day.", at: "from") }
    let end = last.adding(.seconds(86_400))
    guard end.since(from) <= .seconds(Self.longest * 86_400) else {
      throw OfficeRefusal.badRequest("Compare at most \(Self.longest) days at once.", at: "until")
    }
    return from..<end
  }

  private static func row(_ difference: Difference) -> [String: Any] {
    [
      "kind": String(difference.kind.rawValue.map { $0 == "_" ? " " : $0 }),
      "reference": difference.reference.rawValue,
      "payment": difference.payment?.rawValue ?? "", "here": difference.here ?? "–", "there": difference.there ?? "–",
    ]
  }
}
