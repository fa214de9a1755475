import ApplePayToken
import DirectWire
package import Hummingbird
import Storage
import Synchronization
package import TenderPayments

/// An offline Worldline Direct: its server API for Apple Pay, its webhooks, and a ledger of its own.
///
/// Paths and bodies are Worldline's, so that its own SDKs work with it. Below `/worldline-direct` are the calls that
/// stand for the Merchant Portal: the webhooks' address, signing requests for certificates, what a person does, faults.
package struct WorldlineDirectSandbox: EventSource {
  let store: WorldlineDirectStore
  let keys: ProviderKeys
  let accounts: [WorldlineDirectAccount]
  let clock: WallClock
  let silence: Duration
  let sleep: @Sendable (Duration) async throws -> Void
  let faults = ProviderFaults<WorldlineDirectFault>()
  let inProgress = WorldlineDirectKeysInProgress()

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - tokenRootPEM: the root of the payment tokens that it accepts.
  ///   - silence: how long a call hangs that gets no answer; longer than any client waits.
  ///   - sleep: passes the time that a slow answer takes.
  package init(
    databasePath: String, tokenRootPEM: String, accounts: [WorldlineDirectAccount] = [.sandbox],
    clock: WallClock = .system, random: RandomBytes = .system, silence: Duration = .seconds(40),
    sleep: @escaping @Sendable (Duration) async throws -> Void = Scheduler.system.sleep
  ) async throws {
    let database = try await Database.sqlite(
      path: databasePath, migrations: WorldlineDirectStore.migrations, clock: clock)
    store = try await WorldlineDirectStore(database: database, random: random)
    keys = ProviderKeys(
      database: database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    self.accounts = accounts
    self.clock = clock
    self.silence = silence
    self.sleep = sleep
  }

  package func close() async { await store.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are encrypted to.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String {
    try await keys.request(for: merchantIdentifier)
  }

  /// Decides what was accepted longer than `delay` ago, and posts the events that are due.
  package func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    try await store.resolve(olderThan: delay) { account($0) }
    var due = try await store.dueEvents()
    if let first = due.first, faults.take(.eventLost) {
      try await store.note(first, taken: true)
      due.removeFirst()
    }
    if let first = due.first, faults.take(.eventTwice) { due.insert(first, at: 0) }
    if faults.take(.eventsReversed) { due.reverse() }
    for event in due {
      guard let account = account(event.merchant) else { continue }
      let signature = WebhookSignature(secret: account.webhookSecret).signature(of: event.body)
      let headers = [
        (name: WebhookSignature.keyHeader, value: account.webhookKeyID),
        (name: WebhookSignature.header, value: signature),
      ]
      try await store.note(event, taken: await delivery.postWithHeaders(event.url, headers, event.body))
    }
  }

  private func account(_ merchant: String) -> WorldlineDirectAccount? {
    accounts.first { $0.merchantID == merchant }
  }

  /// Adds Worldline's calls below `/v2`, and those of the sandbox below `/worldline-direct`.
  package func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = WorldlineDirectRoutes<Context>(service: self)
    router.group("v2/{merchantId}")
      .get("services/testconnection", use: calls.testConnection)
      .post("payments", use: calls.create)
      .get("payments/{id}", use: calls.payment)
      .get("payments/{id}/details", use: calls.details)
      .get("payments/{id}/captures", use: calls.captures)
      .get("payments/{id}/refunds", use: calls.refunds)
      .post("payments/{id}/capture", use: calls.capture)
      .post("payments/{id}/cancel", use: calls.cancel)
      .post("payments/{id}/refund", use: calls.refund)
    router.group("worldline-direct")
      .put("webhook", use: calls.setWebhook)
      .post("certificate-requests", use: calls.requestCertificate)
      .post("faults", use: calls.injectFault)
      .get("payments", use: calls.list)
      .post("payments/{id}/{act}", use: calls.actInPortal)
  }
}

/// The idempotence keys of calls that are being processed.
final class WorldlineDirectKeysInProgress: Sendable {
  private let keys = Mutex<Set<String>>([])

  /// False when a call under this key is in progress.
  func begin(_ key: String) -> Bool { keys.withLock { $0.insert(key).inserted } }
  func end(_ key: String) { keys.withLock { _ = $0.remove(key) } }
}
