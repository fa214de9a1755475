package import Acquiring
package import HTTPTransport
import StrictJSON
import TenderPayments

extension Acquirer {
  /// The acquirer of `tender-sandbox`.
  ///
  /// - Parameters:
  ///   - baseURL: the sandbox's origin, without a slash at the end: `http://127.0.0.1:8402`.
  ///   - account: the operator's name of the account, if there is more than one.
  ///   - log: receives every exchange, scrubbed.
  package static func sandbox(
    baseURL: String, apiKey: String, account: String? = nil, http: HTTPSender,
    log: @escaping ExchangeLog = { _ in }
  ) -> Acquirer {
    let connector = SandboxAcquirer(base: baseURL + "/acquirer/v1", apiKey: apiKey, http: http, log: log)
    return Acquirer(connector, SandboxAcquirer.capabilities(account), eventSecret: apiKey)
  }

  /// The sandbox's acquirer and its provider speak alike; they differ in their address and in what they are capable of.
  init(_ connector: SandboxAcquirer, _ capabilities: AcquirerCapabilities, eventSecret: String) {
    self.init(
      capabilities: capabilities,
      authorize: connector.authorize,
      capture: { await connector.followUp("captures", $0, $1) },
      void: { await connector.followUp("voids", $0, $1) },
      refund: { await connector.followUp("refunds", $0, $1) },
      inquire: connector.inquire,
      reverse: connector.reverse,
      readEvents: { event throws(EventRefusal) in
        EventBatch(events: [try SandboxProviderEvents.read(event, secret: eventSecret)])
      })
  }
}

struct SandboxAcquirer: Sendable {
  static func capabilities(_ account: String?) -> AcquirerCapabilities {
    var capabilities = AcquirerCapabilities(
      account: account, instruments: [.network, .stored],
      idempotency: .reference(window: .seconds(86_400 * 30)), inquiry: true, reversal: true,
      settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))
    capabilities.verifiesCards = true
    capabilities.storesCredentials = [.network]
    return capabilities
  }

  let base: String
  let apiKey: String
  let http: HTTPSender
  let log: ExchangeLog

  func authorize(_ request: AuthorizationRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    var message = SandboxMessages.authorization(request)
    switch request.instrument {
    case .network(let card): SandboxMessages.add(card, to: &message)
    case .sealed(let token): message["paymentData"] = .object(token.token.paymentData)
    case .stored(let credential):
      guard SandboxMessages.isName(credential.firstPayment) else { return .notTaken("no_stored_credential") }
      message["storedCredential"] = SandboxMessages.charge(credential, request.sale.agreement)
    }
    let body = JSONValue.object(message).serialized()
    return await ask("POST", "/authorizations", body, about: request.reference, request.amount, deadline)
  }

  func followUp(_ verb: String, _ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    let path = "/authorizations/\(request.authorization)/\(verb)"
    let body = SandboxMessages.followUp(request)
    return await ask("POST", path, body, about: request.reference, request.amount, deadline)
  }

  func inquire(_ request: InquiryRequest, _ deadline: Deadline) async -> Inquiry {
    switch await exchange("GET", "/operations/\(request.reference)", [], deadline) {
    case .failure(let error): .unavailable(error.interruption)
    case .success(let response):
      SandboxMessages.inquiry(response, about: request.reference, request.amount)
    }
  }

  func reverse(_ request: InquiryRequest, _ deadline: Deadline) async -> Reversal {
    let path = "/authorizations/\(request.reference)/reversal"
    return switch await exchange("POST", path, SandboxMessages.reversal(request), deadline) {
    case .failure(let error): .unavailable(error.interruption)
    case .success(let response): SandboxMessages.reversal(response, about: request.reference)
    }
  }

  private func ask(
    _ method: String, _ path: String, _ body: [UInt8], about reference: AttemptReference, _ amount: Amount,
    _ deadline: Deadline
  ) async -> AcquirerAnswer {
    switch await exchange(method, path, body, deadline) {
    case .failure(.notSent(let reason)): .notSent(reason)
    case .failure(let error): .unknown(error.interruption)
    case .success(let response): SandboxMessages.answer(response, about: reference, amount)
    }
  }

  private func exchange(
    _ method: String, _ path: String, _ body: [UInt8], _ deadline: Deadline
  ) async -> Result<InboundResponse, TransportError> {
    guard deadline.remaining > .zero else { return .failure(.notSent("no time was left to ask")) }
    let headers = [HTTPField("Authorization", "Bearer \(apiKey)"), HTTPField("Content-Type", "application/json")]
    let request = OutboundRequest(method: method, url: base + path, headers: headers, body: body)
    let result: Result<InboundResponse, TransportError>
    do { result = .success(try await http.send(request, deadline.remaining)) } catch { result = .failure(error) }
    log(SandboxMessages.transcript(request, result))
    return result
  }
}

extension TransportError {
  /// For a question, where nothing hangs on whether it arrived.
  var interruption: Interruption {
    switch self {
    case .notSent(let reason): Interruption(.connectionLost, detail: "not sent: \(reason)")
    case .interrupted(let reason): Interruption(.connectionLost, detail: reason)
    case .timedOut: Interruption(.timeout)
    case .responseTooLarge: Interruption(.unintelligibleAnswer, detail: "too long")
    }
  }
}
