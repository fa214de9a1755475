import Foundation
import LoadGenerator
import NIOCore
import TenderPayments

/// The most that the server does with an acquirer that answers at once, beside what its parts allow.
///
/// Parts and whole take turns, and of each the best counts: what disturbed one turn is not ours.
struct Capacity: Sendable {
  let suite: Suite
  private static let turns = 5

  private struct Turn {
    var exchange: Parts.Cost?
    var token: Parts.Cost?
    var journal: Parts.Cost?
    var outbound: Parts.Cost?
    var together: Parts.Cost?
    var free = 0.0
    var rate = 0.0
    var processor = Double.infinity
    var server = Double.infinity
    var commits = Double.infinity
    var latest = Latencies([])
  }

  /// - Returns: payments a second.
  func measure() async throws -> Double {
    var best = Turn()
    for _ in 0..<Self.turns {
      try await parts(&best)
      try await whole(&best)
    }
    printResults(best)
    return best.rate
  }

  private func parts(_ best: inout Turn) async throws {
    let parts = Parts(environment: suite.environment, store: suite.store, width: Suite.width, length: .seconds(2))
    best.free = max(best.free, await ProcessorTime.free())
    best.exchange = try await parts.exchange().better(best.exchange)
    best.token = try parts.token(suite.supply.token()).better(best.token)
    best.journal = try await parts.journal().better(best.journal)
    best.outbound = try await parts.outbound().better(best.outbound)
    best.together = try await parts.together(suite.supply.token()).better(best.together)
  }

  private func whole(_ best: inout Turn) async throws {
    let length = suite.length / Self.turns
    // When they run out the run is shorter.
    let requests = try await suite.supply.payments(Int(length.seconds * max(600, best.rate * 1.3)))
    let (own, server, commits) = (
      ProcessorTime.own, try suite.store.processorTime(), try await suite.store.commits()
    )
    let run = try await suite.store.generator.closedLoop(requests, width: Suite.width, for: length)
    try Suite.check(run)
    let count = Double(run.answers.count)
    let used = try suite.store.processorTime() - server
    let all = ProcessorTime.own - own + used
    best.processor = min(best.processor, all / count)
    best.free = max(best.free, all / run.elapsed.seconds)
    best.server = min(best.server, used / count)
    best.commits = min(best.commits, Double(try await suite.store.commits() - commits) / count)
    guard run.rate({ $0 == 200 }) > best.rate else { return }
    best.rate = run.rate { $0 == 200 }
    best.latest = run.latencies { $0 == 200 }
  }

  private func printResults(_ best: Turn) {
    let parts = [
      ("http", best.exchange), ("token", best.token), ("journal", best.journal), ("outbound", best.outbound),
      ("together", best.together),
    ]
    for (name, cost) in parts {
      guard let cost else { continue }
      report("part.\(name).rate", cost.rate, "a-second")
      report("part.\(name).processor", cost.processor * 1e6, "us")
    }
    report("machine.processors", best.free, "at-hand")
    let sum = parts.dropLast().reduce(0) { $0 + ($1.1?.processor ?? 0) }
    report("parts.sum.rate", min(best.journal?.rate ?? 0, best.free / sum), "payments/s")
    let allowed = best.together?.rate ?? .infinity
    report("payments.rate", best.rate, "payments/s")
    report("payments.processor", best.processor * 1e6, "us")
    report("payments.processor.server", best.server * 1e6, "us")
    report("payments.ratio", best.rate / allowed, "of-parts", bar: .atLeast(0.5))
    report("payments.fsyncs", best.commits, "a-payment", bar: .atMost(0.5))
    Suite.printResults("payments", best.latest)
  }
}
