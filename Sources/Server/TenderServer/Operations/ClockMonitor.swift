import Gateway
import Logging
import ServiceLifecycle
import TenderPayments

/// Logs when the time of day has been set so far that recovery ends no hold and forgets no idempotency key, and when it
/// resumes.
struct ClockMonitor: Service {
  let gateway: PaymentGateway
  let scheduler: Scheduler
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var agreed = true
      while !Task.isCancelled {
        let agree = gateway.clocksAgree
        if agree != agreed { note(agree) }
        agreed = agree
        do { try await scheduler.sleep(.seconds(10)) } catch { return }
      }
    }
  }

  private func note(_ agree: Bool) {
    let lead: Logger.Metadata = ["leadSeconds": .stringConvertible(gateway.clockLead.components.seconds)]
    if agree {
      return logger.notice("the clock is right again: holds end and idempotency keys are forgotten", metadata: lead)
    }
    logger.error(
      "the clock was set: until it is right, or the server starts again, no hold ends and no idempotency key is forgotten",
      metadata: lead)
  }
}
