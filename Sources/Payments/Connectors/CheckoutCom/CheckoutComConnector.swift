package import Acquiring
package import HTTPTransport
import StrictJSON
import TenderPayments

extension Acquirer {
  /// Checkout.com: network tokens in one step; payment tokens that it decrypts in two, of which the first, with the
  /// public key, gives the token of the second. Captures, voids and refunds are accepted, and answered by an event or
  /// by the list of the payment's actions.
  ///
  /// Checkout.com keeps an answer under its idempotency key only when the request was done: a repeat after an error is
  /// a new try, and no way to find out. So an authorization is never repeated. It is found by our reference and voided
  /// if it is not wanted. A capture, void or refund is looked for among the payment's actions first, and repeated only
  /// when it is not there.
  ///
  /// - Parameter log: receives every exchange, scrubbed.
  package static func checkoutCom(
    _ settings: CheckoutComSettings, http: HTTPSender, log: @escaping ExchangeLog = { _ in }
  ) -> Acquirer {
    let connector = CheckoutComConnector(settings: settings, http: http, log: log)
    return Acquirer(
      capabilities: CheckoutComConnector.capabilities(settings), prepare: connector.prepare,
      authorize: connector.authorize,
      capture: { await connector.act(.capture, $0, $1) },
      void: { await connector.act(.void, $0, $1) },
      refund: { await connector.act(.refund, $0, $1) },
      inquire: connector.inquire,
      reverse: { _, _ in .refused(code: "not offered") },
      readEvents: { event throws(EventRefusal) in try CheckoutComEvents.read(event, settings) },
      checkCredentials: connector.checkCredentials,
      report: { period, lookup, deadline throws(AcquirerReport.Unavailable) in
        try await CheckoutComReport(connector: connector, lookup: lookup).report(period, deadline)
      })
  }
}

struct CheckoutComConnector: Sendable {
  let settings: CheckoutComSettings
  let http: HTTPSender
  let log: ExchangeLog

  private var messages: CheckoutComMessages { CheckoutComMessages(settings: settings) }

  static func capabilities(_ settings: CheckoutComSettings) -> AcquirerCapabilities {
    var capabilities = AcquirerCapabilities(
      name: "checkout-com", account: settings.account, instruments: [.network, .sealed, .stored],
      preparedInstruments: [.sealed], parts: [.capture, .furtherCaptures, .refund],
      // Checkout.com forgets a key after 24 hours; a repeat must arrive before.
      idempotency: .reference(window: .seconds(23 * 3_600)), inquiry: true, reversal: false,
      settleHorizon: .seconds(300), holdLifetime: .seconds(7 * 86_400), exponent: CheckoutComAmount.decimals,
      merchantAccount: { _ in settings.processingChannels[0] })
    capabilities.verifiesCards = true
    // What Checkout.com stores after a network token pays only with its number.
    capabilities.storesCredentials = [.sealed]
    capabilities.namesAuthorizationType = true
    return capabilities
  }

  /// Gives Checkout.com the payment token, with the public key. Moves no money.
  func prepare(_ request: AuthorizationRequest, _ deadline: Deadline) async -> Preparation {
    guard case .sealed(let verified) = request.instrument else {
      return .declined(Decline(reason: .configuration, code: "one_step"))
    }
    let body = CheckoutComMessages.tokenRequest(verified.token)
    return CheckoutComAnswers.preparation(
      await send("POST", "/tokens", body, as: settings.publicKey.revealed, deadline))
  }

  func authorize(_ request: AuthorizationRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    guard let channel = processingChannel(request.sale.merchantAccount) else {
      return .notTaken("other_account")
    }
    guard Self.isKey(request.reference) else { return .notTaken("bad_reference") }
    let source: JSONObject
    switch (request.instrument, request.prepared) {
    case (.network(let card), _): source = CheckoutComMessages.networkToken(card)
    case (.sealed, let name?): source = CheckoutComMessages.token(name)
    case (.sealed, nil): return .notSent("there is no token yet")
    case (.stored(let credential), _):
      guard let stored = credential.reference, CheckoutComAnswers.isName(stored),
        CheckoutComAnswers.isName(credential.firstPayment)
      else { return .notTaken("no_stored_credential") }
      source = CheckoutComMessages.stored(stored)
    }
    guard let body = try? messages.payment(request, channel, source) else { return .notTaken("amount_too_large") }
    return CheckoutComAnswers.authorization(await post("/payments", body, under: request.reference, deadline), request)
  }

  func act(_ kind: CheckoutComAction, _ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    guard Self.isKey(request.reference), CheckoutComAnswers.isName(request.authorization) else {
      return .notTaken("bad_reference")
    }
    guard let body = try? CheckoutComMessages.action(kind, request) else { return .notTaken("amount_too_large") }
    let path = "/payments/\(request.authorization)/\(kind.path)"
    let response = await post(path, body, under: request.reference, deadline)
    // 403 says that the payment's state or the key does not allow it. Asking changes nothing.
    if case .success(let response) = response, response.status == 403 {
      return CheckoutComAnswers.notAllowed(kind, request, await find(request.authorization, deadline))
    }
    return CheckoutComAnswers.acceptance(response, of: kind, request)
  }

  /// A search that finds nothing with the secret key, and a token request without a payment token with the public one,
  /// which Checkout.com refuses as invalid only after it has accepted the key.
  func checkCredentials(_ deadline: Deadline) async -> CredentialCheck {
    let secret = await get("/payments?limit=1&reference=credential-check&skip=0", deadline)
    let check = CheckoutComAnswers.credentials(secret, "secret key", accepted: 200)
    guard check == .accepted else { return check }
    let publicKey = await send("POST", "/tokens", ["type": "applepay"], as: settings.publicKey.revealed, deadline)
    return CheckoutComAnswers.credentials(publicKey, "public key", accepted: 422)
  }

  /// The channel that a payment names, if it is ours; the first where it names none.
  private func processingChannel(_ named: String?) -> String? {
    settings.processingChannels.first { named == nil || $0 == named }
  }

  /// Whether a reference can be an idempotency key, stand in the address of a search, and be, with its kind, a reference
  /// of at most 80 characters.
  static func isKey(_ reference: AttemptReference) -> Bool {
    let text = reference.rawValue.utf8
    return (1...72).contains(text.count)
      && text.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || [0x2D, 0x2E, 0x5F, 0x7E].contains($0)
      }
  }
}

extension CheckoutComConnector {
  typealias Response = Result<InboundResponse, TransportError>

  func get(_ path: String, _ deadline: Deadline) async -> Response {
    await send("GET", path, nil, as: settings.secretKey.revealed, deadline)
  }

  func post(
    _ path: String, _ body: JSONValue, under key: AttemptReference? = nil, _ deadline: Deadline
  ) async -> Response {
    await send("POST", path, body, under: key, as: settings.secretKey.revealed, deadline)
  }

  private func send(
    _ method: String, _ path: String, _ body: JSONValue?, under key: AttemptReference? = nil, as credential: String,
    _ deadline: Deadline
  ) async -> Response {
    guard deadline.remaining > .zero else { return .failure(.notSent("no time was left to ask")) }
    let headers = [
      HTTPField("Accept", "application/json"), HTTPField("Authorization", "Bearer \(credential)"),
      HTTPField("Content-Type", "application/json"),
    ]
    let request = OutboundRequest(
      method: method, url: settings.baseURL + path,
      headers: headers + (key.map { [HTTPField("Cko-Idempotency-Key", $0.rawValue)] } ?? []),
      body: body?.serialized() ?? [])
    let result: Response
    do { result = .success(try await http.send(request, deadline.remaining)) } catch { result = .failure(error) }
    log(CheckoutComMessages.transcript(request, result))
    return result
  }
}
