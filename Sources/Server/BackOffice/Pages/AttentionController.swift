import Administration
import Hummingbird
import Ledger
import Storage
import TenderPayments
import Webhooks

/// The first page: what needs a person, and the action that mends it.
struct AttentionController: Sendable {
  let office: BackOffice

  /// How long before the end a hold or a certificate is shown.
  private static let holdWarning: Duration = .seconds(2 * 86_400)

  var routes: [OfficeRoute] {
    [.get("/", .role(.viewer), show), .post("/attention/check", .everywhere(.viewer), on: nil, check)]
  }

  private func show(_ call: OfficeCall) async throws -> Response {
    let user = try call.user
    // Routes and the doctor's findings are for who answers for every merchant.
    let health = user.everywhere == nil ? nil : try await office.services.health()
    let matters =
      try await payments(user) + webhooks(user) + approvals(user) + erasures(user) + closedRoutes(user)
      + (health.map(surroundings) ?? [])
    return try office.pages.page(
      "attention", "Attention", call,
      [
        "matters": matters.map(\.values), "isQuiet": matters.isEmpty, "canCheck": health != nil,
        "checked": health.map { $0.checkedAt?.shown ?? "not yet" } ?? "",
      ])
  }

  private func check(_ call: OfficeCall) async throws -> Response {
    try await office.services.checkAgain()
    return .redirect(to: "/", type: .normal)
  }

  private func payments(_ user: OfficeUser) async throws -> [Matter] {
    let (end, merchants) = (office.clock.now().adding(Self.holdWarning), user.merchants)
    return try await office.database.read { store in
      try PaymentPage.Item.withAlarm(of: merchants, limit: 50, in: store).map { Matter(alarm: $0) }
        + PaymentPage.Item.open(of: merchants, limit: 50, in: store).map { Matter(open: $0) }
        + PaymentPage.Item.expiring(before: end, of: merchants, limit: 50, in: store).map { Matter(expiring: $0) }
    }
  }

  private func webhooks(_ user: OfficeUser) async throws -> [Matter] {
    let dead = try await WebhookDispatcher.deliveries(.dead, of: user.merchants, limit: 500, in: office.database)
    guard let first = dead.first else { return [] }
    return [
      Matter(
        isUrgent: true, title: "\(dead.count == 500 ? "500 or more" : "\(dead.count)") webhooks were given up",
        detail: "The last result of \(first.url): \(first.result ?? "none").", action: "Look and replay",
        path: "/webhooks")
    ]
  }

  private func closedRoutes(_ user: OfficeUser) async throws -> [Matter] {
    guard user.everywhere != nil else { return [] }
    return try await office.database.read { try RestoredStore.closedRoutes(in: $0) }.map { route in
      Matter(
        isUrgent: true, title: "The route \(route) is closed since the store was restored",
        detail: "Its payments are refused until the journal has what was paid since the backup: "
          + "see tender restore status.", action: "", path: "/")
    }
  }

  private func erasures(_ user: OfficeUser) async throws -> [Matter] {
    guard user.everywhere == .administrator else { return [] }
    return try await office.database.read { try ErasureRequests($0).waiting() }
      .filter { !$0.requestedBy.utf8.elementsEqual(user.name.utf8) }
      .map { request in
        Matter(
          isUrgent: false, title: "An erasure waits for a second person",
          detail: "\(request.requestedBy) asked for it: \(request.reason)", action: "Decide", path: "/privacy")
      }
  }

  private func approvals(_ user: OfficeUser) async throws -> [Matter] {
    let merchants = user.merchants(as: .operator)
    let waiting = try await office.database.read { try RefundApprovals(store: $0).waiting(of: merchants) }
    let matters = waiting.shown.map { approval in
      let isOwn = approval.requestedBy.utf8.elementsEqual(user.name.utf8)
      return Matter(
        isUrgent: false, title: "A refund of \(approval.amount.shown) waits for a second person",
        detail: "\(approval.requestedBy) asked for it: \(approval.reason)",
        action: isOwn ? "Look or withdraw" : "Approve or reject", path: "/payments/\(approval.payment)")
    }
    guard waiting.hasMore else { return matters }
    let more = Matter(
      isUrgent: false, title: "More refunds wait for a second person",
      detail: "They are shown as the ones above are decided.", action: "", path: "/")
    return matters + [more]
  }

  private func surroundings(_ health: OfficeHealth) -> [Matter] {
    let routes = health.routes.filter(\.isSuspended).map { route in
      Matter(
        isUrgent: true, title: "The route \(route.name) does not answer",
        detail: "Calls are suspended for some seconds at a time; payments by other routes go on.",
        action: "See its payments", path: "/payments?route=\(route.name)")
    }
    return routes
      // What is closed since a restore is read anew, see `closedRoutes(_:)`.
      + health.findings.filter { $0.code != "restored_routes" }.map { finding in
        Matter(
          isUrgent: finding.isError, title: "\(finding.subject): \(finding.meaning)", detail: finding.remedy,
          action: finding.code.hasPrefix("certificate") || finding.code.hasPrefix("domain") ? "To the merchants" : "",
          path: "/merchants")
      }
  }
}

/// Something that needs a person.
private struct Matter: Sendable {
  let isUrgent: Bool
  let title: String
  let detail: String
  /// Empty where nothing here mends it.
  let action: String
  let path: String

  var values: [String: Any] {
    [
      "isUrgent": isUrgent, "title": title, "detail": detail, "action": action, "path": path,
      "hasAction": !action.isEmpty,
    ]
  }

  init(isUrgent: Bool, title: String, detail: String, action: String, path: String) {
    (self.isUrgent, self.title, self.detail) = (isUrgent, title, detail)
    (self.action, self.path) = (action, path)
  }

  init(alarm item: PaymentPage.Item) {
    self.init(
      isUrgent: true, title: "\(item.payment.amount.shown) at \(item.payment.merchant): alarm \(item.alarm ?? "")",
      detail: "Compare with the provider, act, and acknowledge.", action: "Open the payment",
      path: "/payments/\(item.payment.id)")
  }

  init(open item: PaymentPage.Item) {
    self.init(
      isUrgent: item.payment.status == .unknown,
      title: "\(item.payment.amount.shown) at \(item.payment.merchant): \(item.payment.status.shown)",
      detail: "Recovery asks the provider by itself. Since \(item.payment.createdAt.shown).",
      action: "Open the payment", path: "/payments/\(item.payment.id)")
  }

  init(expiring item: PaymentPage.Item) {
    self.init(
      isUrgent: false,
      title: "\(item.payment.amount.shown) at \(item.payment.merchant): held until \(item.holdUntil?.shown ?? "")",
      detail: "Capture or void before; afterwards the issuer releases it.", action: "Open the payment",
      path: "/payments/\(item.payment.id)")
  }
}
