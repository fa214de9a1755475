import ApplePayToken
import Logging
package import MerchantIdentity
import Settings
import Synchronization
import TenderPayments

/// The merchants of a running server: one immutable snapshot, which everybody asks at the moment of a call and which a
/// reload replaces in one assignment.
final class LiveMerchants: Sendable {
  /// Tasks inherit it: what outlasts a call must not begin in one.
  @TaskLocal private static var ofCall: MerchantsSnapshot?

  private let reader: MerchantsReader
  private let keys: ProcessingKeys
  private let secrets: LiveSecrets
  private let newest: Mutex<MerchantsSnapshot>
  /// The last that reads the merchants, or waits for its turn.
  private let lastTurn = Mutex<Task<Void, Never>?>(nil)

  /// Reads the merchants, and adds their processing keys.
  ///
  /// - Throws: when a folder is not as it must be.
  init(_ reader: MerchantsReader, _ keys: ProcessingKeys, _ secrets: LiveSecrets) async throws {
    let first = try await reader.read(requiresFolders: true)
    try await keys.add(first.folders, first.platform.certificates)
    (self.reader, self.keys, self.secrets) = (reader, keys, secrets)
    newest = Mutex(first)
    first.served.report(to: reader.logger)
  }

  /// The merchants that the public call under way began with; the newest where there is none.
  var current: MerchantsSnapshot { Self.ofCall ?? newest.withLock(\.self) }

  /// Answers a call, which sees the merchants as they are now for as long as it takes, however often it asks.
  func keep<Answer>(while answer: () async throws -> Answer) async rethrows -> Answer {
    try await Self.$ofCall.withValue(newest.withLock(\.self), operation: answer)
  }

  /// Reads the merchants again, from their folders and the store: merchants, domains, certificates, API keys, processing
  /// keys, webhooks, rules of routes; and the secrets of routes and TLS.
  ///
  /// - Throws: when a folder or a secret is not as it must be. Then everything stays as it was.
  func reload() async throws -> ReloadReport {
    try await inTurn { [self] in
      let new = try secrets.read()
      var report = try await readAgain(requiresFolders: true)
      secrets.use(new)
      report.needRestart = new.needRestart
      return report
    }
  }

  /// Reads the merchants again if another node, or time, has changed what the store says of them. A folder that is not
  /// as it must be does not stop that: the declared merchants stay as they were.
  ///
  /// - Returns: nil when nothing has changed.
  @discardableResult
  func reloadIfChanged() async throws -> ReloadReport? {
    try await inTurn { [self] in
      let known = newest.withLock(\.fingerprint)
      return try await reader.fingerprint() == known ? nil : try await readAgain(requiresFolders: false)
    }
  }

  /// One at a time: otherwise one that began earlier could put back what it had read before a change.
  private func inTurn<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) async throws -> R {
    let task = lastTurn.withLock { last in
      let task = Task { [last] in
        await last?.value
        return try await work()
      }
      last = Task { _ = await task.result }
      return task
    }
    return try await task.value
  }

  private func readAgain(requiresFolders: Bool) async throws -> ReloadReport {
    let former = newest.withLock(\.self)
    let new = try await reader.read(after: former, requiresFolders: requiresFolders)
    // First, so that nobody sees a merchant without its keys.
    let addedKeys = try await keys.add(new.folders, new.platform.certificates)
    newest.withLock { $0 = new }
    new.served.report(to: reader.logger, after: former.served)
    return ReloadReport(
      merchants: new.folders.count, domains: new.folders.map(\.merchant.sites.count).reduce(0, +),
      addedKeys: addedKeys, leftOut: new.served.leftOut)
  }
}

/// What a server has after it read the merchants' folders again.
package struct ReloadReport: Sendable, Hashable, Codable {
  package let merchants: Int
  package let domains: Int
  /// Processing keys that are new.
  package let addedKeys: Int
  package let leftOut: [LeftOutMerchant]
  /// Routes whose folders are new or gone, or whose `connector.yaml` is another: they wait for a restart.
  package var needRestart: [String] = []
}
