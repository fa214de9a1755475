import Gateway
import Logging
import ServiceLifecycle
import Synchronization
import TenderPayments

/// When something was last done. It counts the time in which the machine ran, not the clock's: that may be set, and a
/// simulation's goes on by months.
final class LastRun: Sendable {
  private let clock: WallClock
  private let scheduler: Scheduler
  private let last = Mutex<Duration?>(nil)

  init(clock: WallClock, scheduler: Scheduler) { (self.clock, self.scheduler) = (clock, scheduler) }

  func note() { last.withLock { $0 = scheduler.uptime() } }
  /// So long ago, by the clock of now.
  var time: Timestamp? {
    last.withLock(\.self).map { clock.now().adding($0 - scheduler.uptime()) }
  }
}

/// Runs recovery in three loops, so that none waits for the others' acquirer calls.
struct RecoveryService: Service {
  let gateway: PaymentGateway
  let metrics: Metrics
  let lastRun: LastRun
  let logger: Logger

  func run() async throws { await cancelWhenGracefulShutdown { await keepRecovering() } }

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
