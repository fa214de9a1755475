package import Acquiring
package import HTTPTransport
import TenderPayments

extension Acquirer {
  /// Stripe's PaymentIntents: network tokens at once, payment tokens that Stripe decrypts in two steps.
  ///
  /// Stripe gives the first answer again under an idempotency key for 24 hours, a failure of its own too. What became of
  /// an operation is asked for by its name, and by our reference in the metadata.
  ///
  /// - Parameter log: receives every exchange, scrubbed.
  package static func stripe(
    _ settings: StripeSettings, http: HTTPSender, log: @escaping ExchangeLog = { _ in }
  ) -> Acquirer {
    let connector = StripeConnector(
      settings: settings, account: settings.connectedAccounts.first, http: http, log: log)
    return Acquirer(
      capabilities: StripeConnector.capabilities(settings),
      prepare: { request, deadline in
        await connector.acting(for: request.sale.merchantAccount)?.prepare(request, deadline)
          ?? .declined(Decline(reason: .configuration, code: "other_account"))
      },
      authorize: { request, deadline in
        await connector.acting(for: request.sale.merchantAccount)?.authorize(request, deadline) ?? otherAccount
      },
      capture: { await connector.acting(for: $0.merchantAccount)?.capture($0, $1) ?? otherAccount },
      void: { await connector.acting(for: $0.merchantAccount)?.void($0, $1) ?? otherAccount },
      refund: { await connector.acting(for: $0.merchantAccount)?.refund($0, $1) ?? otherAccount },
      inquire: { await connector.acting(for: $0.merchantAccount)?.inquire($0, $1) ?? .unavailable(unknownAccount) },
      reverse: { _, _ in .refused(code: "not offered") },
      readEvents: { event throws(EventRefusal) in try StripeEvents.read(event, settings) },
      checkCredentials: connector.checkCredentials,
      report: { period, lookup, deadline throws(AcquirerReport.Unavailable) in
        try await StripeReport(connectors: connector.everyAccount, lookup: lookup).report(period, deadline)
      })
  }
}

private let otherAccount = AcquirerAnswer.notTaken("other_account")
private let unknownAccount = Interruption(.acquirerUncertain, detail: "the route has no such connected account")

struct StripeConnector: Sendable {
  /// The version of the API, a date and a name, that these messages are of. Every call names it.
  static let version = "2026-10-28.endive"

  let settings: StripeSettings
  /// The connected account that calls act for; nil for the key's own.
  var account: String?
  let http: HTTPSender
  let log: ExchangeLog

  var answers: StripeAnswers { StripeAnswers(isLive: settings.isLive) }

  /// The connector for the account that a payment names; nil for one that is not configured.
  func acting(for named: String?) -> StripeConnector? {
    guard let named else { return self }
    guard settings.connectedAccounts.contains(named) else { return nil }
    var other = self
    other.account = named
    return other
  }

  var everyAccount: [StripeConnector] {
    settings.connectedAccounts.isEmpty ? [self] : settings.connectedAccounts.compactMap { acting(for: $0) }
  }

  /// Stripe may forget a key after 24 hours. Ten minutes less: a repeat that is sent in time must also arrive in time.
  private static let safeWindow = Duration.seconds(86_400 - 600)

  static func capabilities(_ settings: StripeSettings) -> AcquirerCapabilities {
    var capabilities = AcquirerCapabilities(
      name: "stripe", account: settings.account, instruments: [.network, .sealed], preparedInstruments: [.sealed],
      parts: settings.multicapture ? [.capture, .furtherCaptures, .refund] : [.capture, .refund],
      idempotency: .reference(window: safeWindow), authorizationIdempotency: .reference(window: safeWindow),
      inquiry: true, reversal: false,
      settleHorizon: .seconds(300), holdLifetime: .seconds(7 * 86_400), exponent: exponent,
      merchantAccount: { _ in settings.connectedAccounts.first })
    capabilities.lastDigitIsZero = { $0.exponent == 3 }
    capabilities.namesNetworks = true
    capabilities.eventAccounts = settings.eventAccounts
    return capabilities
  }

  /// Stripe's decimals, which differ from ISO 4217's for three currencies.
  private static func exponent(_ currency: Currency) -> Int? {
    let others = ["ISK": 2, "MGA": 0, "UGX": 2]
    return others[currency.code] ?? (currency.isMoney ? currency.exponent : nil)
  }

  /// Gives Stripe the payment token. Moves no money.
  func prepare(_ request: AuthorizationRequest, _ deadline: Deadline) async -> Preparation {
    guard case .sealed(let verified) = request.instrument else {
      return .declined(Decline(reason: .configuration, code: "one_step"))
    }
    if let fault = fault(request.reference, request.amount) {
      return .declined(Decline(reason: .configuration, code: fault))
    }
    let form = StripeMessages.token(verified, request.sale)
    return answers.preparation(await post("/tokens", form, .token, request.reference, deadline))
  }

  func authorize(_ request: AuthorizationRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    if let fault = fault(request.reference, request.amount) { return .notTaken(fault) }
    if case .sealed = request.instrument, request.prepared.map(StripeName.isName) != true {
      return .notSent("there is no token yet")
    }
    if case .stored = request.instrument { return .notTaken("no_stored_credential") }
    let form = StripeMessages.intent(request, settings)
    let reply = await post("/payment_intents", form, .authorize, request.reference, deadline)
    if let intent = answers.waiting(reply, request.reference) { await abandon(intent, request.reference, deadline) }
    return answers.authorization(reply, request)
  }

  /// Ends an intent that waits for the shopper: no page sends the shopper there. It holds nothing, so the answer does not
  /// matter: without it the intent stays open at Stripe, and is never paid.
  private func abandon(_ intent: String, _ reference: AttemptReference, _ deadline: Deadline) async {
    _ = await post("/payment_intents/\(intent)/cancel", StripeMessages.abandonment, .abandon, reference, deadline)
  }

  func capture(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    if let fault = fault(request) { return .notTaken(fault) }
    let keepsRest = settings.multicapture && !request.isFinal && !request.isWhole
    let form = StripeMessages.capture(request, keepsRest: keepsRest)
    let path = "/payment_intents/\(request.authorization)/capture"
    return answers.capture(await post(path, form, .capture, request.reference, deadline), request)
  }

  func void(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    if let fault = fault(request) { return .notTaken(fault) }
    let path = "/payment_intents/\(request.authorization)/cancel"
    return answers.void(await post(path, StripeForm(), .void, request.reference, deadline), request)
  }

  func refund(_ request: FollowUpRequest, _ deadline: Deadline) async -> AcquirerAnswer {
    if let fault = fault(request) { return .notTaken(fault) }
    let reply = await post("/refunds", StripeMessages.refund(request), .refund, request.reference, deadline)
    return answers.refund(reply, request)
  }

  func checkCredentials(_ deadline: Deadline) async -> CredentialCheck {
    answers.credentials(await get("/balance", StripeForm(), deadline))
  }
}

// What Stripe would not take is not sent.
extension StripeConnector {
  private func fault(_ request: FollowUpRequest) -> String? {
    StripeName.isName(request.authorization) ? fault(request.reference, request.amount) : "bad_reference"
  }

  /// Stripe wants the last of three decimals to be zero. Tender does not round what the shopper has confirmed.
  private func fault(_ reference: AttemptReference, _ amount: Amount) -> String? {
    if !StripeName.isReference(reference) { return "bad_reference" }
    return amount.currency.exponent == 3 && !amount.minorUnits.isMultiple(of: 10) ? "amount_too_fine" : nil
  }
}

extension StripeConnector {
  func post(
    _ path: String, _ form: StripeForm, _ operation: StripeOperation, _ reference: AttemptReference,
    _ deadline: Deadline
  ) async -> StripeReply {
    let headers = [
      HTTPField("Content-Type", "application/x-www-form-urlencoded"),
      HTTPField("Idempotency-Key", operation.key(reference)),
    ]
    let request = OutboundRequest(
      method: "POST", url: settings.baseURL + path, headers: self.headers + headers, body: Array(form.text.utf8))
    return await exchange(request, form, deadline)
  }

  func get(_ path: String, _ parameters: StripeForm, _ deadline: Deadline) async -> StripeReply {
    let url = settings.baseURL + path + (parameters.fields.isEmpty ? "" : "?\(parameters.query)")
    return await exchange(OutboundRequest(method: "GET", url: url, headers: headers), StripeForm(), deadline)
  }

  private var headers: [HTTPField] {
    [
      HTTPField("Authorization", "Bearer \(settings.secretKey.revealed)"), HTTPField("Stripe-Version", Self.version),
      HTTPField("User-Agent", "Tender"),
    ] + (account.map { [HTTPField("Stripe-Account", $0)] } ?? [])
  }

  private func exchange(
    _ request: OutboundRequest, _ form: StripeForm, _ deadline: Deadline
  ) async -> StripeReply {
    guard deadline.remaining > .zero else { return .notSent("no time was left to ask") }
    let result: Result<InboundResponse, TransportError>
    do { result = .success(try await http.send(request, deadline.remaining)) } catch { result = .failure(error) }
    log(StripeMessages.transcript(request.method, request.url, form, result))
    return StripeReply(result)
  }
}
