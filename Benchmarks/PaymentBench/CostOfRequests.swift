import CostFuzzer
import Foundation

/// The most processor time that a hostile request costs the server: the same requests as in the tests, all of them.
struct CostOfRequests: Sendable {
  /// Each route with each attack once, and the details by the seed.
  private static let count = 1_000

  let suite: Suite

  func measure() async throws {
    let target = try await suite.supply.costTarget()
    let costs = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try CostMeter(target).costs(of: Self.count, seed: 1) })
      }
    }
    guard let most = costs.max(by: { $0.time < $1.time }) else { throw BenchFailure("no request was sent") }
    print("the most expensive: \(most.name), answered \(most.status)")
    report("http.cost.max", most.time / .milliseconds(1), "ms", bar: .atMost(CostMeter.bar / .milliseconds(1)))
  }
}
