package import AcquirerSandbox
import ApplePayToken
package import Hummingbird
import Storage
import StrictJSON
package import TenderPayments

/// An offline Stripe: PaymentIntents with network tokens and payment tokens, refunds, signed events, and a ledger of its
/// own.
///
/// Paths, parameters and answers are Stripe's, so that Stripe's own libraries work with it. Below `/stripe` are the
/// calls that stand for the dashboard: the webhook's address, signing requests for certificates, what a person does
/// there, and faults.
package struct StripeSandboxService: EventSource {
  let store: StripeStore
  let keys: ProviderKeys
  let accounts: [StripeAccount]
  let calls: ProviderCalls
  let searchLag: Duration
  let tokens = StripeTokens()
  let faults = ProviderFaults(ProviderFault.ofCalls + [.answerLate, .inProgress] + ProviderFault.ofEvents)

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - tokenRootPEM: the root of the payment tokens that it accepts.
  ///   - silence: how long a call hangs that gets no answer; longer than any client waits.
  ///   - searchLag: how long a search does not find a new intent; with Stripe it is about a minute.
  package init(
    databasePath: String, tokenRootPEM: String, accounts: [StripeAccount] = [.sandbox], clock: WallClock = .system,
    random: RandomBytes = .system, silence: Duration = .seconds(40), searchLag: Duration = .seconds(60)
  ) async throws {
    store = try await StripeStore(
      path: databasePath, clock: clock, random: random,
      connected: accounts.reduce(into: []) { $0.formUnion($1.connected) })
    keys = ProviderKeys(
      database: store.database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    (self.accounts, self.searchLag, calls) = (accounts, searchLag, ProviderCalls(silence: silence))
  }

  package func close() async { await store.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are encrypted to.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String {
    try await keys.request(for: merchantIdentifier)
  }

  /// Decides what has been pending longer than `delay`, and posts the events that are due.
  package func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    try await store.resolve(olderThan: delay)
    let rolling = try await store.rollingSecrets()
    try await store.deliver(faults) { event in
      guard let account = accounts.first(where: { $0.id == event.account || $0.connected.contains(event.account) })
      else { return nil }
      let signature = account.signature(event.bytes, at: event.now, isRolling: rolling.contains(event.account))
      return await delivery.postWithHeaders(event.url, [(name: "Stripe-Signature", value: signature)], event.bytes)
    }
  }

  /// The account whose key this is, and what the key may do.
  func account(of key: String) -> (StripeAccount, StripePermission)? {
    for account in accounts {
      switch key {
      case account.secretKey: return (account, .everything)
      case account.restrictedKey: return (account, .reading)
      case account.publishableKey: return (account, .publishable)
      default: continue
      }
    }
    return nil
  }

  /// Opens a sealed payment token.
  func open(_ paymentData: JSONValue) async throws -> StripeCard {
    do {
      let opened = try await keys.open(paymentData)
      return StripeCard(try opened.networkToken, amount: opened.amount)
    } catch let error as PaymentTokenError {
      throw StripeProblem(400, "The payment token cannot be decrypted: \(error.reason)", parameter: "pk_token")
    }
  }

  /// Finds the card, and what it and the amount are scripted to come to.
  func payment(_ request: StripePaymentRequest, of owner: StripeOwner) throws(StripeProblem) -> StripeCardPayment {
    let (card, token): (StripeCard, String?)
    switch request.method {
    case .card(let network): (card, token) = (StripeCard(network), nil)
    case .token(let id): (card, token) = (try tokens.find(id, of: owner.id, at: keys.clock.now()), id)
    }
    return StripeCardPayment(
      request: request, owner: owner, card: card, token: token,
      script: card.token.map { ScriptedResponse(dpan: $0.dpan, minorUnits: request.money.value) })
  }

  /// Adds Stripe's calls below `/v1`, and those of the sandbox below `/stripe`.
  package func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = StripeRoutes<Context>(service: self)
    router.group("v1")
      .post("tokens", use: calls.tokenize)
      .post("payment_intents", use: calls.pay)
      .get("payment_intents", use: calls.intents)
      .get("payment_intents/search", use: calls.search)
      .get("payment_intents/{id}", use: calls.intent)
      .post("payment_intents/{id}/capture", use: calls.capture)
      .post("payment_intents/{id}/cancel", use: calls.cancel)
      .post("refunds", use: calls.refund)
      .get("refunds", use: calls.refunds)
      .get("refunds/{id}", use: calls.refundByID)
      .get("balance", use: calls.balance)
    router.group("stripe")
      .put("webhook", use: calls.setWebhook)
      .post("certificate-requests", use: calls.requestCertificate)
      .post("faults", use: calls.injectFault)
      .get("payments", use: calls.list)
      .post("payment_intents/{id}/{act}", use: calls.actInDashboard)
  }
}

extension StripeCard {
  /// The token object of this name.
  func json(_ id: String, at time: Timestamp) -> JSONValue {
    [
      "id": .string(id), "object": "token", "created": .integer(time.seconds), "livemode": false, "type": "card",
      "used": false,
      "card": [
        "id": .string("card_" + id.dropFirst(4)), "object": "card", "brand": .string(brand),
        "dynamic_last4": .string(suffix), "last4": .string(suffix), "tokenization_method": "apple_pay",
      ],
    ]
  }
}
