package import AcquirerSandbox
import ApplePayToken
package import Hummingbird
import Storage
import StrictJSON
package import TenderPayments

/// An offline Checkout.com: its payments API for Apple Pay and network tokens, the events of a workflow, and a ledger of
/// its own.
///
/// Paths and bodies are Checkout.com's, so that its own client libraries work with it. Below `/checkout-com` are the
/// calls that stand for its dashboard: the webhook's address, signing requests for certificates, what a person does,
/// and faults.
package struct CheckoutComSandbox: EventSource {
  let store: CheckoutComStore
  let keys: ProviderKeys
  let accounts: [CheckoutComAccount]
  let tokens = CheckoutComTokens()
  let clock: WallClock
  let calls: ProviderCalls
  let faults = ProviderFaults(ProviderFault.ofCalls + [.answerLate, .requestTwice] + ProviderFault.ofEvents)

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - tokenRootPEM: the root of the payment tokens that it accepts.
  ///   - silence: how long a call hangs that gets no answer; longer than any client waits.
  package init(
    databasePath: String, tokenRootPEM: String, accounts: [CheckoutComAccount] = [.sandbox],
    clock: WallClock = .system, random: RandomBytes = .system, silence: Duration = .seconds(40)
  ) async throws {
    store = try await CheckoutComStore(path: databasePath, clock: clock, random: random)
    keys = ProviderKeys(
      database: store.database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    (self.accounts, self.clock, calls) = (accounts, clock, ProviderCalls(silence: silence))
  }

  package func close() async { await store.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are encrypted to.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String {
    try await keys.request(for: merchantIdentifier)
  }

  /// Processes what was accepted longer than `delay` ago, and posts the events that are due.
  package func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    try await store.process(olderThan: delay)
    try await store.deliver(faults) { event in
      guard let account = accounts.first(where: { $0.processingChannel == event.account }) else { return nil }
      return await delivery.postWithHeaders(
        event.url, [(name: "Cko-Signature", value: account.signature(event.bytes))], event.bytes)
    }
  }

  /// Adds Checkout.com's calls at the root, and those of the sandbox below `/checkout-com`.
  package func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = CheckoutComRoutes<Context>(service: self)
    router.post("tokens", use: calls.tokenize)
    router.group("payments")
      .post(use: calls.pay)
      .get(use: calls.find)
      .post("search", use: calls.search)
      .get("{id}", use: calls.show)
      .get("{id}/actions", use: calls.actions)
      .post("{id}/captures") { try await calls.act(.capture, $0, $1) }
      .post("{id}/voids") { try await calls.act(.void, $0, $1) }
      .post("{id}/refunds") { try await calls.act(.refund, $0, $1) }
    router.group("checkout-com")
      .put("webhook", use: calls.setWebhook)
      .post("certificate-requests", use: calls.requestCertificate)
      .post("faults", use: calls.injectFault)
      .post("payments/{id}/{act}", use: calls.actInDashboard)
  }
}
