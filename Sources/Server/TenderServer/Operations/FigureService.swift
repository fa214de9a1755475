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
  /// A step counts 17 minutes as a whole, and the newest change all the time: it works for one part of so many.
  private static let parts = 10

  let database: Database
  let scheduler: Scheduler
  let logger: Logger

  func run() async throws {
    let figures = FigureCounting(database)
    await cancelWhenGracefulShutdown {
      var (turn, failure) = (CountingTurn(), String?.none)
      while !Task.isCancelled {
        do {
          let begin = scheduler.uptime()
          let hasMore = turn.isOurs(try await figures.lastMark(), at: begin) ? try await figures.step() : false
          turn.ends(try await figures.lastMark())
          failure = nil
          let pause = max(hasMore ? Self.breath : Self.interval, (scheduler.uptime() - begin) * (Self.parts - 1))
          try await scheduler.sleep(pause)
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
