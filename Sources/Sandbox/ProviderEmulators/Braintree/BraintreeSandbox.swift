package import AcquirerSandbox
import ApplePayToken
package import Hummingbird
import Storage
package import TenderPayments
import TokenIssuer

/// An offline Braintree: its REST API in XML and its GraphQL API, with a ledger of its own, its webhooks, and faults on
/// demand.
///
/// What Braintree documents it does so: a sale is authorized, submitted for settlement, settled; before it settles it is
/// voided, afterwards refunded. Requests have no idempotency key. It opens payment tokens with keys of its own.
package struct BraintreeSandbox: EventSource {
  let ledger: BraintreeLedger
  let accounts: [BraintreeAccount]
  let keys: ProviderKeys
  let methods = BraintreePaymentMethods()
  let faults = ProviderFaults([
    .requestLost, .requestTwice, .answerLost, .answerLate, .answerTruncated, .page, .tooManyRequests, .unavailable,
    .failedAfter,
  ])
  let clock: WallClock
  let random: RandomBytes
  let silence: Duration

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - tokenRootPEM: the root of the payment tokens that it accepts.
  ///   - silence: how long a call hangs that is to get no answer; longer than any client waits.
  package init(
    databasePath: String, tokenRootPEM: String, accounts: [BraintreeAccount] = [.sandbox],
    clock: WallClock = .system, random: RandomBytes = .system, silence: Duration = .seconds(40)
  ) async throws {
    ledger = try await BraintreeLedger(path: databasePath, clock: clock, random: random)
    keys = ProviderKeys(
      database: ledger.database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    (self.accounts, self.clock, self.random, self.silence) = (accounts, clock, random, silence)
  }

  package func close() async { await ledger.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are encrypted to.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String {
    try await keys.request(for: merchantIdentifier)
  }

  /// Settles what was submitted longer ago than `delay`, and posts the webhooks that are due.
  package func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    try await ledger.settleDue(after: delay)
    try await ledger.deliver(faults) { event in
      guard let account = accounts.first(where: { $0.merchantID == event.account }) else { return nil }
      return await delivery.postForm(event.url, account.form(event.body))
    }
  }

  /// Decides a sale by amount and card, and writes it.
  func sell(_ sale: BraintreeSale, _ account: BraintreeAccount) async throws -> BraintreeTransaction {
    if let outcome = BraintreeOutcome(testAmount: sale.amount) {
      return try await ledger.sell(sale, of: account, outcome)
    }
    let script = ScriptedResponse(dpan: sale.card.dpan, minorUnits: sale.amount.minorUnits)
    if script.outcome == .noAnswer { try await Task.sleep(for: silence) }
    guard script.outcome != .noAnswer else { throw BraintreeProblem(status: 504) }
    let transaction = try await ledger.sell(sale, of: account, BraintreeOutcome(script.outcome))
    if script.outcome == .noAnswerAfterApproval {
      try await Task.sleep(for: silence)
      throw BraintreeProblem(status: 504)
    }
    try await Task.sleep(for: script.delay)
    return transaction
  }

  /// Adds Braintree's paths, and the sandbox's own below `/braintree`.
  package func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = BraintreeRoutes<Context>(service: self)
    let transactions = router.group("merchants/{merchant}/transactions")
    transactions.post(use: calls.create)
      .post("advanced_search_ids", use: calls.searchIDs)
      .post("advanced_search", use: calls.search)
      .get("{id}", use: calls.find)
      .put("{id}/submit_for_settlement", use: calls.settle)
      .post("{id}/submit_for_partial_settlement", use: calls.settlePart)
      .put("{id}/void", use: calls.void)
      .post("{id}/refund", use: calls.refund)
    for verb in ["settle", "settlement_confirm", "settlement_decline", "settlement_pending"] {
      transactions.put(RouterPath("{id}/\(verb)"), use: calls.simulate)
    }
    router.post("graphql", use: calls.graphQL)
    router.group("braintree")
      .put("event-endpoint", use: calls.sendNotifications)
      .post("certificate-requests", use: calls.requestCertificate)
      .post("disputes", use: calls.dispute)
      .post("faults", use: calls.injectFault)
  }
}
