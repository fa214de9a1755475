import Acquiring
import Gateway
import Ledger
import Logging
import ServiceLifecycle
import TenderPayments

/// After a restore: asks each provider that gives a listing for what it did since the backup, until its route is open. Says
/// which routes wait for a person.
struct RestoreService: Service {
  let gateway: PaymentGateway
  let scheduler: Scheduler
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      noteClosed()
      while !Task.isCancelled {
        let pause = await adoptListings()
        do { try await scheduler.sleep(pause) } catch { return }
      }
    }
  }

  /// - Returns: how long to rest. A service that ends would end the server.
  private func adoptListings() async -> Duration {
    do {
      let routes = try await gateway.listedClosedRoutes()
      for route in routes { await ask(route) }
      return .seconds(routes.isEmpty ? 60 : 5)
    } catch {
      logger.error("the routes of the restored store cannot be read", metadata: ["error": "\(error)"])
      return .seconds(30)
    }
  }

  private func noteClosed() {
    guard let restore = gateway.journal.restore, restore.endedAt == nil else { return }
    logger.warning(
      "the store was restored: payments wait until tender restore status shows no closed route",
      metadata: ["lost from": "\(restore.lostFrom)", "restored at": "\(restore.restoredAt)"])
  }

  private func ask(_ route: String) async {
    do {
      let report = try await gateway.adoptListing(of: route)
      guard report.isOpen || report.later > 0 else { return }
      logger.notice(
        report.isOpen ? "the route is open again" : "the route stays closed: something is not decided",
        metadata: [
          "route": "\(route)", "adopted": "\(report.adopted)", "contradicted": "\(report.contradicted)",
          "later": "\(report.later)",
        ])
    } catch let error as AcquirerReport.Unavailable {
      logger.warning(
        "the provider gave no whole listing; the route stays closed",
        metadata: ["route": "\(route)", "error": "\(error.interruption.detail)"])
    } catch {
      logger.error("the listing could not be adopted", metadata: ["route": "\(route)", "error": "\(error)"])
    }
  }
}
