package import Acquiring
import DirectWire
package import HTTPTransport
import StrictJSON
package import TenderPayments

extension Acquirer {
  /// Worldline Direct's server API: authorizations and cancels as a rule at once, captures and refunds by event.
  ///
  /// Worldline finds no operation by our reference, and does not undo an authorization by it. An authorization whose
  /// answer was lost is repeated under its idempotency key while the payment token is in memory; afterwards its event or
  /// a person tells the result. A capture, cancel or refund without an answer is repeated under its key for 24 hours. What
  /// is pending has a name at Worldline, and is inquired about.
  ///
  /// - Parameters:
  ///   - clock: dates the requests; Worldline accepts five minutes of difference.
  ///   - log: receives every exchange, scrubbed.
  package static func worldlineDirect(
    _ settings: WorldlineDirectSettings, http: HTTPSender, clock: WallClock = .system,
    log: @escaping ExchangeLog = { _ in }
  ) -> Acquirer {
    let connector = WorldlineDirectConnector(settings: settings, http: http, clock: clock, log: log)
    return Acquirer(
      capabilities: WorldlineDirectConnector.capabilities(settings), authorize: connector.authorize,
      capture: connector.capture, void: connector.void, refund: connector.refund, inquire: connector.inquire,
      reverse: { _, _ in .refused(code: "not offered") },
      readEvents: { event throws(EventRefusal) in try WorldlineDirectEvents.read(event, settings) },
      checkCredentials: connector.checkCredentials)
  }
}

struct WorldlineDirectConnector: Sendable {
  /// Ten minutes less than Worldline keeps a key: a repeat that is sent in time must also arrive in time.
  private static let safeWindow = Idempotence.window - .seconds(600)

  static func capabilities(_ settings: WorldlineDirectSettings) -> AcquirerCapabilities {
    @Sendable func hold(_ type: AuthorizationType) -> AcquirerCapabilities.Hold {
      switch type {
      case .preliminary: .init(.all, lifetime: .seconds(86_400 * 30))
      case .final: .init([.refund], lifetime: .seconds(86_400 * 7))
      }
    }
    let usual = hold(settings.authorization)
    var capabilities = AcquirerCapabilities(
      name: "worldline-direct", account: settings.account, instruments: [.network, .sealed, .stored],
      parts: usual.parts, idempotency: .reference(window: safeWindow),
      authorizationIdempotency: .reference(window: safeWindow), inquiry: false, reversal: false,
      settleHorizon: .seconds(300), holdLifetime: usual.lifetime)
    capabilities.inquiryByName = true
    capabilities.storesCredentials = [.network, .sealed]
    capabilities.agreementKinds = [.recurring]
    capabilities.namesAuthorizationType = true
    capabilities.usualAuthorizationType = settings.authorization
    capabilities.hold = hold
    capabilities.eventAccounts = [settings.merchantID]
    return capabilities
  }

  let settings: WorldlineDirectSettings
  let http: HTTPSender
  let clock: WallClock
  let log: ExchangeLog

  func authorize(_ request: AuthorizationRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    if case .stored(let credential) = request.instrument { return await charge(credential, request, deadline) }
    guard let body = WorldlineDirectMessages.payment(request, settings.authorization) else {
      return .notTaken("token_version")
    }
    return await post("/payments", body, under: request.reference, deadline) {
      WorldlineDirectAnswers.authorization($0, request)
    }
  }

  /// A later payment of an agreement: Worldline charges what it keeps of the first one.
  private func charge(
    _ credential: StoredCredential, _ request: AuthorizationRequest, _ deadline: Deadline
  ) async -> AcquirerAnswer {
    guard let first = DirectPaymentID(credential.firstPayment) else { return .notTaken("no_stored_credential") }
    let body = WorldlineDirectMessages.subsequent(request, settings.authorization)
    return await post("/payments/\(first.authorization)/subsequent", body, under: request.reference, deadline) {
      WorldlineDirectAnswers.subsequent($0, request)
    }
  }

  func capture(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    await followUp(.capture, request, WorldlineDirectMessages.capture(request), deadline) {
      WorldlineDirectAnswers.capture($0, request, of: $1)
    }
  }

  func void(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    await followUp(.void, request, WorldlineDirectMessages.cancel(request), deadline) {
      WorldlineDirectAnswers.cancel($0, request, of: $1)
    }
  }

  func refund(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    await followUp(.refund, request, WorldlineDirectMessages.refund(request), deadline) {
      WorldlineDirectAnswers.refund($0, request, of: $1)
    }
  }

  /// An answer that the payment is in another state says nothing of which. Asking changes nothing.
  private func followUp(
    _ kind: WorldlineDirectOperation, _ request: FollowUpRequest, _ body: some Encodable, _ deadline: Deadline,
    _ read: (InboundResponse, DirectPaymentID) -> AcquirerAnswer
  ) async -> AcquirerAnswer {
    guard let payment = DirectPaymentID(request.authorization), kind.reference(request.reference) != nil else {
      return .notTaken("bad_reference")
    }
    let path = "/payments/\(payment)/\(kind.path)"
    let answer = await post(path, body, under: request.reference, deadline) { read($0, payment) }
    guard kind != .refund, case .declined(let decline) = answer,
      WorldlineDirectDeclines.wrongState.contains(decline.code), await isEnded(payment, deadline)
    else { return answer }
    return .declined(Decline(reason: .holdEnded, code: decline.code))
  }

  private func isEnded(_ payment: DirectPaymentID, _ deadline: Deadline) async -> Bool {
    guard case .success(let response) = await send("GET", "/payments/\(payment)", nil, under: nil, deadline),
      let found = WorldlineDirectAnswers.payment(response, payment)
    else { return false }
    return found.statusOutput.state?.subject == .cancel
  }

  /// What an operation came to whose name at Worldline is known. By our reference Worldline finds nothing.
  func inquire(_ request: InquiryRequest, _ deadline: Deadline) async -> Inquiry {
    guard let name = request.acquirerReference.flatMap(DirectPaymentID.init) else {
      return .unavailable(Interruption(.acquirerUncertain, detail: "Worldline Direct finds nothing by our reference"))
    }
    let list = WorldlineDirectOperation(request.kind)?.list ?? ""
    switch await send("GET", "/payments/\(name.authorization)\(list)", nil, under: nil, deadline) {
    case .failure(let error): return .unavailable(error.interruption)
    case .success(let response): return WorldlineDirectAnswers.inquiry(response, request, name)
    }
  }

  func checkCredentials(_ deadline: Deadline) async -> CredentialCheck {
    switch await send("GET", "/services/testconnection", nil, under: nil, deadline) {
    case .failure(let error): .unavailable(error.interruption)
    case .success(let response): WorldlineDirectAnswers.credentials(response)
    }
  }
}

extension WorldlineDirectConnector {
  private func post(
    _ path: String, _ body: some Encodable, under reference: AttemptReference, _ deadline: Deadline,
    _ read: (InboundResponse) -> AcquirerAnswer
  ) async -> AcquirerAnswer {
    guard Idempotence.isKey(reference.rawValue), let bytes = try? DirectJSON.bytes(body) else {
      return .notTaken("bad_reference")
    }
    switch await send("POST", path, bytes, under: reference, deadline) {
    case .failure(.notSent(let reason)): return .notSent(reason)
    case .failure(let error): return .unknown(error.interruption)
    case .success(let response): return read(response)
    }
  }

  private func send(
    _ method: String, _ path: String, _ body: [UInt8]?, under key: AttemptReference?, _ deadline: Deadline
  ) async -> Result<InboundResponse, TransportError> {
    guard deadline.remaining > .zero else { return .failure(.notSent("no time was left to ask")) }
    let target = "/v2/\(settings.merchantID)\(path)"
    let request = OutboundRequest(
      method: method, url: settings.origin + target, headers: headers(method, target, hasBody: body != nil, key),
      body: body ?? [])
    let result: Result<InboundResponse, TransportError>
    do { result = .success(try await http.send(request, deadline.remaining)) } catch { result = .failure(error) }
    log(WorldlineDirectMessages.transcript(request, result))
    return result
  }

  /// The v1HMAC signature covers method, content type, date, the headers `X-GCS…` and the target.
  private func headers(
    _ method: String, _ target: String, hasBody: Bool, _ key: AttemptReference?
  ) -> [HTTPField] {
    let date = HTTPDate.text(clock.now())
    let type = hasBody ? "application/json" : ""
    let signed = key.map { [(name: Idempotence.key, value: $0.rawValue)] } ?? []
    let authorization = settings.apiKey.signer.authorization(
      method: method, contentType: type, date: date, gcsHeaders: signed, pathAndQuery: target)
    return (hasBody ? [HTTPField("Content-Type", type)] : [])
      + [HTTPField("Date", date)] + signed.map { HTTPField($0.name, $0.value) }
      + [HTTPField("Authorization", authorization)]
  }
}
