import ApplePayToken
import HTTPServing
import HTTPTypes
import Hummingbird
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// The routes of the emulated Checkout.com: authenticate, decode, run once for each idempotency key, render.
struct CheckoutComRoutes<Context: RequestContext>: Sendable {
  let service: CheckoutComSandbox
  private var store: CheckoutComStore { service.store }

  /// A call of an account that is authenticated.
  struct Call: Sendable {
    let account: CheckoutComAccount
    let body: JSONField
    let payment: String
    /// The idempotency key, or a name of its own.
    let name: String
    let query: FormFields

    var channel: String { account.processingChannel }
  }

  /// What a call comes to: how long it takes, and what it does.
  struct Act: Sendable {
    var delay: Duration = .zero
    /// Whether nothing is done and nothing answered; or done and not answered.
    var isLost = false
    var isAnswerLost = false
    let run: @Sendable (Transaction) throws -> CheckoutComReply
  }

  /// With the public key: opens a payment token, and keeps its card for one payment.
  @Sendable func tokenize(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, .public) { call in
      guard try call.body.member("type").string == "applepay" else {
        throw CheckoutComProblem.invalid("token_type_invalid")
      }
      guard let data = try call.body.memberIfPresent("token_data") else {
        throw CheckoutComProblem.invalid("token_data_required")
      }
      let opened = try await open(data.value)
      guard let card = try? opened.networkToken else { throw CheckoutComProblem.invalid("token_data_invalid") }
      let (id, now) = (store.newName("tok"), service.clock.now())
      service.tokens.keep(card, opened.amount, as: id, of: call.channel, at: now)
      return Act { _ in CheckoutComReply(201, token(id, card, at: now)) }
    }
  }

  private func open(_ data: JSONValue) async throws -> PaymentData {
    do { return try await service.keys.open(data) } catch is PaymentTokenError {
      throw CheckoutComProblem.invalid("token_data_invalid")
    }
  }

  private func token(_ id: String, _ card: NetworkToken, at now: Timestamp) -> JSONValue {
    [
      "type": "applepay", "token": .string(id),
      "expires_on": .string(now.adding(CheckoutComTokens.lifetime).description),
      "expiry_month": .integer(Int64(card.expiry.month)), "expiry_year": .integer(Int64(card.expiry.year)),
      "last4": .string(card.dpan.lastFour),
    ]
  }

  @Sendable func pay(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try CheckoutComPaymentRequest(call.body)
      guard wanted.processingChannel == call.channel else {
        throw CheckoutComProblem.invalid("processing_channel_id_invalid")
      }
      switch wanted.source {
      case .networkToken(let card): return act(wanted, call, card, "network_token")
      case .token(let id): return act(wanted, call, id)
      }
    }
  }

  private func act(_ wanted: CheckoutComPaymentRequest, _ call: Call, _ token: String) -> Act {
    guard let entry = service.tokens.find(token, of: call.channel, at: service.clock.now()) else {
      return Act { _ in throw CheckoutComProblem.invalid("token_invalid") }
    }
    let refusal = wanted.amount.equals(entry.amount) ? nil : CheckoutComResponseCode.invalidValue
    let inner = act(wanted, call, entry.card, "token", refusal)
    return Act(delay: inner.delay, isLost: inner.isLost, isAnswerLost: inner.isAnswerLost) {
      guard service.tokens.use(token, by: call.name) else { throw CheckoutComProblem.invalid("token_used") }
      return try inner.run($0)
    }
  }

  private func act(
    _ wanted: CheckoutComPaymentRequest, _ call: Call, _ card: NetworkToken, _ source: String, _ refusal: String? = nil
  ) -> Act {
    let script = ScriptedResponse(dpan: card.dpan, minorUnits: wanted.amount.inISO.minorUnits)
    let payment = CheckoutComCardPayment(
      request: wanted, account: call.account, card: card, source: source, refusal: refusal, script: script)
    return Act(
      delay: script.delay, isLost: script.outcome == .noAnswer,
      isAnswerLost: script.outcome == .noAnswerAfterApproval
    ) { try store.pay(payment, in: $0) }
  }

  func act(_ kind: CheckoutComAction.Kind, _ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try CheckoutComActionRequest(call.body)
      return Act { try store.accept(kind, wanted, of: call.payment, channel: call.channel, in: $0) }
    }
  }
}

// Calls that change nothing.
extension CheckoutComRoutes {
  @Sendable func show(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      Act { transaction in
        let payment = try payment(call, in: transaction)
        let actions = try CheckoutComAction.processed(of: payment.id, in: transaction)
        return CheckoutComReply(200, payment.details(actions))
      }
    }
  }

  @Sendable func actions(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      Act { transaction in
        let payment = try payment(call, in: transaction)
        let actions = try CheckoutComAction.processed(of: payment.id, in: transaction)
        return CheckoutComReply(200, .array(actions.map { $0.entry(of: payment) }))
      }
    }
  }

  private func payment(_ call: Call, in transaction: Transaction) throws -> CheckoutComPayment {
    guard let payment = try CheckoutComPayment.find(call.payment, of: call.channel, in: transaction) else {
      throw CheckoutComProblem.notFound
    }
    return payment
  }

  /// By reference, the newest first.
  @Sendable func find(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      guard let reference = call.query["reference"] else { throw CheckoutComProblem.invalid("reference_required") }
      let (limit, skip) = (call.query["limit"].flatMap { Int($0) } ?? 10, call.query["skip"].flatMap { Int($0) } ?? 0)
      guard (1...100).contains(limit), skip >= 0 else { throw CheckoutComProblem.invalid("limit_invalid") }
      return Act { transaction in
        let all = try CheckoutComPayment.all(of: call.channel, reference: reference, in: transaction)
        let page = all.dropFirst(skip).prefix(limit).map { $0.details() }
        return CheckoutComReply(
          200,
          [
            "limit": .integer(Int64(limit)), "skip": .integer(Int64(skip)), "total_count": .integer(Int64(all.count)),
            "data": .array(page),
          ])
      }
    }
  }

  /// Those that were made in a period, the newest first. The query is not evaluated.
  @Sendable func search(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let limit = try call.body.memberIfPresent("limit")?.integer ?? 10
      guard let from = Timestamp(rfc3339: try call.body.member("from").string),
        let to = Timestamp(rfc3339: try call.body.member("to").string), from < to, (1...1_000).contains(limit)
      else { throw CheckoutComProblem.invalid("search_invalid") }
      return Act { transaction in
        let found = try CheckoutComPayment.all(of: call.channel, in: from..<to, limit: limit, in: transaction)
        return CheckoutComReply(200, ["data": .array(found.map { $0.details() })])
      }
    }
  }
}

// Around every call.
extension CheckoutComRoutes {
  /// Authenticates the account, reads the body, injects faults, and renders errors.
  ///
  /// - Parameter key: the one of its keys that the call needs.
  func answering(
    _ request: Request, _ context: Context, _ key: CheckoutComAccount.Key = .secret,
    _ prepare: @Sendable (Call) async throws -> Act
  ) async throws -> Response {
    do {
      let fault = service.faults.takeForCall()
      if let fault, fault.isBefore { return try await fail(fault) }
      let call = try await call(request, context, key)
      let act = try await prepare(call)
      var (reply, isSilent) = try await run(request, call, act)
      if fault == .requestTwice { (reply, isSilent) = try await run(request, call, act) }
      if isSilent { return try await silence() }
      return try await spoil(fault, reply)
    } catch let problem as CheckoutComProblem {
      return Self.response(CheckoutComReply(problem))
    } catch is JSONError {
      return Self.response(CheckoutComReply(CheckoutComProblem.invalid("request_body_invalid")))
    }
  }

  private func call(
    _ request: Request, _ context: Context, _ key: CheckoutComAccount.Key
  ) async throws -> Call {
    let account = try account(request, key)
    let bytes = try await Self.bytes(of: request)
    let body = bytes.isEmpty ? JSONValue.object([:]) : try JSONReader.read(bytes)
    return Call(
      account: account, body: JSONField(body), payment: context.parameters.get("id") ?? "",
      name: request.headers[.ckoIdempotencyKey] ?? store.newName("call"),
      query: request.query)
  }

  /// The body, up to 64 KiB.
  private static func bytes(of request: Request) async throws -> [UInt8] {
    do { return try await BodyReader.collect(request, limit: 65_536) } catch BodyReader.Failure.tooLong {
      throw CheckoutComProblem.tooLong
    }
  }

  private func run(_ request: Request, _ call: Call, _ act: Act) async throws -> (CheckoutComReply, isSilent: Bool) {
    if act.isLost { return (CheckoutComReply(.failed), true) }
    let name = "\(call.channel) \(call.name)"
    guard service.inProgress.begin(name) else { throw CheckoutComProblem.tooMany }
    defer { service.inProgress.end(name) }
    if act.delay > .zero { try await Task.sleep(for: act.delay) }
    let key = request.method == .post ? request.headers[.ckoIdempotencyKey] : nil
    let (reply, isRepeated) = try await store.once(key, of: call.channel, act.run)
    return (reply, act.isAnswerLost && !isRepeated)
  }

  func account(
    _ request: Request, _ key: CheckoutComAccount.Key = .secret
  ) throws(CheckoutComProblem) -> CheckoutComAccount {
    let given = request.headers[.authorization]
    guard let account = service.accounts.first(where: { given == "Bearer " + $0.value(of: key) }) else {
      throw .unauthorized
    }
    return account
  }

  /// Waits until the caller has given up.
  private func silence() async throws -> Response {
    try await Task.sleep(for: service.silence)
    return Response(status: .gatewayTimeout)
  }

  /// Answers for a fault that comes before anything is done.
  private func fail(_ fault: CheckoutComFault) async throws -> Response {
    switch fault {
    case .requestLost: return try await silence()
    case .tooManyRequests: throw CheckoutComProblem.tooMany
    case .unavailable: return Response(status: .serviceUnavailable)
    default: throw CheckoutComProblem.failed
    }
  }

  /// The answer, as a fault that comes afterwards leaves it.
  private func spoil(_ fault: CheckoutComFault?, _ reply: CheckoutComReply) async throws -> Response {
    switch fault {
    case .answerLost: return try await silence()
    case .failedAfter: return Response(status: .badGateway)
    case .answerGarbled: return Self.html(reply.status)
    case .answerTruncated:
      let bytes = reply.body?.serialized() ?? []
      return Self.response(Array(bytes.prefix(bytes.count / 2)), reply.status)
    case .answerLate:
      try await Task.sleep(for: .seconds(3))
      return Self.response(reply)
    default: return Self.response(reply)
    }
  }

  static func response(_ reply: CheckoutComReply) -> Response {
    guard let body = reply.body else { return Response(status: HTTPResponse.Status(code: reply.status)) }
    return response(body.serialized(), reply.status)
  }

  private static func response(_ body: [UInt8], _ status: Int) -> Response {
    JSONAnswer.response(bytes: body, status: HTTPResponse.Status(code: status))
  }

  private static func html(_ status: Int) -> Response {
    JSONAnswer.response(
      bytes: Array("<html><body>Please try again later.</body></html>".utf8), status: HTTPResponse.Status(code: status),
      contentType: MediaType.html)
  }
}

extension HTTPField.Name {
  /// The name is valid, so the fallback is never taken.
  fileprivate static let ckoIdempotencyKey = HTTPField.Name("Cko-Idempotency-Key") ?? .contentType
}
