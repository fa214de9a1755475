import LoadGenerator

/// The same run several times, on one store.
struct Turns: Sendable {
  static let count: UInt64 = 5

  struct Turn: Sendable {
    let run: LoadReport
    let spending: Spending
    var times: Latencies { run.latencies { $0 == 200 } }
    /// Milliseconds. A payment that was refused, because so much was waiting for the disk, is one that took too long.
    var p99: Double { run.count { $0 == 503 } == 0 ? times.percentile(0.99) ?? .infinity : .infinity }
  }

  private let suite: Suite
  private(set) var all: [Turn] = []

  init(_ suite: Suite) { self.suite = suite }

  /// - Parameter seed: of the moments at which payments are due.
  @discardableResult
  mutating func add(rate: Double, seed: UInt64) async throws -> Turn {
    let (run, spending) = try await suite.atRate(rate, suite.length, seed: seed)
    try Suite.check(run, allowing: [200, 503])
    let turn = Turn(run: run, spending: spending)
    all.append(turn)
    return turn
  }

  /// By its p99.
  var middle: Turn? { all.isEmpty ? nil : sorted[all.count / 2] }

  /// Milliseconds, of the best turn: one that something else disturbed says nothing about Tender.
  var bestP99: Double { sorted.first?.p99 ?? .infinity }

  /// Of the best turn, and the middle one's p99 as a measure of the machine.
  func printBest(_ name: String) {
    guard let best = sorted.first else { return }
    best.spending.printResults(name)
    Suite.printResults(name, best.times)
    report("\(name).p99.middle", middle?.p99 ?? .nan, "ms")
    report("\(name).p99", best.p99, "ms")
  }

  private var sorted: [Turn] { all.sorted { $0.p99 < $1.p99 } }
}

extension Turns.Turn {
  /// - Parameter bar: of the p99, where it has one.
  func printResults(_ name: String, bar: Bar? = nil) {
    spending.printResults(name)
    Suite.printResults(name, times)
    report("\(name).p99", p99, "ms", bar: bar)
  }
}
