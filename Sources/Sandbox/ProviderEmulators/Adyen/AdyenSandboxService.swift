package import AcquirerSandbox
import ApplePayToken
package import Hummingbird
import Storage
import StrictJSON
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
  let calls: ProviderCalls
  let faults = ProviderFaults(
    ProviderFault.ofCalls + [.answerLate, .inProgress, .eventsTogether] + ProviderFault.ofEvents)

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - tokenRootPEM: the root of the payment tokens that it accepts.
  ///   - silence: how long a call hangs that gets no answer; longer than any client waits.
  package init(
    databasePath: String, tokenRootPEM: String, accounts: [AdyenAccount] = [.sandbox], clock: WallClock = .system,
    random: RandomBytes = .system, silence: Duration = .seconds(40)
  ) async throws {
    store = try await AdyenStore(path: databasePath, clock: clock, random: random)
    keys = ProviderKeys(
      database: store.database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    self.accounts = accounts
    calls = ProviderCalls(silence: silence)
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
    let due = try await store.dueEvents()
    if let first = due.first, faults.take(.eventsTogether) {
      let together = due.filter { $0.url == first.url }
      let isDelivered = await delivery.post(first.url, "", try Self.body(together))
      for event in together { try await store.record(event, isDelivered: isDelivered) }
    }
    try await store.deliver(faults) { event in
      guard let body = try? Self.body([event]) else { return nil }
      return await delivery.post(event.url, "", body)
    }
  }

  private func account(_ merchantAccount: String) -> AdyenAccount? {
    accounts.first { $0.merchantAccount == merchantAccount }
  }

  /// One event a call, as Adyen sends JSON, unless a fault wants it otherwise.
  private static func body(_ events: [DueEvent]) throws -> [UInt8] {
    let items = try events.map { JSONValue.object(["NotificationRequestItem": try JSONReader.read($0.bytes)]) }
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
