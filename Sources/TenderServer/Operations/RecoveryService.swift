import Gateway
import Logging
import ServiceLifecycle
import Storage
import TenderPayments

/// Recovery as a service of the running server: at once, and then every second.
///
/// It also ends the server when the disk has failed to keep a commit: only a process that reads the store again knows
/// what is in it.
struct RecoveryService: Service {
  let gateway: PaymentGateway
  let database: Database
  let scheduler: Scheduler
  let metrics: Metrics
  let logger: Logger

  func run() async throws {
    try await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        if let failure = database.failure { throw failure }
        await round()
        do { try await scheduler.sleep(.seconds(1)) } catch { return }
      }
    }
  }

  private func round() async {
    do { note(try await gateway.recover()) } catch {
      logger.error("recovery met trouble", metadata: ["error": .string("\(error)")])
    }
  }

  private func note(_ report: RecoveryReport) {
    guard !report.isEmpty else { return }
    let counts = [
      "settled": report.settled, "open": report.open, "captured": report.captures, "expired": report.expiries,
      "alarm": report.alarms.count,
    ]
    for (outcome, count) in counts where count > 0 {
      metrics.recovered.count(["outcome": outcome], by: Int64(count))
    }
    for payment in report.alarms {
      logger.error("a payment needs a person", metadata: ["payment": .string(payment.rawValue)])
    }
  }
}
