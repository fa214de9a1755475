import LoadGenerator
import TenderPayments

/// Payments below the highest rate, beside an acquirer that takes 50 ms.
///
/// The disk alone, a store on the disk, one in memory and a ``Relay`` take turns, to separate the disk's share of the time
/// and the scheduler's from Tender's. Of each figure the middle turn counts.
struct SlowAcquirer: Sendable {
  static let delay: Duration = .milliseconds(50)
  private static let name = "payments.acquirer-50ms"

  let suite: Suite
  let most: HighestRate.Run

  func measure() async throws {
    try await suite.environment.acquirer.answers(after: Self.delay)
    if suite.environment.hasMemory {
      try await suite.withServer("memory") { memory in
        try await memory.warmUp()
        try await compare(memory)
      }
    } else {
      print("not measured: \(Self.name).….memory.p99, because there is no folder in memory")
      try await compare(nil)
    }
    try await suite.environment.acquirer.answers(after: .zero)
  }

  private func compare(_ memory: Suite?) async throws {
    var (third, half) = (
      SlowLoad(suite, memory, share: 0.3, overDisk: 8, inMemory: 58),
      SlowLoad(suite, memory, share: 0.5, overDisk: 15, inMemory: 62)
    )
    let directory = suite.environment.directory
    var relay = try await Relay(acquirer: suite.environment.acquirer.url, log: directory + "/relay.log")
    var disk: [Flushes] = []
    for seed in 1...Turns.count {
      let alone = try await DiskFlush(directory: directory).measure(for: suite.length / 2)
      disk.append(alone)
      try await third.addTurn(most.rate, beside: alone, &relay, seed: seed)
      try await half.addTurn(most.rate, beside: alone, &relay, seed: seed)
    }
    try await relay.close()
    printResults(disk)
    for load in [third, half] { load.printResults("\(Self.name).at-\(load.share)") }
    third.onDisk.all.printThreads("wait")
    printCost(half)
  }

  private func printResults(_ disk: [Flushes]) {
    let all = Latencies(disk.flatMap { $0.times.microseconds })
    for (label, share) in [("p50", 0.5), ("p99", 0.99), ("longest", 1)] {
      report("disk.flush.\(label)", all.percentile(share) ?? .nan, "ms")
    }
    report("disk.payments.p99", disk.map(\.paymentsP99).middle, "ms")
  }

  /// Fewer payments share a commit and a wake-up, so each takes more of a processor.
  private func printCost(_ half: SlowLoad) {
    let time = half.onDisk.all.map(\.spending.serverTime).middle
    report("payments.processor.half", time * 1e6, "us")
    report("payments.processor.half.ratio", time / most.spending.serverTime, "of-the-most", bar: .atMost(1.7))
  }
}

/// One share of the highest rate, on the disk and in memory.
private struct SlowLoad: Sendable {
  let share: Double
  private let length: Duration
  /// Milliseconds above what the disk alone sets, and in memory.
  private let bars: (overDisk: Double, inMemory: Double)
  private(set) var onDisk: Turns
  private var inMemory: Turns?
  /// Milliseconds, of each turn.
  private var overDisk: [Double] = []
  private var relayed: [(idle: Relay.Turn, busy: Relay.Turn)] = []

  init(_ disk: Suite, _ memory: Suite?, share: Double, overDisk: Double, inMemory: Double) {
    (self.share, length, bars) = (share, disk.length, (overDisk, inMemory))
    (onDisk, self.inMemory) = (Turns(disk), memory.map { Turns($0) })
  }

  /// - Parameters:
  ///   - most: the highest rate.
  ///   - alone: what the disk did in the same turn with nothing else at work.
  ///   - relay: takes the same requests, with as much processor time each as the payments took.
  mutating func addTurn(
    _ most: Double, beside alone: Flushes, _ relay: inout Relay, seed: UInt64
  ) async throws {
    let rate = most * share
    let turn = try await onDisk.add(rate: rate, seed: seed)
    overDisk.append(turn.p99 - alone.paymentsP99)
    try await inMemory?.add(rate: rate, seed: seed)
    let schedule = Schedule.random(rate: rate, for: length, seed: seed)
    let idle = try await relay.measureIdle(schedule)
    relayed.append((idle, try await relay.run(schedule, processorTime: turn.spending.serverTime)))
  }

  func printResults(_ name: String) {
    onDisk.middle?.printResults(name)
    report("\(name).p99.over-disk", overDisk.middle, "ms", bar: .atMost(bars.overDisk))
    inMemory?.middle?.printResults("\(name).memory", bar: .atMost(bars.inMemory))
    report("\(name).relay.idle.p99", relayed.map(\.idle.p99).middle, "ms")
    report("\(name).relay.p99", relayed.map(\.busy.p99).middle, "ms")
    report("\(name).relay.processor", relayed.map(\.busy.processorTime).middle * 1e6, "us")
  }
}

extension Flushes {
  /// The lower limit that the disk sets, in milliseconds; not a number when the disk was not measured long enough.
  fileprivate var paymentsP99: Double { payments(acquirer: SlowAcquirer.delay).percentile(0.99) ?? .nan }
}
