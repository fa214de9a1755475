import LoadGenerator
import TenderPayments

/// A burst of three times the measured maximum, and how long payments take afterwards.
///
/// A server that keeps a backlog of requests whose clients have given up stays slow after the burst.
struct Burst: Sendable {
  let suite: Suite
  let most: Double
  /// Of load as before, after the burst.
  private static let after: Duration = .seconds(12)

  func measure() async throws {
    let (before, burst) = (suite.length, suite.length)
    let schedule = Schedule.random(rate: most / 2, for: before, seed: 3)
      .followed(by: .random(rate: most * 3, for: burst, seed: 4))
      .followed(by: .random(rate: most / 2, for: Self.after, seed: 5))
    let requests = try await suite.supply.payments(schedule.offsets.count)
    try await suite.store.generator.warm(600)
    let run = try await suite.store.generator.openLoop(requests, schedule)
    try Suite.check(run, allowing: [200, 503])
    printResults(Window(run: run, schedule: schedule), before: before, end: before + burst)
  }

  private func printResults(_ window: Window, before: Duration, end: Duration) {
    let usual = window.p99(.zero..<before) ?? 0
    report("burst.before.p99", usual, "ms")
    report("burst.refused", window.refused(before..<end), "of-burst")
    report("burst.refused.after", window.refused(end + .seconds(1)..<end + Self.after), "of-calls")
    let watched = Int(Self.after.seconds)
    let seconds = (0..<watched).first { second in
      let start = end + .seconds(second)
      return window.p99(start..<start + .seconds(1)).map { $0 <= 1.5 * usual } ?? false
    }
    report("burst.recovery", Double(seconds ?? watched), "s", bar: .atMost(10))
  }
}

/// The answers to what was due within a stretch of time.
private struct Window {
  let run: LoadReport
  let schedule: Schedule

  /// Milliseconds, of the payments that were taken.
  func p99(_ time: Range<Duration>) -> Double? {
    Latencies(answers(time).filter { $0.status == 200 }.map(\.microseconds)).percentile(0.99)
  }

  func refused(_ time: Range<Duration>) -> Double {
    let answers = answers(time)
    return Double(answers.count { $0.status == 503 }) / Double(max(answers.count, 1))
  }

  private func answers(_ time: Range<Duration>) -> [LoadReport.Answer] {
    run.answers.filter { time.contains(schedule.offsets[$0.request]) }
  }
}
