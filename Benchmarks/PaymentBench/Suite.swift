import Foundation
import LoadGenerator
import NIOCore
import TenderPayments
import TenderTesting

/// The runs, one after another.
struct Suite: Sendable {
  static let width = 64

  let house: House
  let store: ServedStore
  let supply: PaymentSupply
  let binary: String
  /// How many payments the full store holds; 0 leaves it out.
  let filling: Int
  /// Of one measured run.
  let length: Duration

  func run() async throws {
    try await warmUp()
    let most = try await Capacity(suite: self).measure()
    try await diskAlone()
    try await besideSlowAcquirer(most)
    try await Overload(suite: self, most: most).measure()
    try await standstill()
    if filling > 0 { try await FullStore(suite: self, most: most).compare() }
    try await settleAccounts()
  }

  /// Nothing of it counts: the first payments open connections, compile statements and grow the file.
  private func warmUp() async throws {
    try await store.generator.warm(Self.width)
    let report = try await store.generator.closedLoop(
      try await supply.payments(600), width: Self.width, for: .seconds(30))
    try Self.check(report)
  }

  private func diskAlone() async throws {
    let times = try await DiskFlush(directory: house.directory).measure(for: length)
    for (label, share) in [("p50", 0.5), ("p99", 0.99), ("longest", 1)] {
      report("disk.flush.\(label)", times.percentile(share) ?? 0, "ms")
    }
  }

  private func besideSlowAcquirer(_ most: Double) async throws {
    try await house.acquirer.answers(after: .milliseconds(50))
    let run = try await atRate(most / 2, length * 2, telling: "payments.acquirer-50ms")
    try await house.acquirer.answers(after: .zero)
    try Self.check(run)
    let times = run.latencies { $0 == 200 }
    Self.tell("payments.acquirer-50ms", times)
    report("payments.acquirer-50ms.p99", times.percentile(0.99) ?? 0, "ms", bar: .atMost(65))
  }

  /// The generator's check of itself.
  private func standstill() async throws {
    let check = Standstill(stop: .seconds(2), run: .seconds(20))
    let schedule = Schedule.even(rate: 60, for: check.run)
    let requests = try await supply.payments(schedule.offsets.count)
    try await store.generator.warm(200)
    let stop = Task {
      try await Task.sleep(for: .seconds(6))
      store.process.signal(SIGSTOP)
      try await Task.sleep(for: check.stop)
      store.process.signal(SIGCONT)
    }
    let run = try await store.generator.openLoop(requests, schedule)
    try await stop.value
    try Self.check(run)
    let seen = run.latencies { $0 == 200 }.percentile(0.99) ?? 0
    report("generator.standstill.p99", seen, "ms")
    report("generator.standstill.expected", check.expected, "ms")
    guard check.shows(in: seen) else {
      throw BenchFailure("the server stood still for two seconds, and the 99th percentile does not show it")
    }
  }

  /// What was answered well is what the acquirer has approved, each order once.
  private func settleAccounts() async throws {
    let (all, doubles) = try await house.acquirer.approvals()
    report("payments.approved", Double(all), "payments")
    report("payments.charged-twice", Double(doubles), "payments")
    guard doubles == 0 else { throw BenchFailure("the acquirer was asked twice for the same order") }
  }
}

extension Suite {
  /// An open-loop run of payments that come as shoppers do.
  ///
  /// - Parameter name: under which it is told what the run took of the machine.
  func atRate(
    _ rate: Double, _ length: Duration, seed: UInt64 = 1, telling name: String? = nil
  ) async throws -> LoadReport {
    let schedule = Schedule.random(rate: rate, for: length, seed: seed)
    let requests = try await supply.payments(schedule.offsets.count)
    try await store.generator.warm(4 * Self.width)
    let spending = try await Spending(store)
    let run = try await store.generator.openLoop(requests, schedule)
    if let name { try await spending.tell(name, run) }
    return run
  }

  /// Of a run in which nothing was to be refused.
  static func check(_ report: LoadReport) throws {
    let others = Set(report.answers.map(\.status)).subtracting([200])
    guard others.isEmpty, report.drops == 0 else {
      throw BenchFailure("\(report.drops) dropped, and answers other than 200: \(others.sorted())")
    }
  }

  static func tell(_ name: String, _ times: Latencies) {
    for (label, share) in [("p50", 0.5), ("p90", 0.9), ("p99.9", 0.999)] {
      report("\(name).\(label)", times.percentile(share) ?? 0, "ms")
    }
  }
}
