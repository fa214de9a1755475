import Administration
import Hummingbird
import Ledger
import Storage
import TenderPayments
import Webhooks

/// The page of webhooks: endpoints with their test and their address, what waits, what was given up, and its replay.
struct WebhookController: Sendable {
  let office: BackOffice
  private static let limit = 100

  var routes: [OfficeRoute] {
    [
      .get("/webhooks", .role(.viewer), list), .post("/webhooks/replay", .role(.operator), on: list, replay),
      .post("/webhooks/test", .role(.operator), on: list, test),
      .post("/webhooks/address", .role(.administrator), on: list, address),
    ]
  }

  private func list(_ call: OfficeCall) async throws -> Response { try await list(call, [:]) }

  /// - Parameter extra: what a form of the page led to.
  private func list(_ call: OfficeCall, _ extra: [String: Any]) async throws -> Response {
    let user = try call.user
    let state = call.query("state").flatMap(Delivery.State.init(rawValue:)) ?? .dead
    let deliveries = try await WebhookDispatcher.deliveries(
      state, of: user.merchants, limit: Self.limit, in: office.database)
    let rows = try await rows(deliveries, user, isDead: state == .dead, call.format)
    let states = Delivery.State.allCases.map {
      ["value": $0.rawValue, "name": $0.rawValue, "isHere": $0 == state] as [String: Any]
    }
    var values: [String: Any] = [
      "deliveries": rows, "states": states, "hasReplay": rows.contains { $0["mayReplay"] as? Bool == true },
      "isEmpty": deliveries.isEmpty, "state": state.rawValue, "place": call.format.place,
      "merchants": try await merchants(user),
    ]
    values.merge(extra) { _, new in new }
    return try office.pages.page("webhooks", "Webhooks", call, values)
  }

  /// The endpoints of every merchant that the user may see.
  private func merchants(_ user: OfficeUser) async throws -> [[String: Any]] {
    let webhooks = try await office.services.merchants.webhooks()
    return try await office.services.merchants.merchants().compactMap { merchant in
      guard let role = user.role(of: MerchantID(merchant.id)) else { return nil }
      let mayChange = role == .administrator && !merchant.isDeclared
      let endpoints = webhooks[MerchantID(merchant.id)] ?? []
      return [
        "merchant": merchant.id, "mayAddress": mayChange, "hasNone": endpoints.isEmpty,
        "endpoints": endpoints.map {
          [
            "name": $0.id, "url": $0.url, "isStandard": $0.signature == .standard, "mayTest": role >= .operator,
            "mayAddress": mayChange,
          ] as [String: Any]
        },
      ]
    }
  }

  private func endpoints(of merchant: MerchantID) async throws -> [WebhookEndpoint] {
    try await office.services.merchants.webhooks(only: merchant)[merchant] ?? []
  }

  private func rows(
    _ deliveries: [Delivery], _ user: OfficeUser, isDead: Bool, _ format: OfficeFormat
  ) async throws -> [[String: Any]] {
    let payments = try await office.database.read { store in
      try Set(deliveries.map(\.payment)).compactMap { try PaymentPage.Item.find($0, in: store)?.payment }
    }
    let amounts = Dictionary(
      payments.map { ($0.id, format.amount($0.amount)) }, uniquingKeysWith: { first, _ in first })
    return deliveries.map { Self.row($0, user, isDead: isDead, amounts[$0.payment] ?? "payment", format) }
  }

  private static func row(
    _ delivery: Delivery, _ user: OfficeUser, isDead: Bool, _ amount: String, _ format: OfficeFormat
  ) -> [String: Any] {
    [
      "amount": amount, "payment": delivery.payment.rawValue, "sequence": "\(delivery.sequence)",
      "endpoint": delivery.endpoint,
      "url": delivery.url, "merchant": delivery.merchant.rawValue, "tries": "\(delivery.tries)",
      "result": delivery.result ?? "–",
      "next": delivery.state == .waiting ? [format.moment(delivery.nextTry)] : [[String: Any]](),
      "mayReplay": isDead && user.role(of: delivery.merchant).map { $0 >= .operator } ?? false,
    ]
  }

  /// - Throws: ``OfficeRefusal`` where nothing is brought back.
  private func replay(_ id: PaymentID, _ sequence: Int64, _ merchant: MerchantID) async throws {
    let names = try await endpoints(of: merchant).map(\.id)
    let obstacle = try await office.database.read {
      try WebhookDispatcher.obstacle(toReplay: id, sequence: sequence, known: names, in: $0)
    }
    if let obstacle { throw OfficeRefusal.conflict(obstacle) }
    _ = try await WebhookDispatcher.replay(id, sequence: sequence, in: office.database)
  }

  /// An event of a payment, as a form names it.
  private struct Letter {
    let payment: PaymentID
    let sequence: Int64
    let merchant: MerchantID
  }

  /// - Parameter name: `PAYMENT:EVENT`.
  /// - Throws: ``OfficeRefusal`` for what is not there, and without the role at its merchant.
  private func letter(_ name: String, _ call: OfficeCall) async throws -> Letter {
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let sequence = Int64(parts[1]) else { throw OfficeRefusal.nothing }
    let id = PaymentID(String(parts[0]))
    guard let item = try await office.database.read({ try PaymentPage.Item.find(id, in: $0) }) else {
      throw OfficeRefusal.nothing
    }
    try call.require(.operator, of: item.payment.merchant)
    return Letter(payment: id, sequence: sequence, merchant: item.payment.merchant)
  }

  /// Brings dead letters back: those that were chosen, or the one that the form names. Each has its entry in the audit.
  private func replay(_ call: OfficeCall) async throws -> Response {
    let one = call.form["payment"].isEmpty ? [] : ["\(call.form["payment"]):\(call.form["sequence"])"]
    // An event that was given up at two endpoints goes to both at once.
    let chosen = Set(call.form.all("delivery") + one).sorted()
    guard !chosen.isEmpty else { throw OfficeRefusal.badRequest("Choose what is sent again.", at: "delivery") }
    guard chosen.count <= Self.limit else {
      throw OfficeRefusal.badRequest("Choose at most \(Self.limit) at once.", at: "delivery")
    }
    let reason = try call.form.reason
    // All of them before the first: who may not replay one of them replays none.
    var letters: [Letter] = []
    for name in chosen { letters.append(try await letter(name, call)) }
    var refusals: [OfficeRefusal] = []
    for letter in letters {
      let action = try call.action(
        "webhook.replay", merchant: letter.merchant.rawValue, subject: letter.payment.rawValue,
        after: "event \(letter.sequence)", reason: reason)
      do {
        try await OfficeAudit.attempt(action, in: office.database) {
          try await replay(letter.payment, letter.sequence, letter.merchant)
        }
      } catch let refusal as OfficeRefusal { refusals.append(refusal) }
    }
    if let first = refusals.first {
      guard letters.count > 1 else { throw first }
      throw OfficeRefusal.conflict(
        "\(letters.count - refusals.count) of \(letters.count) wait for their next delivery. \(first.reason)")
    }
    return .redirect(to: "/webhooks?done=replayed", type: .normal)
  }
}

// Endpoints.
extension WebhookController {
  /// - Throws: ``OfficeRefusal`` without the role at the merchant of the form.
  private func merchant(_ call: OfficeCall, _ role: Role) throws -> MerchantID {
    let merchant = MerchantID(call.form["merchant"])
    try call.require(role, of: merchant)
    return merchant
  }

  /// Sends a test event, and shows what the merchant's server answered.
  private func test(_ call: OfficeCall) async throws -> Response {
    let (merchant, name) = (try merchant(call, .operator), call.form["endpoint"])
    let endpoints = try await endpoints(of: merchant)
    guard let endpoint = endpoints.first(where: { $0.id.utf8.elementsEqual(name.utf8) }) else {
      throw OfficeRefusal.nothing
    }
    let action = try call.action(
      "webhook.test", merchant: merchant.rawValue, subject: endpoint.id, after: endpoint.url)
    let failure = try await OfficeAudit.attempt(action, in: office.database, outcome: { $0 ?? "acknowledged" }) {
      try await office.services.webhooks.sendTest(
        to: endpoint.url, of: merchant, signed: endpoint.signature, at: office.clock.now())
    }
    guard let failure else {
      return try await list(call, ["notice": "\(endpoint.url) has acknowledged the test event."])
    }
    return try await list(call, ["error": "\(endpoint.url) has not acknowledged the test event: \(failure)."])
  }

  /// Gives an endpoint another address, or the merchant another endpoint; without an address the endpoint goes.
  private func address(_ call: OfficeCall) async throws -> Response {
    let (merchant, reason) = (try merchant(call, .administrator), try call.form.reason)
    let (name, url) = (try call.form.required("endpoint"), call.form["url"])
    guard EndpointName.isValid(name) else {
      throw OfficeRefusal.badRequest("“\(name)” is no name of an endpoint: \(EndpointName.rule).", at: "endpoint")
    }
    guard !url.contains(where: { $0 == "," || $0.isNewline }) else {
      throw OfficeRefusal.badRequest("An address has no comma.", at: "url")
    }
    guard url.utf8.count <= EndpointName.longestAddress else {
      throw OfficeRefusal.badRequest("An address has at most \(EndpointName.longestAddress) bytes.", at: "url")
    }
    let known = try await endpoints(of: merchant)
    guard !url.isEmpty || known.contains(where: { $0.id.utf8.elementsEqual(name.utf8) }) else {
      throw OfficeRefusal.badRequest(
        "\(merchant) has no endpoint “\(name)”, so there is none to remove. For a new one, write its address.",
        at: "endpoint")
    }
    let action = try call.action(
      "webhook.address", merchant: merchant.rawValue, subject: name, before: known.map(\.url).joined(separator: ", "),
      after: url, reason: reason)
    _ = try await office.perform(
      .setEndpoint(name, url: url, merchant: merchant.rawValue), by: call.user.asEditor, action)
    return .redirect(to: "/webhooks?done=changed", type: .normal)
  }
}
