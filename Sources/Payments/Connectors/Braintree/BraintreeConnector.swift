package import Acquiring
package import HTTPTransport
import TenderPayments

extension Acquirer {
  /// Braintree: network tokens and all that follows an authorization through its REST API, in XML; payment tokens that
  /// Braintree decrypts through its GraphQL API, in two steps.
  ///
  /// Braintree has no idempotency keys on this API. An operation without an answer is found by its order id, which is
  /// our reference; a void is found by the status of its authorization.
  ///
  /// - Parameter log: receives every exchange, scrubbed.
  package static func braintree(
    _ settings: BraintreeSettings, http: HTTPSender, log: @escaping ExchangeLog = { _ in }
  ) -> Acquirer {
    let connector = BraintreeConnector(settings: settings, http: http, log: log)
    let events = BraintreeEvents(settings: settings)
    return Acquirer(
      capabilities: BraintreeConnector.capabilities(settings), prepare: connector.prepare,
      authorize: connector.authorize, capture: connector.capture, void: connector.void, refund: connector.refund,
      inquire: connector.inquire, reverse: { _, _ in .refused(code: "not offered") },
      readEvents: { event throws(EventRefusal) in try events.read(event) }, answerChallenge: events.answerChallenge,
      checkCredentials: connector.checkCredentials,
      report: { period, lookup, deadline throws(AcquirerReport.Unavailable) in
        try await BraintreeReport(settings, http: http, log: log, lookup: lookup).report(period, deadline)
      })
  }
}

struct BraintreeConnector: Sendable {
  let settings: BraintreeSettings
  let http: HTTPSender
  let log: ExchangeLog

  var messages: BraintreeMessages { BraintreeMessages(settings: settings) }
  var answers: BraintreeAnswers { BraintreeAnswers(settings: settings) }

  static func capabilities(_ settings: BraintreeSettings) -> AcquirerCapabilities {
    var capabilities = AcquirerCapabilities(
      name: "braintree", account: settings.account, instruments: [.network, .sealed],
      preparedInstruments: [.sealed],
      parts: settings.capturesInParts ? [.capture, .furtherCaptures, .refund] : [.capture, .refund],
      idempotency: .none, refundsOneCapture: true, inquiry: true, reversal: false, settleHorizon: .seconds(300),
      holdLifetime: .seconds(86_400 * 7), exponent: settings.decimals(for:),
      merchantAccount: { settings.merchantAccounts[$0] })
    capabilities.merchantAccounts = settings.accounts
    capabilities.namesNetworks = true
    capabilities.eventAccounts = [settings.merchantID]
    return capabilities
  }

  func authorize(_ request: AuthorizationRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    switch request.instrument {
    case .sealed: return await authorizePrepared(request, deadline)
    case .stored: return .notTaken("no_stored_credential")
    case .network(let card):
      let response = await rest("POST", "/transactions", messages.sale(request, card), deadline)
      return answers.authorization(response, request)
    }
  }

  /// All at once, or in parts where the account can: a part is a transaction of its own.
  func capture(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    let isPart = settings.capturesInParts && !request.isWhole
    let (method, verb) = isPart ? ("POST", "submit_for_partial_settlement") : ("PUT", "submit_for_settlement")
    let body = isPart ? messages.partialSettlement(request) : messages.settlement(request)
    return await followUp(request.authorization, deadline) {
      answers.capture(await rest(method, "/transactions/\(request.authorization)/\(verb)", body, deadline), request)
    }
  }

  func void(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    await followUp(request.authorization, deadline) { await void(request.authorization, deadline) }
  }

  private func void(_ transaction: String, _ deadline: Deadline) async -> AcquirerAnswer {
    answers.void(await rest("PUT", "/transactions/\(transaction)/void", nil, deadline), transaction)
  }

  /// A capture that is not settled yet cannot be refunded. All of it can be voided instead; for a part the refund waits
  /// until Braintree has settled.
  ///
  /// A capture without a name, as a restore gives it back, is the authorization's own transaction, unless it was one of
  /// several parts.
  func refund(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    let capture = request.capture ?? request.authorization
    guard BraintreeTransaction.isName(capture) else { return .notTaken("bad_reference") }
    if request.capture == nil, settings.capturesInParts, case .found(let sale) = await find(capture, deadline),
      !sale.isCaptured || sale.isSettledInParts
    {
      return .notTaken("capture_has_no_name")
    }
    let answer = answers.refund(
      await rest("POST", "/transactions/\(capture)/refund", messages.refund(request), deadline), request, of: capture)
    guard case .declined(let decline) = answer, decline.code == BraintreeDeclines.notSettled,
      case .found(let sale) = await find(capture, deadline), answers.isUnsettled(sale, all: request.amount)
    else { return answer }
    let voided = await void(capture, deadline)
    // Settling began meanwhile, or the void did not leave: the refund was refused, and nothing else was done.
    if case .declined(let refusal) = voided, refusal.code == "91504" { return answer }
    if case .notSent = voided { return answer }
    return voided
  }

  func checkCredentials(_ deadline: Deadline) async -> CredentialCheck {
    let search = BraintreeMessages.search([BraintreeMessages.bearing("credential check")])
    return answers.credentials(await rest("POST", "/transactions/advanced_search_ids", search, deadline))
  }

  /// An answer that the transaction is in another state says nothing of which. Asking changes nothing.
  private func followUp(
    _ authorization: String, _ deadline: Deadline, _ ask: () async -> AcquirerAnswer
  ) async -> AcquirerAnswer {
    guard BraintreeTransaction.isName(authorization) else { return .notTaken("bad_reference") }
    let answer = await ask()
    guard case .declined(let decline) = answer, BraintreeDeclines.wrongState.contains(decline.code),
      case .found(let transaction) = await find(authorization, deadline), transaction.isEnded
    else { return answer }
    return .declined(Decline(reason: .holdEnded, code: decline.code))
  }
}

extension BraintreeConnector {
  func rest(
    _ method: String, _ path: String, _ body: BraintreeXML?, _ deadline: Deadline
  ) async -> Result<InboundResponse, TransportError> {
    let url = "\(settings.environment.gateway)/merchants/\(settings.merchantID)\(path)"
    let headers = [
      HTTPField("Accept", "application/xml"), HTTPField("Authorization", authorization),
      HTTPField("Content-Type", "application/xml"), HTTPField("User-Agent", "Tender"), HTTPField("X-ApiVersion", "6"),
    ]
    return await exchange(
      OutboundRequest(method: method, url: url, headers: headers, body: body?.serialized() ?? []), deadline)
  }

  func exchange(
    _ request: OutboundRequest, _ deadline: Deadline
  ) async -> Result<InboundResponse, TransportError> {
    guard deadline.remaining > .zero else { return .failure(.notSent("no time was left to ask")) }
    let result: Result<InboundResponse, TransportError>
    do { result = .success(try await http.send(request, deadline.remaining)) } catch { result = .failure(error) }
    log(BraintreeMessages.transcript(request, result))
    return result
  }

  var authorization: String {
    "Basic " + Base64.encode(Array("\(settings.publicKey):\(settings.privateKey.revealed)".utf8))
  }
}
