import Foundation
package import Logging
import ServiceLifecycle
package import Storage
package import TenderPayments

/// Ends the process when the disk has failed to keep a commit: only a new process can read what the store holds.
///
/// The process does not wait for calls under way. Their outcomes cannot be recorded; recovery asks for them after the
/// next start.
package struct StoreMonitor: Service {
  private let database: Database
  private let scheduler: Scheduler
  private let logger: Logger
  private let endProcess: @Sendable () -> Void

  package init(
    database: Database, scheduler: Scheduler, logger: Logger,
    endProcess: @escaping @Sendable () -> Void = { exit(EXIT_FAILURE) }
  ) {
    (self.database, self.scheduler, self.logger, self.endProcess) = (database, scheduler, logger, endProcess)
  }

  /// From a failed flush to the end of the process. The store refuses every read and write meanwhile, and the listeners
  /// every new connection, so nothing begins; callers whose commit failed learn that its outcome is unknown, where a
  /// connection that breaks would tell them nothing.
  private static let farewell = Duration.seconds(1)

  /// - Throws: the failure, where `endProcess` returns.
  package func run() async throws {
    let awaited = await cancelWhenGracefulShutdown { await database.awaitFailure() }
    // Another service may have ended the group because of the failure.
    guard let failure = awaited ?? database.failure else {
      // A service that returns ends the server too.
      return _ = try? await gracefulShutdown()
    }
    logger.critical(
      "the disk has failed to keep a commit; the server ends", metadata: ["error": .string("\(failure)")])
    try? await scheduler.sleep(Self.farewell)
    endProcess()
    throw failure
  }
}
