import LoadGenerator
import TenderPayments

/// Payments that are captured when they are authorized: one call to the acquirer more each, and what has to be kept of it.
struct CapturedAtOnce: Sendable {
  let suite: Suite
  let most: Double
  private static let turns = 3

  func measure() async throws {
    var (best, commits) = (0.0, 0.0)
    for _ in 0..<Self.turns {
      let length = suite.length / Self.turns
      let requests = try await suite.supply.payments(Int(length.seconds * most), capture: .immediate)
      let before = try await Spending.Reading(suite.store)
      let run = try await suite.store.generator.closedLoop(requests, width: Suite.width, for: length)
      try Suite.check(run)
      guard run.rate({ $0 == 200 }) > best else { continue }
      best = run.rate { $0 == 200 }
      commits = before.spending(until: try await Spending.Reading(suite.store), for: run).commits
    }
    report("payments.immediate.rate", best, "payments/s")
    report("payments.immediate.fsyncs", commits, "a-payment")
    report("payments.immediate.ratio", best / most, "of-captured-later")
  }
}
