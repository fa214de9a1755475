import AcquirerSandbox
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
      return ProviderAct { _ in ProviderReply(201, token(id, card, at: now)) }
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
      case .instrument(let id): return try await charge(wanted, call, id)
      }
    }
  }

  /// A later payment of a series: the instrument, the first payment and the type have to fit each other.
  private func charge(_ wanted: CheckoutComPaymentRequest, _ call: Call, _ id: String) async throws -> ProviderAct {
    let found = try await store.database.read { try CheckoutComInstrument.find(id, of: call.channel, in: $0) }
    guard let found else { throw CheckoutComProblem.invalid("source_id_invalid") }
    guard wanted.previous == found.payment else { throw CheckoutComProblem.invalid("previous_payment_id_invalid") }
    guard wanted.paymentType == found.paymentType else { throw CheckoutComProblem.invalid("payment_type_invalid") }
    let script = ScriptedResponse(storedCard: found.card, minorUnits: wanted.amount.inISO.minorUnits)
    let payment = CheckoutComCardPayment(
      request: wanted, account: call.account, means: .instrument(found), source: "id", refusal: found.refusal,
      script: script)
    return ProviderAct(script) { try store.pay(payment, in: $0) }
  }

  private func act(_ wanted: CheckoutComPaymentRequest, _ call: Call, _ token: String) -> ProviderAct {
    guard let entry = service.tokens.find(token, of: call.channel, at: service.clock.now()) else {
      return ProviderAct { _ in throw CheckoutComProblem.invalid("token_invalid") }
    }
    let refusal = wanted.amount.equals(entry.amount) ? nil : CheckoutComResponseCode.invalidValue
    let inner = act(wanted, call, entry.card, "token", refusal)
    return inner.replacing {
      guard service.tokens.use(token, by: call.name) else { throw CheckoutComProblem.invalid("token_used") }
      return try inner.run($0)
    }
  }

  private func act(
    _ wanted: CheckoutComPaymentRequest, _ call: Call, _ card: NetworkToken, _ source: String, _ refusal: String? = nil
  ) -> ProviderAct {
    let script = ScriptedResponse(dpan: card.dpan, minorUnits: wanted.amount.inISO.minorUnits)
    let payment = CheckoutComCardPayment(
      request: wanted, account: call.account, means: .card(card), source: source, refusal: refusal, script: script)
    return ProviderAct(script) { try store.pay(payment, in: $0) }
  }

  func act(_ kind: CheckoutComAction.Kind, _ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try CheckoutComActionRequest(call.body)
      return ProviderAct { try store.accept(kind, wanted, of: call.payment, channel: call.channel, in: $0) }
    }
  }
}

// Calls that change nothing.
extension CheckoutComRoutes {
  @Sendable func show(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      ProviderAct { transaction in
        let payment = try payment(call, in: transaction)
        let actions = try CheckoutComAction.findProcessed(of: payment.id, in: transaction)
        return ProviderReply(200, payment.details(actions))
      }
    }
  }

  @Sendable func actions(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      ProviderAct { transaction in
        let payment = try payment(call, in: transaction)
        let actions = try CheckoutComAction.findProcessed(of: payment.id, in: transaction)
        return ProviderReply(200, .array(actions.map { $0.entry(of: payment) }))
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
      return ProviderAct { transaction in
        let all = try CheckoutComPayment.all(of: call.channel, reference: reference, in: transaction)
        let page = all.dropFirst(skip).prefix(limit).map { $0.details() }
        return ProviderReply(
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
      return ProviderAct { transaction in
        let found = try CheckoutComPayment.all(of: call.channel, in: from..<to, limit: limit, in: transaction)
        return ProviderReply(200, ["data": .array(found.map { $0.details() })])
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
    _ prepare: @Sendable (Call) async throws -> ProviderAct
  ) async throws -> Response {
    do {
      let fault = service.faults.takeForCall()
      if let fault, fault.isBefore { return try await fail(fault) }
      let call = try await call(request, context, key)
      let act = try await prepare(call)
      var reply = try await run(act, call, request)
      if fault == .requestTwice { reply = try await run(act, call, request) }
      return try await service.calls.answer(reply, fault, failed: ProviderReply(502))
    } catch let problem as CheckoutComProblem {
      return ProviderReply(problem).response
    } catch is JSONError {
      return ProviderReply(CheckoutComProblem.invalid("request_body_invalid")).response
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

  private func run(_ act: ProviderAct, _ call: Call, _ request: Request) async throws -> ProviderReply? {
    let key = request.method == .post ? request.headers[.ckoIdempotencyKey] : nil
    return try await service.calls.run(
      act, KeyedRequest(account: call.channel, key: key), in: store, busy: CheckoutComProblem.tooMany)
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

  /// Answers for a fault that comes before anything is done.
  private func fail(_ fault: ProviderFault) async throws -> Response {
    switch fault {
    case .requestLost: return try await service.calls.keepSilent()
    case .tooManyRequests: throw CheckoutComProblem.tooMany
    case .unavailable: return Response(status: .serviceUnavailable)
    default: throw CheckoutComProblem.failed
    }
  }
}

extension HTTPField.Name {
  /// The name is valid, so the fallback is never taken.
  fileprivate static let ckoIdempotencyKey = HTTPField.Name("Cko-Idempotency-Key") ?? .contentType
}
