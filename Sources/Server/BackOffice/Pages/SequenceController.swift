import Administration
import HTTPTypes
import Hummingbird
import Ledger
import Storage
package import TenderPayments

/// The calls about one basket, in the order of time.
package struct OfficeSequence: Sendable {
  /// A message from one party to another, and what it led to.
  package struct Step: Sendable {
    package enum Party: String, Sendable, CaseIterable { case browser, server, apple, provider }

    package let from: Party
    package let to: Party
    package let name: String
    /// Outcome, or what the server did meanwhile: a name and a duration a line.
    package let details: [(name: String, text: String)]
    /// Since the first call began.
    package let at: Duration

    package init(
      from: Party, to: Party, name: String, details: [(name: String, text: String)], at: Duration
    ) {
      (self.from, self.to, self.name, self.details, self.at) = (from, to, name, details, at)
    }
  }

  package let basket: BasketID
  package let began: Timestamp
  package let steps: [Step]

  package init(basket: BasketID, began: Timestamp, steps: [Step]) {
    (self.basket, self.began, self.steps) = (basket, began, steps)
  }
}

/// The running payment as a sequence of messages: browser, server, Apple, provider. Only where everything is simulated.
struct SequenceController: Sendable {
  /// Between two looks of who follows the newest payment.
  private static let interval = "2"
  let office: BackOffice

  var routes: [OfficeRoute] { [.get("/sequence", .everywhere(.viewer), show)] }

  private func show(_ call: OfficeCall) async throws -> Response {
    guard let sequences = office.services.sequences else { throw OfficeRefusal.nothing }
    let all = sequences()
    let wanted = call.query("basket").map { BasketID($0) }
    let shown: OfficeSequence? = wanted.map { wanted in all.first { $0.basket == wanted } } ?? all.first
    var values: [String: Any] = [
      "isEmpty": shown == nil, "isLive": call.query("live") != nil,
      "others": all.prefix(10).map { ["basket": $0.basket.rawValue, "began": call.format.time($0.began)] },
    ]
    if let shown {
      values["basket"] = shown.basket.rawValue
      values["steps"] = shown.steps.map { Self.row($0, call.format) }
    }
    if let shown, let payment = try await payment(of: shown.basket) { values["payment"] = payment.rawValue }
    var response = try office.pages.page("sequence", "Sequence of a payment", call, values)
    if call.query("live") != nil { response.headers[.refresh] = Self.interval }
    return response
  }

  private func payment(of basket: BasketID) async throws -> PaymentID? {
    try await office.database.read {
      try PaymentPage.Item.all(.basket, basket.rawValue, of: nil, in: $0).last?.payment.id
    }
  }

  private static func row(_ step: OfficeSequence.Step, _ format: OfficeFormat) -> [String: Any] {
    let places = OfficeSequence.Step.Party.allCases
    let (from, to) = (places.firstIndex(of: step.from) ?? 0, places.firstIndex(of: step.to) ?? 0)
    return [
      "from": step.from.rawValue, "to": step.to.rawValue, "name": step.name,
      "at": "+\(format.duration(step.at))", "lane": "lane-\(min(from, to))-\(max(from, to))",
      "direction": from < to ? "right" : "left", "details": step.details.map { ["name": $0.name, "text": $0.text] },
    ]
  }
}

extension HTTPField.Name {
  fileprivate static let refresh = HTTPField.Name("Refresh")!
}
