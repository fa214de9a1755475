import ApplePayToken
package import Hummingbird
import Storage
import StrictJSON
package import TenderPayments

/// The sandbox's acquirer: it authorizes, captures and refunds in a ledger of its own, with which Tender's can be
/// compared.
///
/// A reference is executed once, and a repeat gets the first answer. A cryptogram is accepted once. No more is captured
/// than was held, and no more refunded than was captured. It stores neither device account numbers nor cryptograms, but
/// the last four digits and a keyed hash that recognizes a cryptogram.
///
/// The sandbox's payment provider differs in two things: it receives the payment token and decrypts it with keys of its
/// own, and it resolves captures and refunds later.
package struct SandboxAcquirerService: EventSource {
  let store: AcquirerStore
  let apiKeys: [String: String]
  let silence: Duration
  /// The path of the calls: `acquirer/v1`.
  let path: String
  /// The operations that are accepted at once and resolved later.
  let later: Set<FollowUp>
  /// The provider's keys; nil for the acquirer, which sees cards.
  let keys: ProviderKeys?

  /// The acquirer.
  ///
  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - apiKeys: the merchant's name by API key; the key also signs that merchant's events.
  ///   - silence: how long a call hangs that is scripted to get no answer; longer than any client waits.
  ///   - profile: how it answers repeats.
  package init(
    databasePath: String, apiKeys: [String: String], clock: WallClock = .system, random: RandomBytes = .system,
    silence: Duration = .seconds(40), profile: IdempotencyProfile = .strict
  ) async throws {
    store = try await AcquirerStore(path: databasePath, clock: clock, random: random, profile: profile)
    (self.apiKeys, self.silence, path, later, keys) = (apiKeys, silence, "acquirer/v1", [], nil)
  }

  /// The provider.
  ///
  /// - Parameter tokenRootPEM: the root of the payment tokens that it accepts.
  package init(
    providerDatabasePath: String, tokenRootPEM: String, apiKeys: [String: String], clock: WallClock = .system,
    random: RandomBytes = .system, silence: Duration = .seconds(40)
  ) async throws {
    store = try await AcquirerStore(path: providerDatabasePath, clock: clock, random: random)
    keys = ProviderKeys(
      database: store.database, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    (self.apiKeys, self.silence, path, later) = (apiKeys, silence, "provider/v1", [.capture, .refund])
  }

  package func close() async { await store.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are encrypted to; provider only.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String? {
    try await keys?.request(for: merchantIdentifier)
  }

  /// Resolves what has been pending for longer than `delay`, and posts the events that are due. ``EventService`` calls
  /// it repeatedly.
  package func deliverEvents(after delay: Duration, by delivery: EventDelivery) async throws {
    let names = Dictionary(apiKeys.map { ($0.value, $0.key) }) { first, _ in first }
    try await store.resolve(olderThan: delay)
    try await store.deliver(ProviderFaults([])) { event in
      guard let key = names[event.account] else { return nil }
      return await delivery.post(event.url, EventSignature.header(event.bytes, at: event.now, key), event.bytes)
    }
  }

  func read(_ body: JSONField) async throws -> (HoldRequest, refusal: String?) {
    guard let keys else { return (try HoldRequest(body), nil) }
    return try await keys.hold(body)
  }

  /// Adds the calls, all below `/acquirer/v1`, or `/provider/v1`.
  package func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = AcquirerRoutes<Context>(service: self)
    let group = router.group(RouterPath(path))
    group.post("authorizations", use: calls.authorize)
      .get("authorizations", use: calls.list)
      .post("authorizations/{name}/captures", use: calls.capture)
      .post("authorizations/{name}/voids", use: calls.void)
      .post("authorizations/{name}/refunds", use: calls.refund)
      .post("authorizations/{name}/reversal", use: calls.reverse)
      .get("operations/{name}", use: calls.inquire)
      .get("report", use: calls.report)
      .put("event-endpoint", use: calls.sendEvents)
    if keys != nil { group.post("certificate-requests", use: calls.requestCertificate) }
  }
}

extension SandboxAcquirerService: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { transaction in
      try transaction.rows(
        """
        SELECT operations.*, holds.card_suffix FROM operations
        JOIN holds ON holds.acquirer_reference = operations.hold
        ORDER BY operations.created_at DESC LIMIT $1
        """, .integer(limit)
      ).map { row in
        let code = try row.text("response_code")
        return RecentOperation(
          time: try row.time("created_at"), reference: try row.text("reference"), kind: try row.text("kind"),
          amount: try row.amount(), cardSuffix: try row.text("card_suffix"), result: "response code \(code)",
          isRefused: !["00", "09", "10"].contains(code))
      }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await store.recentEvents(limit: limit) { bytes in
      let body = JSONField(try JSONReader.read(bytes))
      return (try body.member("reference").string, try body.member("result").string)
    }
  }
}
