package import Logging
import ServiceLifecycle
package import Storage
package import TenderPayments

/// Ends the server when the disk has failed to keep a commit: only a new process can read what the store holds.
package struct StoreMonitor: Service {
  private let database: Database
  private let scheduler: Scheduler
  private let logger: Logger

  package init(database: Database, scheduler: Scheduler, logger: Logger) {
    (self.database, self.scheduler, self.logger) = (database, scheduler, logger)
  }

  /// From a failed flush to the end of the server. The store refuses every read and write meanwhile, so nothing begins;
  /// callers under way learn that their outcome is unknown, where a connection that breaks would tell them nothing.
  private static let farewell = Duration.seconds(1)

  /// - Throws: the failure, a second after it.
  package func run() async throws {
    let failure = await cancelWhenGracefulShutdown { await database.awaitFailure() }
    // A service that returns ends the server too.
    guard let failure else { return _ = try? await gracefulShutdown() }
    logger.critical(
      "the disk has failed to keep a commit; the server ends", metadata: ["error": .string("\(failure)")])
    try await scheduler.sleep(Self.farewell)
    throw failure
  }
}
