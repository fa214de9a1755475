import Gateway
import Logging
import ServiceLifecycle
import Storage
import Synchronization
import TenderPayments

/// When something was last done.
final class LastRun: Sendable {
  private let clock: WallClock
  private let last = Mutex<Timestamp?>(nil)

  init(clock: WallClock) { self.clock = clock }

  func note() { last.withLock { $0 = clock.now() } }
  var time: Timestamp? { last.withLock(\.self) }
}

/// Runs recovery in three loops, so that none waits for the others' acquirer calls.
///
/// Ends the server when the disk has failed to keep a commit: only a new process can read what the store holds.
struct RecoveryService: Service {
  let gateway: PaymentGateway
  let database: Database
  let metrics: Metrics
  let lastRun: LastRun
  let scheduler: Scheduler
  let logger: Logger

  /// From a failed flush to the end of the server. The store refuses every read and write meanwhile, so nothing begins;
  /// callers under way learn that their outcome is unknown, where a connection that breaks would tell them nothing.
  private static let farewell = Duration.seconds(1)

  func run() async throws {
    try await cancelWhenGracefulShutdown {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await keepRecovering() }
        group.addTask { try await endAfterFailure() }
        // The first error ends the others; waitForAll would wait for them.
        for try await _ in group {}
      }
    }
  }

  private func endAfterFailure() async throws {
    guard let failure = await database.awaitFailure() else { return }
    logger.critical(
      "the disk has failed to keep a commit; the server ends", metadata: ["error": .string("\(failure)")])
    try await scheduler.sleep(Self.farewell)
    throw failure
  }

  private func keepRecovering() async {
    await gateway.keepRecovering { round, outcome in
      switch outcome {
      case .success(let report):
        lastRun.note()
        note(report)
      case .failure(let error):
        logger.error(
          "recovery failed", metadata: ["round": .string(round.rawValue), "error": .string("\(error)")])
      }
    }
  }

  private func note(_ report: RecoveryReport) {
    guard !report.isEmpty else { return }
    let counts = [
      "settled": report.resolved, "open": report.open, "captured": report.captures, "expired": report.expiries,
      "alarm": report.alarms.count,
    ]
    for (outcome, count) in counts where count > 0 {
      metrics.recovered.count(["outcome": outcome], by: Int64(count))
    }
    for payment in report.alarms {
      logger.error("an operator must look at a payment", metadata: ["payment": .string(payment.rawValue)])
    }
  }
}
