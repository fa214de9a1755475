public import Hummingbird
import Storage
public import TenderPayments

/// The acquirer of the sandbox: it holds, takes and gives back money in a ledger of its own, so that Tender's can be
/// compared with it.
///
/// It is strict like an acquirer. A reference is done once, and a repeat gets the first answer. A cryptogram is
/// accepted once. No more is captured than was held, and no more refunded than was captured. It keeps neither a
/// device account number nor a cryptogram: the last four digits, and a keyed hash by which a cryptogram is known
/// again.
public struct SandboxAcquirerService: Sendable {
  let book: AcquirerBook
  let apiKeys: [String: String]
  let silence: Duration

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - apiKeys: the merchant's name by API key.
  ///   - silence: how long a call hangs that is scripted to get no answer; longer than any client waits.
  public init(
    databasePath: String, apiKeys: [String: String], clock: WallClock = .system, random: RandomBytes = .system,
    silence: Duration = .seconds(40)
  ) async throws {
    let database = try await Database.sqlite(path: databasePath, migrations: AcquirerBook.migrations, clock: clock)
    self.book = try await AcquirerBook(database: database, random: random)
    self.apiKeys = apiKeys
    self.silence = silence
  }

  public func close() async { await book.database.close() }

  /// Adds the acquirer's calls, all below `/acquirer/v1`.
  public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = AcquirerCalls<Context>(service: self)
    router.group("acquirer/v1")
      .post("authorizations", use: calls.authorize)
      .get("authorizations", use: calls.list)
      .post("authorizations/{name}/captures", use: calls.capture)
      .post("authorizations/{name}/voids", use: calls.void)
      .post("authorizations/{name}/refunds", use: calls.refund)
      .post("authorizations/{name}/reversal", use: calls.reverse)
      .get("operations/{name}", use: calls.inquire)
      .get("report", use: calls.report)
  }
}
