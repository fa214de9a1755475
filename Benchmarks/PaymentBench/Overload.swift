import LoadGenerator
import NIOCore
import TenderPayments

/// Twice as many payments as the server can take: it refuses some at once, and takes the others as fast as ever. A drop
/// fails it. The best of some turns counts, as for the most that it is compared with.
struct Overload: Sendable {
  let suite: Suite
  let most: Double

  private static let turns: UInt64 = 3

  func measure() async throws {
    var runs: [LoadReport] = []
    for turn in 1...Self.turns { runs.append(try await self.turn(seed: turn + 1)) }
    guard let best = runs.max(by: { $0.goodput < $1.goodput }) else { return }
    tell(best)
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

  private func tell(_ run: LoadReport) {
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

extension LoadReport {
  /// Payments a second.
  fileprivate var goodput: Double { rate { $0 == 200 } }

  fileprivate var refused: [Answer] { answers.filter { $0.status == 503 } }
}
