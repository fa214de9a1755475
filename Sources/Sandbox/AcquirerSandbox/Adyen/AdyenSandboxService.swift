import ApplePayToken
package import Hummingbird
import Storage
import StrictJSON
import Synchronization
package import TenderPayments

/// An offline Adyen: Checkout API version 72 for Apple Pay and network tokens, its standard webhook, and a ledger of its
/// own.
///
/// Paths and bodies are Adyen's, so that Adyen's own client libraries work with it. Below `/adyen` are the calls that
/// stand for Adyen's web pages: the webhook's address, signing requests for certificates, what a person does in the
/// dashboard, reports, and faults.
package struct AdyenSandboxService: EventSource {
  let store: AdyenStore
  let keys: ProviderKeys
  let accounts: [AdyenAccount]
  let silence: Duration
  let faults = ProviderFaults<AdyenFault>()
  let inProgress = AdyenKeysInProgress()

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - tokenRootPEM: the root of the payment tokens that it accepts.
  ///   - silence: how long a call hangs that gets no answer; longer than any client waits.
  package init(
    databasePath: String, tokenRootPEM: String, accounts: [AdyenAccount] = [.sandbox], clock: WallClock = .system,
    random: RandomBytes = .system, silence: Duration = .seconds(40)
  ) async throws {
    let database = try await Database.sqlite(path: databasePath, migrations: AdyenStore.migrations, clock: clock)
    store = try await AdyenStore(database: database, random: random)
    keys = ProviderKeys(
      database: database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    self.accounts = accounts
    self.silence = silence
  }

  package func close() async { await store.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are encrypted to.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String {
    try await keys.request(for: merchantIdentifier)
  }

  /// Decides what was accepted longer than `delay` ago, and posts the events that are due. The signature of an event is
  /// in its body.
  package func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    try await store.resolve(olderThan: delay) { account($0) }
    var due = try await store.dueEvents()
    if let first = due.first, faults.take(.eventLost) {
      try await store.note(first, taken: true)
      due.removeFirst()
    }
    for batch in batches(due) {
      let taken = await delivery.post(batch[0].url, "", body(batch))
      for event in batch { try await store.note(event, taken: taken) }
    }
  }

  private func account(_ merchantAccount: String) -> AdyenAccount? {
    accounts.first { $0.merchantAccount == merchantAccount }
  }

  /// One event a call, as Adyen sends JSON, unless a fault wants it otherwise.
  private func batches(_ due: [AdyenStore.DueEvent]) -> [[AdyenStore.DueEvent]] {
    guard let first = due.first else { return [] }
    if faults.take(.eventsTogether) { return [due.filter { $0.url == first.url }] }
    var due = due
    if faults.take(.eventTwice) { due.insert(first, at: 0) }
    if faults.take(.eventsReversed) { due.reverse() }
    return due.map { [$0] }
  }

  private func body(_ events: [AdyenStore.DueEvent]) -> [UInt8] {
    let items = events.map { JSONValue.object(["NotificationRequestItem": $0.item]) }
    return JSONValue.object(["live": "false", "notificationItems": .array(items)]).serialized()
  }

  /// Adds Adyen's calls below `/v72`, and those of the sandbox below `/adyen`.
  package func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = AdyenRoutes<Context>(service: self)
    router.group("v72")
      .post("payments", use: calls.pay)
      .post("payments/{psp}/captures") { try await calls.modify(.capture, $0, $1) }
      .post("payments/{psp}/cancels") { try await calls.modify(.cancel, $0, $1) }
      .post("payments/{psp}/refunds") { try await calls.modify(.refund, $0, $1) }
      .post("payments/{psp}/reversals") { try await calls.modify(.reversal, $0, $1) }
      .post("cancels", use: calls.cancelByReference)
      .post("paymentMethods", use: calls.paymentMethods)
    router.group("adyen")
      .put("webhook", use: calls.setWebhook)
      .post("certificate-requests", use: calls.requestCertificate)
      .post("faults", use: calls.injectFault)
      .get("payments", use: calls.list)
      .get("report", use: calls.report)
      .post("payments/{psp}/{act}", use: calls.actInDashboard)
  }
}

/// The idempotency keys of calls that are being processed.
final class AdyenKeysInProgress: Sendable {
  private let keys = Mutex<Set<String>>([])

  /// False when a call under this key is in progress.
  func begin(_ key: String) -> Bool { keys.withLock { $0.insert(key).inserted } }
  func end(_ key: String) { keys.withLock { _ = $0.remove(key) } }
}
