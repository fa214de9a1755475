import ApplePayToken
package import Hummingbird
import Storage
import StrictJSON
import Synchronization
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
  let silence: Duration
  let faults = ProviderFaults<CheckoutComFault>()
  let inProgress = CheckoutComKeysInProgress()

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - tokenRootPEM: the root of the payment tokens that it accepts.
  ///   - silence: how long a call hangs that gets no answer; longer than any client waits.
  package init(
    databasePath: String, tokenRootPEM: String, accounts: [CheckoutComAccount] = [.sandbox],
    clock: WallClock = .system, random: RandomBytes = .system, silence: Duration = .seconds(40)
  ) async throws {
    let database = try await Database.sqlite(
      path: databasePath, migrations: CheckoutComStore.migrations, clock: clock)
    store = try await CheckoutComStore(database: database, random: random)
    keys = ProviderKeys(
      database: database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    (self.accounts, self.clock, self.silence) = (accounts, clock, silence)
  }

  package func close() async { await store.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are encrypted to.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String {
    try await keys.request(for: merchantIdentifier)
  }

  /// Processes what was accepted longer than `delay` ago, and posts the events that are due.
  package func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    try await store.process(olderThan: delay)
    var due = try await store.dueEvents()
    if let first = due.first, faults.take(.eventLost) {
      try await store.note(first, taken: true)
      due.removeFirst()
    }
    if let first = due.first, faults.take(.eventTwice) { due.insert(first, at: 0) }
    if due.count > 1, faults.take(.eventsReversed) { due.reverse() }
    for event in due {
      guard let account = accounts.first(where: { $0.processingChannel == event.channel }) else { continue }
      let taken = await delivery.postWithHeaders(
        event.url, [(name: "Cko-Signature", value: account.signature(event.body))], event.body)
      try await store.note(event, taken: taken)
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

/// The idempotency keys of calls that are being processed.
final class CheckoutComKeysInProgress: Sendable {
  private let keys = Mutex<Set<String>>([])

  /// False when a call under this key is in progress.
  func begin(_ key: String) -> Bool { keys.withLock { $0.insert(key).inserted } }
  func end(_ key: String) { keys.withLock { _ = $0.remove(key) } }
}
