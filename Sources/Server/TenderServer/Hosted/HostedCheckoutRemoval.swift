import Gateway
import HostedCheckout
import Logging
import ServiceLifecycle
import Storage
import TenderPayments

/// Deletes hosted checkouts that ended long ago without an order: a minute after the start, then every hour. Like an
/// idempotency key, none is deleted while the clock may be wrong.
struct HostedCheckoutRemoval: Service {
  let database: Database
  let clock: WallClock
  let isClockRight: @Sendable () -> Bool
  let scheduler: Scheduler
  let logger: Logger

  private static let batch = 500

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var pause = Duration.seconds(60)
      while !Task.isCancelled {
        do { try await scheduler.sleep(pause) } catch { return }
        do { try await removeAll() } catch {
          logger.error("old checkouts cannot be deleted", metadata: ["reason": .string("\(error)")])
        }
        pause = .seconds(3_600)
      }
    }
  }

  func removeAll() async throws {
    // Read before the clocks are compared: a clock that is set afterwards ends nothing.
    let now = clock.now()
    guard isClockRight() else { return }
    while try await database.write({ try HostedCheckout.forget(Self.batch, by: now, in: $0) }) {
      try Task.checkCancellation()
    }
  }
}

extension HostedCheckoutRemoval {
  init(_ parts: Composition) {
    let runtime = parts.runtime
    self.init(
      database: parts.database, clock: runtime.clock,
      isClockRight: { [gateway = parts.gateway] in gateway.clocksAgree },
      scheduler: runtime.scheduler, logger: runtime.logger)
  }
}
