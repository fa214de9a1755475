import AcquirerSandbox
package import Hummingbird
import Storage
import StrictJSON
package import TenderPayments

/// An offline Worldline Acquiring: its API for card payments with network tokens, its access tokens, and a ledger of its
/// own.
///
/// Paths and bodies are Worldline's, so that Worldline's own client libraries work with it; access tokens are issued at
/// `/connect/token`. It sends no events, as Worldline does not. Below `/worldline-acquiring` are the sandbox's own calls:
/// a list, a report, and faults.
package struct WorldlineAcquiringSandbox: Sendable {
  let store: WorldlineAcquiringStore
  let accounts: [WorldlineAcquiringAccount]
  let clock: WallClock
  let calls: ProviderCalls
  let faults = ProviderFaults(
    ProviderFault.ofCalls + [.inProgress, .tokensRevoked, .clientRefused, .tokensUnavailable])
  let tokens = WorldlineAcquiringTokens()

  /// - Parameters:
  ///   - databasePath: an SQLite file of its own.
  ///   - silence: how long a call hangs that gets no answer; longer than any client waits.
  package init(
    databasePath: String, accounts: [WorldlineAcquiringAccount] = [.sandbox], clock: WallClock = .system,
    random: RandomBytes = .system, silence: Duration = .seconds(40)
  ) async throws {
    store = try await WorldlineAcquiringStore(path: databasePath, clock: clock, random: random)
    (self.accounts, self.clock, calls) = (accounts, clock, ProviderCalls(silence: silence))
  }

  package func close() async { await store.database.close() }

  /// How many access tokens were issued.
  package var issuedTokens: Int { tokens.issued }

  /// Adds Worldline's calls, and those of the sandbox below `/worldline-acquiring`.
  package func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
    let calls = WorldlineAcquiringRoutes<Context>(service: self)
    router.post("connect/token", use: calls.issueToken)
    router.get("services/v1/ping", use: calls.ping)
    router.group("processing/v1/{acquirer}/{merchant}")
      .post("payments", use: calls.pay)
      .post("account-verifications", use: calls.verifyAccount)
      .get("payments/{payment}", use: calls.payment)
      .post("payments/{payment}/captures") { try await calls.act(.capture, $0, $1) }
      .post("payments/{payment}/authorization-reversals") { try await calls.act(.reversal, $0, $1) }
      .post("payments/{payment}/increments") { try await calls.act(.increment, $0, $1) }
      .post("payments/{payment}/refunds") { try await calls.act(.refund, $0, $1) }
      .get("refunds/{refund}", use: calls.refund)
      .post("operations/{operation}/reverse", use: calls.reverse)
    router.group("worldline-acquiring")
      .post("faults", use: calls.injectFault)
      .get("payments", use: calls.list)
      .get("report", use: calls.report)
  }
}
