package import Acquiring
package import HTTPTransport
import StrictJSON
package import TenderPayments

extension Acquirer {
  /// Worldline Acquiring: an acquirer's API for card payments, with network tokens.
  ///
  /// Every operation bears our reference as its `operationId`. An authorization without an answer is undone by it; a
  /// capture, reversal or refund is found by it in the payment's operations. Worldline sends no events: a pending answer
  /// is resolved by inquiry.
  ///
  /// - Parameters:
  ///   - clock: the time of transactions.
  ///   - scheduler: measures the lives of access tokens.
  ///   - log: receives every exchange, scrubbed.
  package static func worldlineAcquiring(
    _ settings: WorldlineAcquiringSettings, http: HTTPSender, clock: WallClock = .system,
    scheduler: Scheduler = .system, random: RandomBytes = .system,
    log: @escaping ExchangeLog = { _ in }
  ) -> Acquirer {
    let connector = WorldlineAcquiringConnector(
      settings: settings, http: http, clock: clock, random: random, log: log,
      access: WorldlineAcquiringAccess(settings, http: http, scheduler: scheduler, log: log))
    return Acquirer(
      capabilities: WorldlineAcquiringConnector.capabilities(settings),
      authorize: connector.authorize,
      capture: { await connector.act(.capture, $0, $1) },
      void: { await connector.act(.void, $0, $1) },
      refund: { await connector.act(.refund, $0, $1) },
      increment: { await connector.act(.increment, $0, $1) },
      inquire: connector.inquire, reverse: connector.reverse, checkCredentials: connector.checkCredentials)
  }
}

struct WorldlineAcquiringConnector: Sendable {
  let settings: WorldlineAcquiringSettings
  let http: HTTPSender
  let clock: WallClock
  let random: RandomBytes
  let log: ExchangeLog
  let access: WorldlineAcquiringAccess

  /// Only a pre-authorization can be incremented. Worldline states no end of the time in which it detects a repeated `operationId`; a day is taken.
  static func capabilities(_ settings: WorldlineAcquiringSettings) -> AcquirerCapabilities {
    @Sendable func hold(_ type: AuthorizationType) -> AcquirerCapabilities.Hold {
      switch type {
      case .preliminary: .init([.all, .increment], lifetime: .seconds(86_400 * 10))
      case .final: .init(.all, lifetime: .seconds(86_400 * 7))
      }
    }
    let usual = hold(settings.authorizationType)
    var capabilities = AcquirerCapabilities(
      name: "worldline-acquiring", account: settings.account, instruments: [.network],
      parts: usual.parts,
      idempotency: .reference(window: .seconds(86_400)), authorizationIdempotency: .reference(window: .seconds(86_400)),
      inquiry: true, reversal: true, settleHorizon: .seconds(120),
      holdLifetime: usual.lifetime,
      merchantAccount: { _ in settings.merchantIDs[0] })
    capabilities.verifiesCards = settings.verifiesAccounts
    capabilities.networks = Set(WorldlineAcquiringMessages.brands.keys)
    capabilities.namesAuthorizationType = true
    capabilities.usualAuthorizationType = settings.authorizationType
    capabilities.hold = hold
    return capabilities
  }

  private var messages: WorldlineAcquiringMessages { WorldlineAcquiringMessages(settings: settings, now: clock.now()) }

  func authorize(_ request: AuthorizationRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    guard case .network(let card) = request.instrument else {
      return .notTaken("sealed_token")
    }
    guard let brand = WorldlineAcquiringMessages.brand(of: card) else {
      return .notTaken("card_network")
    }
    guard let merchant = merchant(request.sale.merchantAccount), Self.isOperation(request.reference) else {
      return .notTaken("other_account_or_bad_reference")
    }
    let reply =
      request.verifiesCard
      ? await call("POST", "\(merchant)/account-verifications", messages.verification(request, card, brand), deadline)
      : await call("POST", "\(merchant)/payments", messages.payment(request, card, brand), deadline)
    switch reply {
    case .response(let response): return WorldlineAcquiringAnswers.authorization(response, request)
    case .failure(let error): return error.answer
    case .noAccess(let failure): return failure.answer
    }
  }

  /// A capture, a void, a refund or an increment.
  func act(
    _ kind: WorldlineAcquiringAction, _ request: FollowUpRequest, _ deadline: Deadline
  ) async -> AcquirerAnswer {
    guard let merchant = merchant(request.merchantAccount), Self.isOperation(request.reference),
      WorldlineAcquiringAnswers.isName(request.authorization)
    else { return .notTaken("other_account_or_bad_reference") }
    let path = "\(merchant)/payments/\(request.authorization)/\(kind.path)"
    switch await call("POST", path, messages.action(kind, request), deadline) {
    case .response(let response) where response.status == 409: return await afterConflict(kind, request, deadline)
    case .response(let response): return WorldlineAcquiringAnswers.action(response, kind, request)
    case .failure(let error): return error.answer
    case .noAccess(let failure): return failure.answer
    }
  }

  /// A conflict says that the payment is in another state, or that the same request is being processed. Asking changes
  /// nothing.
  private func afterConflict(
    _ kind: WorldlineAcquiringAction, _ request: FollowUpRequest, _ deadline: Deadline
  ) async -> AcquirerAnswer {
    let question = InquiryRequest(
      reference: request.reference, amount: request.amount, kind: kind.inquired, authorization: request.authorization,
      merchantAccount: request.merchantAccount)
    guard case .answer(let answer) = await inquire(question, deadline) else {
      return .unknown(Interruption(.acquirerUncertain, detail: "HTTP 409"))
    }
    return answer
  }

  /// Undoes an authorization by our reference. Each try is an operation of its own: one that came before the
  /// authorization did nothing.
  func reverse(_ request: InquiryRequest, _ deadline: Deadline) async -> Reversal {
    guard let merchant = merchant(request.merchantAccount), Self.isOperation(request.reference) else {
      return .unavailable(Interruption(.acquirerUncertain, detail: notOurs))
    }
    let name = random.timeOrderedID(clock)
    let path = "\(merchant)/operations/\(request.reference)/reverse"
    return switch await call("POST", path, messages.technicalReversal(name), deadline) {
    case .response(let response): WorldlineAcquiringAnswers.reversal(response, name)
    case .failure(let error): .unavailable(error.interruption)
    case .noAccess(let failure): .unavailable(failure.interruption)
    }
  }

  func checkCredentials(_ deadline: Deadline) async -> CredentialCheck {
    switch await call("GET", "/services/v1/ping", nil, deadline) {
    case .response(let response): WorldlineAcquiringAnswers.credentials(response)
    case .failure(let error): .unavailable(error.interruption)
    case .noAccess(.refused(let code)): .refused("Worldline does not issue an access token to this client (\(code))")
    case .noAccess(let failure): .unavailable(failure.interruption)
    }
  }

  /// The beginning of the path, of the merchant that a payment names if it is ours; of our first one if it names none.
  func merchant(_ named: String?) -> String? {
    settings.merchantIDs.first { named == nil || $0 == named }.map { "/processing/v1/\(settings.acquirerID)/\($0)" }
  }

  /// Whether a reference can be an `operationId` and stand in a path.
  static func isOperation(_ reference: AttemptReference) -> Bool {
    (1...50).contains(reference.rawValue.utf8.count)
      && reference.rawValue.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x5F
      }
  }
}

let notOurs = "the route has no such merchant, or Worldline does not take such a name"

// The wire.
extension WorldlineAcquiringConnector {
  enum Reply: Sendable {
    case response(InboundResponse)
    case failure(TransportError)
    /// No request of this call was processed.
    case noAccess(WorldlineAcquiringAccessFailure)
  }

  /// Sends with an access token. A 401 says that the token is not valid any more and that nothing was done: then the
  /// same request goes out once more with a new token.
  func call(_ method: String, _ path: String, _ body: JSONValue?, _ deadline: Deadline) async -> Reply {
    var token: WorldlineAcquiringToken
    switch await access.token(deadline) {
    case .success(let valid): token = valid
    case .failure(let failure): return .noAccess(failure)
    }
    let first = await send(method, path, body, token, deadline)
    guard case .response(let response) = first, WorldlineAcquiringAnswers.saysUnauthorized(response),
      deadline.remaining > .zero
    else { return first }
    switch await access.token(insteadOf: token, deadline) {
    case .success(let renewed): token = renewed
    case .failure(let failure): return .noAccess(failure)
    }
    return await send(method, path, body, token, deadline)
  }

  private func send(
    _ method: String, _ path: String, _ body: JSONValue?, _ token: WorldlineAcquiringToken, _ deadline: Deadline
  ) async -> Reply {
    guard deadline.remaining > .zero else { return .failure(.notSent("no time was left to ask")) }
    // Worldline's support finds a call by its Trace-Id.
    var headers = [HTTPField("Authorization", "Bearer \(token.text)"), HTTPField("Trace-Id", random.uuid())]
    if body != nil { headers.append(HTTPField("Content-Type", "application/json")) }
    let request = OutboundRequest(
      method: method, url: settings.origin + path, headers: headers, body: body?.serialized() ?? [])
    let result: Result<InboundResponse, TransportError>
    do { result = .success(try await http.send(request, deadline.remaining)) } catch { result = .failure(error) }
    log(WorldlineAcquiringMessages.transcript(request, result))
    return switch result {
    case .success(let response): .response(response)
    case .failure(let error): .failure(error)
    }
  }
}

extension TransportError {
  fileprivate var answer: AcquirerAnswer {
    if case .notSent(let reason) = self { .notSent(reason) } else { .unknown(interruption) }
  }
}

extension WorldlineAcquiringAccessFailure {
  /// Nothing was sent, so the outcome is never unknown.
  var answer: AcquirerAnswer {
    switch self {
    case .refused(let code): .declined(Decline(reason: .configuration, code: code))
    case .unavailable(let reason): .notSent(reason)
    }
  }

  var interruption: Interruption {
    switch self {
    case .refused(let code): Interruption(.acquirerUncertain, detail: "no access token: \(code)")
    case .unavailable(let reason): Interruption(.connectionLost, detail: reason)
    }
  }
}
