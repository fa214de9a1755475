import Administration
import Hummingbird
import Ledger
import MerchantIdentity
import Storage
import TenderPayments
import Webhooks

/// The first page: what needs a person, today's money, what ends next, and what changed.
struct HomeController: Sendable {
  let office: BackOffice

  /// How long before the end a hold is shown as something that needs a person.
  private static let holdWarning: Duration = .seconds(2 * 86_400)
  /// How long before the end a hold is shown among what ends next.
  private static let holdReach: Duration = .seconds(14 * 86_400)
  /// How much of what needs a person is not folded away.
  private static let most = 8
  /// How many ends and changes are shown.
  private static let fewest = 5

  var routes: [OfficeRoute] {
    [.get("/", .role(.viewer), show), .post("/check", .everywhere(.viewer), on: nil, check)]
  }

  private func show(_ call: OfficeCall) async throws -> Response {
    let (user, format) = (try call.user, call.format)
    // Routes and the doctor's findings are for who answers for every merchant.
    let health = user.everywhere == nil ? nil : try await office.services.health()
    let matters =
      try await approvals(user, format) + payments(user, format) + webhooks(user) + erasures(user)
      + closedRoutes(user) + (health.map(surroundings) ?? [])
    let sorted = matters.filter(\.isUrgent) + matters.filter { !$0.isUrgent }
    let rest = sorted.dropFirst(Self.most)
    var values: [String: Any] = [
      "matters": sorted.prefix(Self.most).map(\.values), "more": rest.map(\.values), "hasMore": !rest.isEmpty,
      "moreCount": format.number(Int64(rest.count)), "isQuiet": matters.isEmpty, "canCheck": health != nil,
      "checked": health.map { $0.checkedAt.map { format.time($0) } ?? "not yet" } ?? "", "place": format.place,
      "ends": try await ends(user, format), "changes": try await changes(user, format),
      "routes": (health?.routes ?? []).map { ["name": $0.name, "isSuspended": $0.isSuspended] as [String: Any] },
      "hasRoutes": health?.routes.isEmpty == false,
    ]
    values["today"] = try await today(user, format)
    return try office.pages.page("home", "Home", call, values)
  }

  private func check(_ call: OfficeCall) async throws -> Response {
    try await office.services.checkAgain()
    return .redirect(to: "/", type: .normal)
  }
}

// Today's money, what ends next, what changed.
extension HomeController {
  /// Since midnight, beside the same hours of the same day last week, in the currency with the most payments.
  private func today(_ user: OfficeUser, _ format: OfficeFormat) async throws -> [String: Any] {
    let (now, merchants) = (office.clock.now(), user.merchants)
    let day = now.seconds / Figures.day
    let (figures, currency) = try await office.database.read { store in
      let currency = try Figures.currencies(FigureRange(day - 8...day, of: merchants), in: store).first ?? "EUR"
      return (try Figures.ofDay(now, merchants, currency, format, hasGroups: false, in: store), currency)
    }
    // In the hour that runs, all of last week's counts: it is named whole.
    let passed = figures.buckets.filter { $0.begin <= now }
    let (sums, before) = (FigureSums(passed.flatMap(\.now)), FigureSums(passed.flatMap(\.before)))
    func money(_ units: Int64) -> String { format.amount(units, currency) }
    func share(_ value: Double?) -> String { value.map { format.share($0) } ?? "–" }
    return [
      "volume": money(sums.volume), "volumeBefore": money(before.volume),
      "until": passed.last.map { format.clock($0.end) } ?? "", "isCounted": figures.isCounted,
      "tiles": [
        ("Payments", format.number(sums.count), format.number(before.count)),
        ("Approved", share(sums.approvalRate), share(before.approvalRate)),
        ("Refunded of them", money(sums.refunded), money(before.refunded)),
        ("Outcome open", format.number(sums.open), format.number(before.open)),
      ].map { ["name": $0.0, "value": $0.1, "before": $0.2] },
    ]
  }

  private func ends(_ user: OfficeUser, _ format: OfficeFormat) async throws -> [[String: Any]] {
    let (now, merchants) = (office.clock.now(), user.merchants)
    let (certificates, holds) = try await office.database.read { store in
      (
        try StoredCertificate.ending(of: merchants, limit: Self.fewest, in: store),
        try PaymentPage.Item.expiring(before: now.adding(Self.holdReach), of: merchants, limit: Self.fewest, in: store)
      )
    }
    var all: [(at: Timestamp, name: String, path: String)] = certificates.map { row in
      (row.expiresAt ?? now, "The \(row.kind.rawValue) certificate of \(row.merchant)", "/merchants/\(row.merchant)")
    }
    all += holds.map { item in
      (item.holdUntil ?? now, "The hold of \(format.amount(item.payment.amount))", "/payments/\(item.payment.id)")
    }
    return all.sorted { $0.at < $1.at }.prefix(Self.fewest).map { at, name, path in
      let days = at.since(now).components.seconds / Figures.day
      let left =
        at < now ? "ended" : days == 0 ? "within a day" : days == 1 ? "in 1 day" : "in \(format.number(days)) days"
      return ["at": format.moment(at), "name": name, "path": path, "left": left]
    }
  }

  /// The start of this server, and for who sees the audit chain what was changed in its merchants, users and settings.
  private func changes(_ user: OfficeUser, _ format: OfficeFormat) async throws -> [[String: Any]] {
    var rows: [(at: Timestamp, text: String, detail: String)] = [
      (office.startedAt, "This server was started, with its configuration read anew", "")
    ]
    if user.everywhere == .administrator {
      let entries = try await office.database.read { try OfficeAudit($0).entries() }
      rows += entries.filter { Self.isChange($0.action.action) }.prefix(Self.fewest).map {
        entry -> (at: Timestamp, text: String, detail: String) in
        let action = entry.action
        let what = action.action.map { $0 == "." || $0 == "-" || $0 == "_" ? " " : $0 }
        let whose = action.merchant.isEmpty ? action.subject : action.merchant
        return (
          entry.at, "\(String(what).capitalizedFirst)\(whose.isEmpty ? "" : ": \(whose)")",
          action.reason.isEmpty ? action.actor : "\(action.actor): \(action.reason)"
        )
      }
    }
    return rows.sorted { $0.at > $1.at }.prefix(Self.fewest).map {
      ["at": format.moment($0.at), "text": $0.text, "detail": $0.detail]
    }
  }

  /// Whether an action changes how something is set up. What came of an attempt has an entry of its own.
  private static func isChange(_ action: String) -> Bool {
    ["merchant.", "certificate.", "domain.", "key.", "terms.", "user.", "webhook.address", "platform.", "secrets."]
      .contains { action.hasPrefix($0) } && !action.hasSuffix(".outcome")
  }
}

// What needs a person.
extension HomeController {
  private func payments(_ user: OfficeUser, _ format: OfficeFormat) async throws -> [Matter] {
    let (end, merchants) = (office.clock.now().adding(Self.holdWarning), user.merchants)
    return try await office.database.read { store in
      try PaymentPage.Item.withAlarm(of: merchants, limit: 50, in: store).map { Matter(alarm: $0, format) }
        + PaymentPage.Item.open(of: merchants, limit: 50, in: store).map { Matter(open: $0, format) }
        + PaymentPage.Item.expiring(before: end, of: merchants, limit: 50, in: store).map {
          Matter(expiring: $0, format)
        }
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

  private func approvals(_ user: OfficeUser, _ format: OfficeFormat) async throws -> [Matter] {
    let merchants = user.merchants(as: .operator)
    let waiting = try await office.database.read { try RefundApprovals(store: $0).waiting(of: merchants) }
    let matters = waiting.shown.map { approval in
      let isOwn = approval.requestedBy.utf8.elementsEqual(user.name.utf8)
      return Matter(
        isUrgent: false, title: "A refund of \(format.amount(approval.amount)) waits for a second person",
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

  init(alarm item: PaymentPage.Item, _ format: OfficeFormat) {
    self.init(
      isUrgent: true,
      title: "\(format.amount(item.payment.amount)) at \(item.payment.merchant): alarm, \((item.alarm ?? "").spaced)",
      detail: "Compare with the provider, act, and acknowledge.", action: "Open the payment",
      path: "/payments/\(item.payment.id)")
  }

  init(open item: PaymentPage.Item, _ format: OfficeFormat) {
    self.init(
      isUrgent: item.payment.status == .unknown,
      title: "\(format.amount(item.payment.amount)) at \(item.payment.merchant): \(item.payment.status.shown)",
      detail: "Recovery asks the provider by itself. Since \(format.time(item.payment.createdAt)).",
      action: "Open the payment", path: "/payments/\(item.payment.id)")
  }

  init(expiring item: PaymentPage.Item, _ format: OfficeFormat) {
    let end = item.holdUntil.map { format.time($0) } ?? ""
    self.init(
      isUrgent: false,
      title: "\(format.amount(item.payment.amount)) at \(item.payment.merchant): held until \(end)",
      detail: "Capture or void before; afterwards the issuer releases it.", action: "Open the payment",
      path: "/payments/\(item.payment.id)")
  }
}
