import Ledger
import Logging
import ServiceLifecycle
import Storage
import TenderPayments

/// Counts the payments for the back office's charts, some seconds after they change.
struct FigureService: Service {
  private static let interval: Duration = .seconds(2)
  /// Between two pieces of work, so that payments come first: several times as long as a piece takes.
  private static let breath: Duration = .milliseconds(60)
  /// How long it pauses after a step, as a multiple of the step's work. While payments are made, the stretch of the last
  /// 17 minutes is counted anew and anew.
  private static let rest = (stretch: 40, backlog: 9)

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
          let isOurs = turn.isOurs(try await figures.lastMark(), at: begin)
          let (step, rested) = isOurs ? try await step(figures, &turn) : (.nothingNew, .zero)
          turn.ends(try await figures.lastMark())
          failure = nil
          try await scheduler.sleep(Self.pause(after: step, scheduler.uptime() - begin - rested))
        } catch is CancellationError { return } catch {
          let text = "\(error)"
          if text != failure { logger.error("payments were not counted", metadata: ["reason": .string(text)]) }
          failure = text
          guard (try? await scheduler.sleep(Self.interval)) != nil else { return }
        }
      }
    }
  }

  private func step(
    _ figures: FigureCounting, _ turn: inout CountingTurn
  ) async throws -> (FigureCounting.Step, rested: Duration) {
    var rested = Duration.zero
    let step = try await figures.step {
      if turn.mustRenew(at: scheduler.uptime()) { try await figures.renewTurn() }
      try await scheduler.sleep(Self.breath)
      rested += Self.breath
    }
    return (step, rested)
  }

  /// - Parameter time: of the step's work.
  private static func pause(after step: FigureCounting.Step, _ time: Duration) -> Duration {
    switch step {
    case .nothingNew: interval
    // Sooner than another process takes over.
    case .stretch: min(max(interval, time * rest.stretch), .seconds(20))
    case .backlog: max(breath, time * rest.backlog)
    }
  }
}
