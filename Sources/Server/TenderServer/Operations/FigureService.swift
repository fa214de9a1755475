import Ledger
import Logging
import ServiceLifecycle
import Storage
import TenderPayments

/// Counts the payments for the back office's charts, some seconds after they change.
struct FigureService: Service {
  private static let interval: Duration = .seconds(2)
  /// Between two steps, so that payments come first.
  private static let breath: Duration = .milliseconds(20)

  let database: Database
  let scheduler: Scheduler
  let logger: Logger

  func run() async throws {
    let figures = FigureCounting(database)
    await cancelWhenGracefulShutdown {
      var failure: String?
      while !Task.isCancelled {
        do {
          let hasMore = try await figures.step()
          failure = nil
          try await scheduler.sleep(hasMore ? Self.breath : Self.interval)
        } catch is CancellationError { return } catch {
          let text = "\(error)"
          if text != failure { logger.error("payments were not counted", metadata: ["reason": .string(text)]) }
          failure = text
          guard (try? await scheduler.sleep(Self.interval)) != nil else { return }
        }
      }
    }
  }
}
