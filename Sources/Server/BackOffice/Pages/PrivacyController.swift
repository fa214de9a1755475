import Administration
import HTTPServing
import HTTPTypes
import Hummingbird
import Orders
import Settings
import Storage
import TenderPayments

/// The page on which what is kept of a person is found, handed out and erased; for administrators of every merchant.
struct PrivacyController: Sendable {
  let office: BackOffice

  /// Which kinds of name a person is found by.
  private static let kinds = [("email", "E-mail address"), ("customer", "Customer"), ("order", "Order")]

  var routes: [OfficeRoute] {
    let access = Access.everywhere(.administrator)
    return [
      .get("/privacy", access, show), .post("/privacy/find", access, on: show, find),
      .post("/privacy/export", access, on: show, export), .post("/privacy/erase", access, on: show, erase),
      .post("/privacy/{request}/{decision}", access, on: show, decide),
    ]
  }

  private func show(_ call: OfficeCall) async throws -> Response { try await show(call, [:]) }

  /// - Parameter extra: what a form of the page led to.
  private func show(_ call: OfficeCall, _ extra: [String: Any]) async throws -> Response {
    let (user, waiting) = (
      try call.user, try await office.database.read { try ErasureRequests($0).waiting() }
    )
    let kind = call.form["kind"]
    var values: [String: Any] = [
      "kinds": Self.kinds.map {
        ["value": $0.0, "name": $0.1, "isChosen": $0.0.utf8.elementsEqual(kind.utf8)] as [String: Any]
      },
      "name": call.form["name"], "kind": kind, "merchant": call.form["merchant"],
      "needsSecond": office.configuration.office.erasuresNeedTwo,
      "waiting": waiting.map { request in
        [
          "id": request.id, "orders": Self.counted(request.orders.count), "merchant": request.merchant.rawValue,
          "reason": request.reason, "by": request.requestedBy, "at": call.format.time(request.requestedAt),
          "mayApprove": !request.requestedBy.utf8.elementsEqual(user.name.utf8),
        ] as [String: Any]
      }, "hasWaiting": !waiting.isEmpty,
    ]
    values.merge(extra) { _, new in new }
    return try office.pages.page("privacy", "Privacy", call, values)
  }

  private static func counted(_ orders: Int) -> String { orders == 1 ? "1 order" : "\(orders) orders" }

  private var privacy: Privacy { Privacy(office.database) }

  private func subject(_ call: OfficeCall) throws -> PrivacySubject {
    let (name, merchant) = (try call.form.required("name"), call.form["merchant"])
    var subject = PrivacySubject()
    switch call.form["kind"] {
    case "email": subject.email = name
    case "customer": subject.customer = name
    case "order": subject.order = name
    default: throw OfficeRefusal.badRequest("Choose what the person is known by.", at: "kind")
    }
    if !merchant.isEmpty { subject.merchant = MerchantID(merchant) }
    return subject
  }

  private func find(_ call: OfficeCall) async throws -> Response {
    let (subject, privacy) = (try subject(call), privacy)
    let found = try await Self.refusing { try await privacy.export(subject) }
    let orders = found.orders.map { order in
      [
        "reference": order.merchantReference, "merchant": order.merchant.rawValue,
        "amount": order.payments.first.map { call.format.amount($0.amount, $0.currency) } ?? "–",
        "payment": order.payments.first?.id.rawValue ?? "", "hasPayment": !order.payments.isEmpty,
        "mails": "\(order.mails.count)",
      ] as [String: Any]
    }
    return try await show(
      call,
      [
        "isFound": !found.orders.isEmpty || !found.baskets.isEmpty,
        "isNothing": found.orders.isEmpty && found.baskets.isEmpty,
        "orders": orders, "baskets": "\(found.baskets.count)", "hasBaskets": !found.baskets.isEmpty,
      ])
  }

  /// Hands out a file. The audit chain says that somebody did, and not whose it was.
  private func export(_ call: OfficeCall) async throws -> Response {
    let (subject, privacy) = (try subject(call), privacy)
    let found = try await Self.refusing { try await privacy.export(subject) }
    let action = try call.action("privacy.export", subject: Self.counted(found.orders.count))
    try await office.database.write { try OfficeAudit($0).note(action) }
    var response = JSONAnswer.response(found)
    response.headers[.contentDisposition] = "attachment; filename=\"person.json\""
    return response
  }

  private func erase(_ call: OfficeCall) async throws -> Response {
    let (subject, reason, privacy) = (try subject(call), try call.form.reason, privacy)
    let action = try call.action("privacy.erase", subject: "", reason: reason)
    guard office.configuration.office.erasuresNeedTwo else {
      _ = try await Self.refusing { try await privacy.erase(subject, action) }
      return .redirect(to: "/privacy?done=erased", type: .normal)
    }
    let found = try await Self.refusing {
      try Privacy.check(reason: reason, says: call.form["name"])
      return try await privacy.find(subject)
    }
    guard let first = found.first else { throw OfficeRefusal.badRequest("Nothing is kept of this person.", at: "name") }
    let (id, user) = (office.newID(), try call.user.name)
    let asked = try call.action(
      "privacy.request", merchant: first.merchant.rawValue, subject: Self.counted(found.count),
      before: found.map(\.id.rawValue).joined(separator: " "), reason: reason)
    try await office.database.write { store in
      try ErasureRequests(store).request(id, found, of: first.merchant, reason: reason, by: user)
      try OfficeAudit(store).note(asked)
    }
    return .redirect(to: "/privacy?done=erasureRequested", type: .normal)
  }

  /// A second person says yes, or anybody no. Where the erasure fails, the request waits as before.
  private func decide(_ call: OfficeCall) async throws -> Response {
    let (id, name) = (call.parameter("request"), try call.user.name)
    guard let request = try await office.database.read({ try ErasureRequests($0).find(waiting: id) }),
      let isApproved = ["approve": true, "reject": false][call.parameter("decision")]
    else { throw OfficeRefusal.conflict("This erasure was decided already.") }
    guard !isApproved || !request.requestedBy.utf8.elementsEqual(name.utf8) else {
      throw OfficeRefusal.conflict("You asked for this erasure yourself: another user approves it.")
    }
    let action = try call.action(
      isApproved ? "privacy.erase" : "privacy.rejected", merchant: request.merchant.rawValue,
      subject: Self.counted(request.orders.count), before: request.orders.joined(separator: " "),
      after: "asked for by \(request.requestedBy)", reason: request.reason)
    guard isApproved else {
      try await office.database.write { store in
        guard try ErasureRequests(store).reject(id, by: name) else {
          throw OfficeRefusal.conflict("This erasure was decided already.")
        }
        try OfficeAudit(store).note(action)
      }
      return .redirect(to: "/privacy?done=erasureRejected", type: .normal)
    }
    _ = try await Self.refusing {
      try await OfficeAudit.attempt(action, in: office.database, outcome: { "erased with \($0.mails) messages" }) {
        try await erase(request, approvedBy: name)
      }
    }
    return .redirect(to: "/privacy?done=erased", type: .normal)
  }

  /// The approval counts when the orders are erased.
  private func erase(_ request: ErasureRequest, approvedBy user: String) async throws -> PrivacyErasure {
    let erased = try await privacy.erase(ids: request.orders)
    try await office.database.write { try ErasureRequests($0).approve(request.id, by: user) }
    return erased
  }

  private static func refusing<R: Sendable>(_ work: () async throws -> R) async throws -> R {
    do { return try await work() } catch let problem as Problem {
      let field = ["email", "customer", "order"].contains(problem.field) ? "name" : problem.field
      throw OfficeRefusal.badRequest(problem.detail, at: field ?? "name")
    }
  }
}
