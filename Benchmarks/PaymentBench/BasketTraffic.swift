import LoadGenerator
import NIOCore
import TenderPayments

/// Baskets that nobody pays, at an even rate: each is stored, shown, and priced again with a coupon.
struct BasketTraffic: Sendable {
  /// As many calls in flight as there are payments.
  private static let workers = Suite.width

  let suite: Suite
  /// Baskets a second. Where the server cannot follow, there are fewer.
  let rate: Double

  /// - Returns: baskets a second.
  /// - Throws: ``BenchFailure`` when a call is refused.
  func run(for length: Duration) async throws -> Double {
    let start = ContinuousClock.now
    let baskets = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<Self.workers {
        group.addTask { try await work(from: start + .seconds(Double(worker) / rate), until: start + length) }
      }
      return try await group.reduce(0, +)
    }
    return Double(baskets) / length.seconds
  }

  private func work(from first: ContinuousClock.Instant, until end: ContinuousClock.Instant) async throws -> Int {
    let pause = Duration.seconds(Double(Self.workers) / rate)
    var (count, next) = (0, first)
    while next < end, ContinuousClock.now < end {
      try await Task.sleep(until: next, clock: .continuous)
      for call in suite.supply.basketCalls() { try await require(call) }
      (count, next) = (count + 1, next + pause)
    }
    return count
  }

  private func require(_ call: ByteBuffer) async throws {
    let status = await suite.store.generator.status(of: call)
    guard let status, (200..<300).contains(status) else {
      throw BenchFailure("a call about a basket was answered \(status.map { "\($0)" } ?? "not at all")")
    }
  }
}
