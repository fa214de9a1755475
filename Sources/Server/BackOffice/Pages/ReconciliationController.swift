import Hummingbird
package import TenderPayments

/// How the journal is compared with what a provider lists. Every refusal is an ``OfficeRefusal``.
package protocol ReconciliationUseCase: Sendable {
  /// The routes whose provider gives a listing.
  var routes: [String] { get }
  func differences(at route: String, _ period: Range<Timestamp>) async throws -> [OfficeDifference]
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

  var routes: [OfficeRoute] { [.get("/reconciliation", .everywhere(.viewer), show)] }

  private func show(_ call: OfficeCall) async throws -> Response {
    let useCase = office.services.reconciliation
    let wanted = call.query("route")
    var values: [String: Any] = [
      "routes": useCase.routes.map { ["name": $0, "isChosen": $0 == wanted] as [String: Any] },
      "hasNone": useCase.routes.isEmpty, "from": call.query("from") ?? "", "until": call.query("until") ?? "",
    ]
    if let wanted {
      let differences = try await useCase.differences(at: wanted, try period(call))
      values["isCompared"] = true
      values["differences"] = differences.map(Self.row)
      values["agrees"] = differences.isEmpty
    }
    return try office.pages.page("reconciliation", "Reconciliation", call, values)
  }

  /// Whole days in UTC, the last one included.
  private func period(_ call: OfficeCall) throws -> Range<Timestamp> {
    guard let from = call.query("from").flatMap({ Timestamp(day: $0) }),
      let last = call.query("until").flatMap({ Timestamp(day: $0) }), from <= last
    else { throw OfficeRefusal.badRequest("Say the first and the last day.") }
    let end = last.adding(.seconds(86_400))
    guard end.since(from) <= .seconds(Self.longest * 86_400) else {
      throw OfficeRefusal.badRequest("Compare at most \(Self.longest) days at once.")
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
