import LoadGenerator
import NIOCore
import TenderPayments

/// Twice as many payments as the server can take: it refuses some at once, and takes the others as fast as ever. A drop
/// fails it.
///
/// The most that it can do is measured anew right before each turn, and of both the best turn counts: this machine is
/// not the same for minutes.
struct Overload: Sendable {
  let suite: Suite
  let most: Double

  private static let turns: UInt64 = 5

  func measure() async throws {
    var runs: [LoadReport] = []
    var beside = 0.0
    for turn in 1...Self.turns {
      beside = max(beside, try await suite.most(for: suite.length / 2, atMost: most * 1.5))
      runs.append(try await self.turn(seed: turn + 1))
    }
    guard let best = runs.max(by: { $0.goodput < $1.goodput }) else { return }
    printResults(best, beside: beside)
    let refused = runs.flatMap(\.refused)
    let hinted = Double(refused.count(where: \.hasRetryAfter)) / Double(max(refused.count, 1))
    report("overload.retry-after", hinted, "of-refused", bar: .atLeast(refused.isEmpty ? 0 : 1))
  }

  private func turn(seed: UInt64) async throws -> LoadReport {
    let schedule = Schedule.random(rate: most * 2, for: suite.length, seed: seed)
    let requests = try await suite.supply.payments(schedule.offsets.count)
    try await suite.store.generator.warm(600)
    let run = try await suite.store.generator.openLoop(requests, schedule)
    try Suite.check(run, allowing: [200, 503])
    try await payLater(run.refused.map { requests[$0.request] })
    return run
  }

  private func printResults(_ run: LoadReport, beside most: Double) {
    report("overload.most", most, "payments/s")
    report("overload.goodput", run.goodput, "payments/s")
    report("overload.goodput.ratio", run.goodput / most, "of-most", bar: .atLeast(0.9))
    report("overload.refused", Double(run.refused.count) / Double(run.answers.count), "of-all")
    report("overload.refused.p50", run.latencies { $0 == 503 }.percentile(0.5) ?? 0, "ms")
    report("overload.refused.p99", run.latencies { $0 == 503 }.percentile(0.99) ?? 0, "ms", bar: .atMost(50))
    report("overload.taken.p99", run.latencies { $0 == 200 }.percentile(0.99) ?? 0, "ms")
  }

  /// Of what was refused nothing was begun: the same payment tokens pay now.
  private func payLater(_ refused: [ByteBuffer]) async throws {
    let some = Array(refused.prefix(500))
    guard !some.isEmpty else { return }
    let report = try await suite.store.generator.closedLoop(some, width: 16, for: .seconds(60))
    try Suite.check(report)
  }
}

extension Suite {
  /// Payments a second, with 64 in flight.
  ///
  /// - Parameter rate: no more than these are made ready.
  fileprivate func most(for length: Duration, atMost rate: Double) async throws -> Double {
    let requests = try await supply.payments(Int(length.seconds * rate))
    let run = try await store.generator.closedLoop(requests, width: Self.width, for: length)
    try Self.check(run)
    return run.goodput
  }
}

extension LoadReport {
  /// Payments a second.
  fileprivate var goodput: Double { rate { $0 == 200 } }

  fileprivate var refused: [Answer] { answers.filter { $0.status == 503 } }
}
