package import Acquiring
package import HTTPTransport
import StrictJSON
import TenderPayments

extension Acquirer {
  /// Adyen's Checkout API, version 72: authorizations at once, everything else accepted and answered by an event.
  ///
  /// Adyen cannot be asked what became of an operation. An authorization whose answer never came is cancelled by our
  /// reference; a capture, void or refund is repeated under its idempotency key.
  ///
  /// - Parameter log: receives every exchange, scrubbed.
  package static func adyen(
    _ settings: AdyenSettings, http: HTTPSender, log: @escaping ExchangeLog = { _ in }
  ) -> Acquirer {
    let connector = AdyenConnector(settings: settings, http: http, log: log)
    return Acquirer(
      capabilities: AdyenConnector.capabilities(settings),
      authorize: connector.authorize,
      capture: { await connector.modify(.capture, $0, $1) },
      void: { await connector.modify(.void, $0, $1) },
      refund: { await connector.modify(.refund, $0, $1) },
      inquire: { _, _ in .unavailable(Interruption(.acquirerUncertain, detail: "Adyen answers no inquiries")) },
      reverse: connector.cancel,
      readEvents: { event throws(EventRefusal) in try AdyenEvents.read(event, settings) },
      checkCredentials: connector.checkCredentials)
  }
}

struct AdyenConnector: Sendable {
  /// Adyen keeps a key for at least seven days. Ten minutes less: a repeat that is sent in time must also arrive in time.
  private static let safeWindow = Duration.seconds(7 * 86_400 - 600)

  static func capabilities(_ settings: AdyenSettings) -> AcquirerCapabilities {
    var capabilities = AcquirerCapabilities(
      name: "adyen", account: settings.account, instruments: [.network, .sealed, .stored],
      parts: settings.multiplePartialCaptures ? [.capture, .furtherCaptures, .refund] : [.capture, .refund],
      idempotency: .reference(window: safeWindow),
      authorizationIdempotency: .reference(window: safeWindow), inquiry: false, reversal: true,
      settleHorizon: .seconds(120), holdLifetime: .seconds(7 * 86_400), exponent: exponent,
      merchantAccount: { _ in settings.merchantAccounts[0] })
    capabilities.verifiesCards = true
    capabilities.storesCredentials = [.network, .sealed]
    capabilities.namesAuthorizationType = true
    capabilities.eventAccounts = Set(settings.merchantAccounts)
    capabilities.merchantAccounts = settings.merchantAccounts.map { AcquirerCapabilities.MerchantAccount($0) }
    return capabilities
  }

  /// Adyen's decimals, which differ from ISO 4217's for four currencies.
  private static func exponent(_ currency: Currency) -> Int? {
    let others = ["CLP": 2, "CVE": 0, "IDR": 0, "ISK": 2]
    return others[currency.code] ?? (currency.isMoney ? currency.exponent : nil)
  }

  let settings: AdyenSettings
  let http: HTTPSender
  let log: ExchangeLog

  func authorize(_ request: AuthorizationRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    guard let account = merchantAccount(request.sale.merchantAccount) else { return .notTaken("other_account") }
    guard Self.isKey(request.reference) else { return .notTaken("bad_reference") }
    guard let body = AdyenMessages.payment(request, account, returnURL: settings.returnURL) else {
      return .notTaken("no_stored_credential")
    }
    return switch await post("/payments", body, under: request.reference, deadline) {
    case .failure(let error): Self.answer(error)
    case .success(let response): AdyenMessages.answer(response, to: request)
    }
  }

  func modify(
    _ kind: AdyenModification, _ request: FollowUpRequest, _ deadline: Deadline
  ) async -> AcquirerAnswer {
    guard let account = merchantAccount(request.merchantAccount) else { return .notTaken("other_account") }
    guard Self.isKey(request.reference), AdyenMessages.isName(request.authorization) else {
      return .notTaken("bad_reference")
    }
    let path = "/payments/\(request.authorization)/\(kind.path)"
    let body = AdyenMessages.modification(kind, request, account)
    return switch await post(path, body, under: request.reference, deadline) {
    case .failure(let error): Self.answer(error)
    case .success(let response): AdyenMessages.answer(response, to: kind, request, account)
    }
  }

  /// Cancels an authorization by our reference. Without an idempotency key: a cancel that came before its payment
  /// changed nothing, and has to be tried again.
  func cancel(_ request: InquiryRequest, _ deadline: Deadline) async -> Reversal {
    guard let account = merchantAccount(request.merchantAccount) else {
      return .unavailable(Interruption(.acquirerUncertain, detail: otherAccount))
    }
    let body = AdyenMessages.cancel(request, account)
    return switch await post("/cancels", body, under: nil, deadline) {
    case .failure(let error): .unavailable(error.interruption)
    case .success(let response): AdyenMessages.reversal(response, of: request, account)
    }
  }

  /// Lists the account's payment methods, which moves nothing.
  func checkCredentials(_ deadline: Deadline) async -> CredentialCheck {
    let body: JSONValue = ["merchantAccount": .string(settings.merchantAccounts[0])]
    return switch await post("/paymentMethods", body, under: nil, deadline) {
    case .failure(let error): .unavailable(error.interruption)
    case .success(let response): AdyenMessages.credentials(response)
    }
  }

  /// The account that a payment names, if it is ours; ours where it names none.
  private func merchantAccount(_ named: String?) -> String? {
    settings.merchantAccounts.first { named == nil || $0 == named }
  }

  /// Whether a reference can be an idempotency key: 1 to 64 visible characters.
  private static func isKey(_ reference: AttemptReference) -> Bool {
    let text = reference.rawValue.utf8
    return (1...64).contains(text.count) && text.allSatisfy { (0x21..<0x7F).contains($0) }
  }

  private static func answer(_ error: TransportError) -> AcquirerAnswer {
    if case .notSent(let reason) = error { .notSent(reason) } else { .unknown(error.interruption) }
  }

  private func post(
    _ path: String, _ body: JSONValue, under key: AttemptReference?, _ deadline: Deadline
  ) async -> Result<InboundResponse, TransportError> {
    guard deadline.remaining > .zero else { return .failure(.notSent("no time was left to ask")) }
    let headers = [
      HTTPField("X-API-Key", settings.apiKey.revealed), HTTPField("Content-Type", "application/json"),
    ]
    let request = OutboundRequest(
      method: "POST", url: settings.baseURL + path,
      headers: headers + (key.map { [HTTPField("Idempotency-Key", $0.rawValue)] } ?? []), body: body.serialized())
    let result: Result<InboundResponse, TransportError>
    do { result = .success(try await http.send(request, deadline.remaining)) } catch { result = .failure(error) }
    log(AdyenMessages.transcript(request, result))
    return result
  }
}

private let otherAccount = "the route has no such merchant account"
