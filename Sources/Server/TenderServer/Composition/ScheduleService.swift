import Logging
import PlatformAPI
import ServiceLifecycle
import TenderPayments

/// Charges the agreements whose merchants leave it to Tender.
struct ScheduleService: Service {
  let schedule: AgreementScheduler
  let metrics: Metrics
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await schedule.keepCharging { outcome in
        switch outcome {
        case .success(let report): note(report)
        case .failure(let error):
          logger.error("no agreement is charged by its schedule", metadata: ["error": .string("\(error)")])
        }
      }
    }
  }

  func note(_ report: ScheduleReport) {
    for (outcome, count) in report.counts { metrics.scheduled.count(["outcome": outcome.rawValue], by: Int64(count)) }
    for failure in report.failures {
      metrics.scheduled.count(["outcome": "refused"])
      logger.error(
        "an agreement is due and cannot be charged",
        metadata: ["agreement": .string(failure.agreement.rawValue), "error": .string("\(failure.error)")])
    }
  }
}
