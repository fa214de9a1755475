import ApplePayToken
package import Hummingbird
import Storage
import StrictJSON
package import TenderPayments

/// The acquirer of the sandbox: it holds, takes and gives back money in a ledger of its own, so that Tender's can be
/// compared with it.
///
/// It is strict like an acquirer. A reference is done once, and a repeat gets the first answer. A cryptogram is
/// accepted once. No more is captured than was held, and no more refunded than was captured. It keeps neither a
/// device account number nor a cryptogram: the last four digits, and a keyed hash by which a cryptogram is known
/// again.
///
/// The sandbox's payment provider is the same with two differences: the card comes sealed in the payment token, which it
/// opens with keys of its own, and captures and refunds are decided later.
package struct SandboxAcquirerService: Sendable {
  let book: AcquirerBook
  let apiKeys: [String: String]
  let silence: Duration
  /// Where the calls stand: `acquirer/v1`.
  let path: String
  /// What is accepted at once and decided later.
  let later: Set<FollowUp>
  /// The provider's keys; nil for the acquirer, which sees cards.
  let keys: ProviderKeys?

  /// The acquirer.
  ///
  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - apiKeys: the merchant's name by API key; the key also signs that merchant's events.
  ///   - silence: how long a call hangs that is scripted to get no answer; longer than any client waits.
  ///   - profile: what it makes of repeats.
  package init(
    databasePath: String, apiKeys: [String: String], clock: WallClock = .system, random: RandomBytes = .system,
    silence: Duration = .seconds(40), profile: IdempotencyProfile = .strict
  ) async throws {
    book = try await AcquirerBook(
      database: try await Database.sqlite(path: databasePath, migrations: AcquirerBook.migrations, clock: clock),
      random: random, profile: profile)
    (self.apiKeys, self.silence, path, later, keys) = (apiKeys, silence, "acquirer/v1", [], nil)
  }

  /// The provider.
  ///
  /// - Parameter tokenRootPEM: the root of the payment tokens that it believes.
  package init(
    providerDatabasePath: String, tokenRootPEM: String, apiKeys: [String: String], clock: WallClock = .system,
    random: RandomBytes = .system, silence: Duration = .seconds(40)
  ) async throws {
    book = try await AcquirerBook(
      database: try await Database.sqlite(
        path: providerDatabasePath, migrations: AcquirerBook.migrations, clock: clock), random: random)
    keys = ProviderKeys(
      book: book, verifier: TokenVerifier(trust: try .simulated(rootPEM: tokenRootPEM)), clock: clock)
    (self.apiKeys, self.silence, path, later) = (apiKeys, silence, "provider/v1", [.capture, .refund])
  }

  package func close() async { await book.database.close() }

  /// A signing request for the certificate that a merchant's payment tokens are to be sealed to; provider only.
  package func certificateRequest(for merchantIdentifier: String) async throws -> String? {
    try await keys?.request(for: merchantIdentifier)
  }

  /// Decides what has been pending for so long, and posts the events that are due. Whoever runs the sandbox calls it
  /// again and again.
  package func deliverEvents(after delay: Duration = .seconds(2), by delivery: EventDelivery) async throws {
    let names = Dictionary(apiKeys.map { ($0.value, $0.key) }) { first, _ in first }
    try await book.tell(after: delay, by: delivery) { names[$0] }
  }

  func read(_ body: JSONField) async throws -> (HoldRequest, refusal: String?) {
    guard let keys else { return (try HoldRequest(body), nil) }
    return try await keys.hold(body)
  }

  /// Adds the calls, all below `/acquirer/v1`, or `/provider/v1`.
  package func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = AcquirerCalls<Context>(service: self)
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
