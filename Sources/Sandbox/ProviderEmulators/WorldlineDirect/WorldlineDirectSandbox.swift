package import AcquirerSandbox
import ApplePayToken
import DirectWire
package import Hummingbird
import Storage
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
  let calls: ProviderCalls
  let faults = ProviderFaults(ProviderFault.ofCalls + [.answerLate, .inProgress] + ProviderFault.ofEvents)

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
    store = try await WorldlineDirectStore(path: databasePath, clock: clock, random: random)
    keys = ProviderKeys(
      database: store.database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    self.accounts = accounts
    self.clock = clock
    calls = ProviderCalls(silence: silence, sleep: sleep)
  }

  package func close() async { await store.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are encrypted to.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String {
    try await keys.request(for: merchantIdentifier)
  }

  /// Decides what was accepted longer than `delay` ago, and posts the events that are due.
  package func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    try await store.resolve(olderThan: delay) { account($0) }
    try await store.deliver(faults) { event in
      guard let account = account(event.account) else { return nil }
      let headers = [
        (name: WebhookSignature.keyHeader, value: account.webhookKeyID),
        (
          name: WebhookSignature.header,
          value: WebhookSignature(secret: account.webhookSecret).signature(of: event.bytes)
        ),
      ]
      return await delivery.postWithHeaders(event.url, headers, event.bytes)
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
      .post("payments/{id}/subsequent", use: calls.subsequent)
    router.group("worldline-direct")
      .put("webhook", use: calls.setWebhook)
      .post("certificate-requests", use: calls.requestCertificate)
      .post("faults", use: calls.injectFault)
      .get("payments", use: calls.list)
      .post("payments/{id}/{act}", use: calls.actInPortal)
  }
}
