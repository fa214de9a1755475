import LoadGenerator
import NIOCore
import TenderPayments

/// Twice as many payments as the server can take: it refuses some at once, and takes the others as fast as ever.
struct Overload: Sendable {
  let suite: Suite
  let most: Double

  func measure() async throws {
    let schedule = Schedule.random(rate: most * 2, for: suite.length, seed: 2)
    let requests = try await suite.supply.payments(schedule.offsets.count)
    try await suite.store.generator.warm(600)
    let run = try await suite.store.generator.openLoop(requests, schedule)
    let others = Set(run.answers.map(\.status)).subtracting([200, 503])
    guard others.isEmpty else { throw BenchFailure("answers other than 200 and 503: \(others.sorted())") }
    tell(run)
    try await payLater(run.answers.filter { $0.status == 503 }.map { requests[$0.request] })
  }

  private func tell(_ run: LoadReport) {
    let refused = run.answers.filter { $0.status == 503 }
    report("overload.goodput", run.rate { $0 == 200 }, "payments/s")
    report("overload.goodput.ratio", run.rate { $0 == 200 } / most, "of-most", bar: .atLeast(0.9))
    report("overload.refused", Double(refused.count) / Double(run.answers.count), "of-all")
    report("overload.drops", Double(run.drops), "calls")
    let hinted = Double(refused.count { $0.hasRetryAfter }) / Double(max(refused.count, 1))
    report("overload.retry-after", hinted, "of-refused", bar: .atLeast(refused.isEmpty ? 0 : 1))
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
