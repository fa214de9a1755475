import Hummingbird
import Storage
import TenderPayments
import Webhooks

/// The page of webhooks: what waits, what was given up, and its replay.
struct WebhookController: Sendable {
  let office: BackOffice
  private static let limit = 100

  var routes: [OfficeRoute] {
    [.get("/webhooks", .role(.viewer), list), .post("/webhooks/replay", .role(.operator), replay)]
  }

  private func list(_ call: OfficeCall) async throws -> Response {
    let user = try call.user
    let state = call.query("state").flatMap(Delivery.State.init(rawValue:)) ?? .dead
    let deliveries = try await WebhookDispatcher.deliveries(state, limit: Self.limit, in: office.database)
      .filter { user.role(of: $0.merchant) != nil }
    let states = Delivery.State.allCases.map {
      ["value": $0.rawValue, "name": $0.rawValue, "isHere": $0 == state] as [String: Any]
    }
    return try office.pages.page(
      "webhooks", "Webhooks", call,
      [
        "deliveries": deliveries.map { Self.row($0, user, isDead: state == .dead) }, "states": states,
        "isEmpty": deliveries.isEmpty, "state": state.rawValue,
      ])
  }

  private static func row(_ delivery: Delivery, _ user: OfficeUser, isDead: Bool) -> [String: Any] {
    [
      "payment": delivery.payment.rawValue, "sequence": "\(delivery.sequence)", "endpoint": delivery.endpoint,
      "url": delivery.url, "merchant": delivery.merchant.rawValue, "tries": "\(delivery.tries)",
      "result": delivery.result ?? "–", "next": delivery.nextTry.shown,
      "mayReplay": isDead && user.role(of: delivery.merchant).map { $0 >= .operator } ?? false,
    ]
  }

  /// Brings one dead letter back.
  private func replay(_ call: OfficeCall) async throws -> Response {
    let (id, reason) = (PaymentID(call.form["payment"]), try call.form.reason)
    guard let sequence = Int64(call.form["sequence"]),
      let file = try await office.database.read({ try PaymentFile.find(id, in: $0) })
    else { throw OfficeRefusal.nothing }
    try call.require(.operator, of: file.payment.merchant)
    let action = try call.action(
      "webhook.replay", merchant: file.payment.merchant.rawValue, subject: id.rawValue, after: "event \(sequence)",
      reason: reason)
    try await office.database.write { try OfficeAudit($0).note(action) }
    _ = try await WebhookDispatcher.replay(id, sequence: sequence, in: office.database)
    return .redirect(to: "/webhooks?done=replayed", type: .normal)
  }
}
