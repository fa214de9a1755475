import LoadGenerator

/// The same run several times, on one store.
///
/// The best counts, here as for the most that the server can do: a turn that something else disturbed says nothing about
/// Tender. The median is printed too, as a measure of the machine.
struct Turns: Sendable {
  static let count: UInt64 = 5

  private struct Turn: Sendable {
    let run: LoadReport
    let spending: Spending
    var times: Latencies { run.latencies { $0 == 200 } }
    /// A payment that was refused, because so much was waiting for the disk, is one that took too long.
    var p99: Double { run.count { $0 == 503 } == 0 ? times.percentile(0.99) ?? .infinity : .infinity }
  }

  private let suite: Suite
  private var turns: [Turn] = []

  init(_ suite: Suite) { self.suite = suite }

  /// - Parameter seed: of the moments at which payments are due.
  mutating func add(rate: Double, seed: UInt64) async throws {
    let (run, spending) = try await suite.atRate(rate, suite.length, seed: seed)
    try Suite.check(run, allowing: [200, 503])
    turns.append(Turn(run: run, spending: spending))
  }

  /// Milliseconds.
  var p99: Double { sorted.first?.p99 ?? .infinity }

  func printResults(_ name: String, bar: Bar? = nil) {
    guard let best = sorted.first else { return }
    best.spending.printResults(name)
    Suite.printResults(name, best.times)
    report("\(name).p99.middle", sorted[turns.count / 2].p99, "ms")
    report("\(name).p99", best.p99, "ms", bar: bar)
  }

  private var sorted: [Turn] { turns.sorted { $0.p99 < $1.p99 } }
}
