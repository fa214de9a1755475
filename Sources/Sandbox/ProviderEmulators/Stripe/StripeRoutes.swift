import AcquirerSandbox
import ApplePayToken
import HTTPServing
import HTTPTypes
import Hummingbird
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// The routes of the emulated Stripe: authenticate, decode, run once for each idempotency key, render.
struct StripeRoutes<Context: RequestContext>: Sendable {
  let service: StripeSandboxService
  private var store: StripeStore { service.store }

  /// A call whose caller is authenticated.
  struct Call: Sendable {
    let owner: StripeOwner
    /// The form, or the query of a GET.
    let text: String
    let id: String
    let key: String?

    var cause: StripeEvent.Cause { .call(key: key) }
  }

  @Sendable func tokenize(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, by: .publishable) { call in
      let wanted = try StripeTokenRequest(call.text)
      let (card, id) = (try await service.open(wanted.paymentData), store.newID("tok"))
      return ProviderAct { transaction in
        service.tokens.keep(card, as: id, of: call.owner.id, at: transaction.now)
        return ProviderReply(200, card.json(id, at: transaction.now))
      }
    }
  }

  @Sendable func pay(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let payment = try service.payment(try StripePaymentRequest(call.text), of: call.owner)
      return ProviderAct(payment.script) { try store.pay(payment, service.tokens, call.cause, in: $0) }
    }
  }

  @Sendable func capture(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try StripeCaptureRequest(call.text)
      return ProviderAct { try store.capture(call.id, wanted, of: call.owner.id, call.cause, in: $0) }
    }
  }

  @Sendable func cancel(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try StripeCancelRequest(call.text)
      return ProviderAct { try store.cancel(call.id, wanted, of: call.owner.id, call.cause, in: $0) }
    }
  }

  @Sendable func refund(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try StripeRefundRequest(call.text)
      return ProviderAct { try store.refund(wanted, of: call.owner.id, call.cause, in: $0) }
    }
  }

  @Sendable func intent(_ request: Request, _ context: Context) async throws -> Response {
    try await reading(request, context) { call in
      let expands = try StripeParameters(call.text, known: ["expand[]"]).all("expand[]").contains("latest_charge")
      let found = try await store.database.read { try StripeIntent.find(call.id, of: call.owner.id, in: $0) }
      guard let found else { throw StripeProblem.unknown("payment_intent", call.id, parameter: "intent") }
      return found.json(expanding: expands)
    }
  }

  @Sendable func intents(_ request: Request, _ context: Context) async throws -> Response {
    try await reading(request, context) { try await store.intents(try StripePage($0.text), of: $0.owner.id) }
  }

  @Sendable func search(_ request: Request, _ context: Context) async throws -> Response {
    try await reading(request, context) {
      try await store.search($0.text, of: $0.owner.id, lag: service.searchLag)
    }
  }

  @Sendable func refundByID(_ request: Request, _ context: Context) async throws -> Response {
    try await reading(request, context) { call in
      let found = try await store.database.read { try StripeRefund.find(call.id, of: call.owner.id, in: $0) }
      guard let found else { throw StripeProblem.unknown("refund", call.id) }
      return found.json
    }
  }

  @Sendable func refunds(_ request: Request, _ context: Context) async throws -> Response {
    try await reading(request, context) {
      try await store.refunds(try StripePage($0.text, known: ["payment_intent"]), of: $0.owner.id)
    }
  }

  @Sendable func balance(_ request: Request, _ context: Context) async throws -> Response {
    try await reading(request, context) { _ in
      let nothing: JSONValue = [["amount": 0, "currency": "eur", "source_types": ["card": 0]]]
      return ["object": "balance", "available": nothing, "livemode": false, "pending": nothing]
    }
  }
}

// Around every call.
extension StripeRoutes {
  /// Runs a call that changes something, once for each idempotency key. What does not pass the checks of its parameters
  /// is not kept under the key.
  private func answering(
    _ request: Request, _ context: Context, by least: StripePermission = .everything,
    _ prepare: @Sendable (Call) async throws -> ProviderAct
  ) async throws -> Response {
    let fault = service.faults.takeForCall()
    do {
      if let fault, fault.isBefore { return try await fail(fault) }
      let call = try await call(request, context, least)
      let act = try await prepare(call).keepingProblems(fails: fault == .failedAfter)
      let contents = "\(request.method) \(request.uri.path) \(call.text)"
      let reply = try await service.calls.run(
        act, KeyedRequest(account: call.owner.id, key: call.key, contents: contents), in: store,
        busy: StripeProblem.keyInUse)
      return try await answer(reply, fault == .failedAfter ? nil : fault)
    } catch let problem as StripeProblem {
      return ProviderReply(problem).response
    }
  }

  private func reading(
    _ request: Request, _ context: Context, _ read: @Sendable (Call) async throws -> JSONValue
  ) async throws -> Response {
    let fault = service.faults.takeForCall()
    do {
      if let fault, fault.isBefore { return try await fail(fault) }
      return try await answer(ProviderReply(200, try await read(try await call(request, context, .reading))), fault)
    } catch let problem as StripeProblem {
      return ProviderReply(problem).response
    }
  }

  private func call(
    _ request: Request, _ context: Context, _ least: StripePermission
  ) async throws -> Call {
    let owner = try owner(request, least)
    let version = request.headers[.stripeVersion]
    guard version == nil || version == StripeVersion.current else {
      throw StripeProblem(400, "Invalid Stripe API version: \(version ?? "")")
    }
    let key = request.headers[.idempotencyKey]
    guard (key ?? "-").utf8.count <= 255 else { throw StripeProblem(400, "The idempotency key is too long") }
    let text = request.method == .get ? request.uri.query ?? "" : try await Self.form(request)
    return Call(owner: owner, text: text, id: context.parameters.get("id") ?? "", key: key)
  }

  private static func form(_ request: Request) async throws -> String {
    let bytes = try await bytes(of: request)
    let type = request.headers[.contentType]?.prefix { $0 != ";" }
    guard bytes.isEmpty || type == "application/x-www-form-urlencoded" else {
      throw StripeProblem(400, "Invalid request: send application/x-www-form-urlencoded")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The body, up to 64 KiB.
  static func bytes(of request: Request) async throws -> [UInt8] {
    do { return try await BodyReader.collect(request, limit: 65_536) } catch BodyReader.Failure.tooLong {
      throw StripeProblem.tooLong
    }
  }

  /// - Throws: for a key that is unknown, or may not do this; and for an account that is not connected.
  func owner(_ request: Request, _ least: StripePermission) throws(StripeProblem) -> StripeOwner {
    guard let key = Self.key(request.headers[.authorization] ?? ""),
      let (account, permission) = service.account(of: key)
    else { throw .unauthorized }
    guard permission == .everything || permission == least else { throw .forbidden }
    let connected = request.headers[.stripeAccount]
    guard connected.map(account.connected.contains) ?? true else {
      throw StripeProblem(403, "The key does not have access to account '\(connected ?? "")'", code: "account_invalid")
    }
    return StripeOwner(account: account, connected: connected)
  }

  /// The key, as a bearer token or as the name of HTTP's basic scheme.
  private static func key(_ header: String) -> String? {
    let parts = header.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    if parts[0].lowercased() == "bearer" { return String(parts[1]) }
    let pair = Base64.decode(parts[1]).flatMap { RequestText.read($0) } ?? ""
    return pair.split(separator: ":").first.map(String.init)
  }

  /// Answers for a fault that comes before anything is done.
  private func fail(_ fault: ProviderFault) async throws -> Response {
    switch fault {
    case .requestLost: return try await service.calls.keepSilent()
    case .tooManyRequests: throw StripeProblem.tooMany
    case .inProgress: throw StripeProblem.keyInUse
    case .unavailable: return Response(status: .serviceUnavailable)
    default: throw StripeProblem.internalError
    }
  }

  private func answer(_ reply: ProviderReply?, _ fault: ProviderFault?) async throws -> Response {
    try await service.calls.answer(reply, fault, failed: ProviderReply(StripeProblem.internalError)) { reply in
      var response = reply.response
      if reply.firstAt != nil { response.headers[.idempotentReplayed] = "true" }
      return response
    }
  }
}

extension ProviderAct {
  /// What it refuses is an answer too, and a repeat gets it again.
  ///
  /// - Parameter fails: keeps a 500 in place of the answer, as when Stripe fails after the act.
  fileprivate func keepingProblems(fails: Bool) -> ProviderAct {
    replacing { transaction in
      let reply: ProviderReply
      do { reply = try run(transaction) } catch let problem as StripeProblem { reply = ProviderReply(problem) }
      return fails ? ProviderReply(StripeProblem.internalError) : reply
    }
  }
}

/// What a key may do.
enum StripePermission: Sendable {
  case everything, reading, publishable
}

extension HTTPField.Name {
  fileprivate static let stripeVersion = named("Stripe-Version")
  fileprivate static let stripeAccount = named("Stripe-Account")
  fileprivate static let idempotencyKey = named("Idempotency-Key")
  fileprivate static let idempotentReplayed = named("Idempotent-Replayed")

  /// The names above are valid, so the fallback is never taken.
  private static func named(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .contentType }
}
