import Foundation
import LoadGenerator
import TenderPayments

/// The highest rate beside what the parts of a payment allow.
///
/// Parts and whole take turns, and of each figure the middle turn counts.
struct Capacity: Sendable {
  let suite: Suite
  let most: HighestRate.Run
  private static let turns = 5

  fileprivate struct Turn {
    /// Processors that the machine gives us.
    let free: Double
    let exchange, token, journal, outbound, together: Parts.Cost
    /// Payments a second.
    let rate: Double
  }

  func measure() async throws {
    var turns: [Turn] = []
    for _ in 0..<Self.turns { turns.append(try await turn()) }
    printResults(turns)
  }

  private func turn() async throws -> Turn {
    let parts = Parts(
      environment: suite.environment, store: suite.store, width: Suite.width, length: suite.length / 4)
    return Turn(
      free: await ProcessorTime.free(), exchange: try await parts.exchange(),
      token: try parts.token(suite.supply.token()), journal: try await parts.journal(),
      outbound: try await parts.outbound(), together: try await parts.together(suite.supply.token()),
      rate: try await HighestRate(suite: suite, length: suite.length / 2).measure(expecting: most.rate * 0.9).rate)
  }

  private func printResults(_ turns: [Turn]) {
    let parts: [(String, KeyPath<Turn, Parts.Cost>)] = [
      ("http", \.exchange), ("token", \.token), ("journal", \.journal), ("outbound", \.outbound),
      ("together", \.together),
    ]
    for (name, part) in parts {
      report("part.\(name).rate", turns.map { $0[keyPath: part].rate }.middle, "a-second")
      report("part.\(name).processor", turns.map { $0[keyPath: part].processor }.middle * 1e6, "us")
    }
    report("machine.processors", turns.map(\.free).middle, "at-hand")
    report("parts.sum.rate", turns.map(\.sum).middle, "payments/s")
    report("payments.ratio", turns.map { $0.rate / $0.together.rate }.middle, "of-parts", bar: .atLeast(0.7))
  }
}

extension Capacity.Turn {
  /// Payments a second, as the sum of the parts' processor time allows.
  fileprivate var sum: Double {
    let time = [exchange, token, journal, outbound].reduce(0) { $0 + $1.processor }
    return min(journal.rate, free / time)
  }
}
