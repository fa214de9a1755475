import Acquiring
import Administration
import ApplePayToken
import BackOffice
import Gateway
import HTTPServing
import Hummingbird
package import MerchantIdentity
import Settings
import Synchronization
import TenderPayments

/// The routers of a running server, made again when the merchants' folders are read again. A call that has begun keeps
/// its merchant as it was.
final class LiveRoutes: Sendable {
  /// The middlewares of the start, for what is answered before a router is asked.
  let middlewares: Middlewares
  let publicCalls: ReplaceableResponder
  let administration: ReplaceableResponder
  let metrics: ReplaceableResponder
  /// Made once: the pages read the store at each request.
  private let madeOffice = Mutex<BackOffice?>(nil)
  private let parts: Mutex<Composition>
  /// The last that reads the merchants, or waits for its turn.
  private let lastTurn = Mutex<Task<Void, Never>?>(nil)

  init(_ parts: Composition) throws {
    let routes = try Routes(parts)
    middlewares = routes.middlewares
    publicCalls = ReplaceableResponder(routes.publicRouter())
    administration = ReplaceableResponder(routes.administrationRouter())
    metrics = ReplaceableResponder(routes.metricsRouter())
    self.parts = Mutex(parts)
    let made = OfficeParts(
      parts.aside, reload: { [weak self] in _ = try await self?.reloadIfChanged() },
      served: { [weak self] in self?.parts.withLock { $0.served } ?? parts.served }
    ).office()
    madeOffice.withLock { $0 = made }
    administration.replace(by: administrationRouter(routes))
  }

  var office: BackOffice? { madeOffice.withLock(\.self) }

  /// Reads the merchants again, from their folders and the store: merchants, domains, certificates, API keys, processing keys,
  /// webhooks, rules of routes.
  ///
  /// - Throws: when a folder is not as it must be. Then everything stays as it was.
  func reload() async throws -> ReloadReport {
    try await inTurn { try await self.readAgain(requiresFolders: true) }
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
    let new = try await parts.withLock { $0 }.reread(requiresFolders: requiresFolders)
    let routes = try Routes(new)
    let keys = try await new.keys.add(new.folders, new.platform.certificates)
    new.mailMerchants.replace(with: new.folders)
    // Last: a merchant that it has is one whose events leave the outbox.
    new.webhookEndpoints.replace(with: new.folders)
    new.gateway.routes.replaceMerchants(new.folders)
    publicCalls.replace(by: routes.publicRouter())
    administration.replace(by: administrationRouter(routes))
    metrics.replace(by: routes.metricsRouter())
    parts.withLock { $0 = new }
    return ReloadReport(
      merchants: new.folders.count, domains: new.folders.map(\.merchant.sites.count).reduce(0, +), addedKeys: keys,
      leftOut: new.served.leftOut)
  }

  /// Reads the merchants again if another node, or time, has changed what the store says of them. A folder that is not
  /// as it must be does not stop that: the declared merchants stay as they were.
  ///
  /// - Returns: nil when nothing has changed.
  func reloadIfChanged() async throws -> ReloadReport? {
    try await inTurn { [self] in
      let parts = parts.withLock { $0 }
      let now = parts.runtime.clock.now()
      let fingerprint = try await MerchantStore(parts.database, keys: nil).fingerprint(at: now)
      return fingerprint == parts.fingerprint ? nil : try await readAgain(requiresFolders: false)
    }
  }

  /// Takes over the states of processing keys that other nodes have recorded.
  func followKeys() async throws { try await parts.withLock { $0 }.keys.follow() }

  /// Retires identity certificates that another replaced a day ago.
  ///
  /// - Returns: their ids.
  func retireIdentities() async throws -> [String] {
    let parts = parts.withLock { $0 }
    return try await MerchantStore(parts.database, keys: nil).retireIdentities(
      replacedFor: ProcessingKeyRing.drainingTime, at: parts.runtime.clock.now())
  }

  private func administrationRouter(_ routes: Routes) -> Router<ServerContext> {
    let router = routes.administrationRouter()
    if let office {
      // `tender merchant`, `certificate`, `domain` and `secret`
      let merchants = MerchantAdministrationController(administration: office.services.merchants)
      router.post("/merchants/calls") { [weak self] request, context -> Response in
        var answer = try await merchants.perform(request, context)
        do { _ = try await self?.reloadIfChanged() } catch {
          answer.notes.append("the running server goes on with the merchants that it had: \(error)")
        }
        return JSONAnswer.response(answer)
      }
      // `tender user`
      router.post("/users/calls", use: UserAdministrationController(office: office).perform)
    }
    // `tender reload`
    router.post("/merchants/reload") { [weak self] _, _ -> Response in
      do {
        guard let report = try await self?.reload() else { throw CancellationError() }
        return JSONAnswer.response(report)
      } catch {
        throw Problem(.conflict, "merchants_not_read", "Nothing has changed: \(error)")
      }
    }
    return router
  }
}

/// What a server has after it read the merchants' folders again.
package struct ReloadReport: Sendable, Hashable, Codable {
  package let merchants: Int
  package let domains: Int
  /// Processing keys that are new.
  package let addedKeys: Int
  package let leftOut: [LeftOutMerchant]
}
