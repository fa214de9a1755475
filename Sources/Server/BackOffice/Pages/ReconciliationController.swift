import Administration
import Hummingbird
import Storage
package import TenderPayments

/// How the journal is compared with what a provider lists. Every refusal is an ``OfficeRefusal``.
package protocol ReconciliationUseCase: Sendable {
  /// The routes whose provider gives a listing.
  var routes: [String] { get }
  func differences(at route: String, _ period: Range<Timestamp>) async throws -> [OfficeDifference]
  /// - Parameters:
  ///   - report: a provider's, as CSV.
  ///   - route: whose operations the report lists; nil for every route's.
  func differences(from report: [UInt8], at route: String?) async throws -> [OfficeDifference]
}

/// Something that the journal and a provider's listing do not agree about.
package struct OfficeDifference: Sendable {
  package let kind: String
  package let reference: String
  package let payment: PaymentID?
  package let here: String?
  package let there: String?

  package init(kind: String, reference: String, payment: PaymentID?, here: String?, there: String?) {
    (self.kind, self.reference, self.payment) = (kind, reference, payment)
    (self.here, self.there) = (here, there)
  }
}

/// Compares a day, or several, with what the provider of a route lists.
struct ReconciliationController: Sendable {
  /// A listing is asked for page by page, while the person waits.
  private static let longest: Int64 = 31
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
    let differences = try await office.services.reconciliation.differences(at: route, try period(call))
    let days = "\(call.query("from") ?? "") to \(call.query("until") ?? "")"
    return try await page(call, try await result(differences, route, days, call))
  }

  /// Compares with a report that the user sends.
  private func upload(_ call: OfficeCall) async throws -> Response {
    guard let file = call.form.file("report"), !file.bytes.isEmpty else {
      throw OfficeRefusal.badRequest("Choose the report's file.", at: "report")
    }
    let route = call.form["route"]
    let differences = try await office.services.reconciliation.differences(
      from: file.bytes, at: route.isEmpty ? nil : route)
    return try await page(call, try await result(differences, route, file.name, call))
  }

  /// Notes the comparison in the history.
  private func result(
    _ differences: [OfficeDifference], _ route: String, _ source: String, _ call: OfficeCall
  ) async throws -> [String: Any] {
    let run = ReconciliationRun(
      at: office.clock.now(), user: try call.user.name, route: route, source: String(source.prefix(200)),
      differences: Int64(differences.count))
    try await office.database.write { try ReconciliationRuns(store: $0).note(run) }
    return ["isCompared": true, "differences": differences.map(Self.row), "agrees": differences.isEmpty]
  }

  private func page(_ call: OfficeCall, _ result: [String: Any]) async throws -> Response {
    let (useCase, wanted) = (office.services.reconciliation, call.query("route"))
    let runs = try await office.database.read { try ReconciliationRuns(store: $0).newest() }
    var values: [String: Any] = [
      "routes": useCase.routes.map { ["name": $0, "isChosen": $0 == wanted] as [String: Any] },
      "hasNone": useCase.routes.isEmpty, "hasRoutes": !useCase.routes.isEmpty, "from": call.query("from") ?? "",
      "until": call.query("until") ?? "", "runs": runs.map(Self.row), "hasRuns": !runs.isEmpty,
    ]
    values.merge(result) { _, new in new }
    return try office.pages.page("reconciliation", "Reconciliation", call, values)
  }

  private static func row(_ run: ReconciliationRun) -> [String: Any] {
    [
      "at": run.at.shown, "user": run.user, "route": run.route.isEmpty ? "all" : run.route, "source": run.source,
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

  private static func row(_ difference: OfficeDifference) -> [String: Any] {
    [
      "kind": String(difference.kind.map { $0 == "_" ? " " : $0 }), "reference": difference.reference,
      "payment": difference.payment?.rawValue ?? "", "here": difference.here ?? "–", "there": difference.there ?? "–",
    ]
  }
}
