import Foundation
import LoadGenerator
import NIOCore
import TenderPayments
import TenderTesting

/// The runs, one after another.
struct Suite: Sendable {
  static let width = 64

  let environment: BenchEnvironment
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
    try await CapturedAtOnce(suite: self, most: most).measure()
    try await SlowAcquirer(suite: self, most: most).measure()
    try await Overload(suite: self, most: most).measure()
    try await Burst(suite: self, most: most).measure()
    try await standstill()
    if filling > 0 { try await FullStore(suite: self, most: most).compare() }
    try await CostOfRequests(suite: self).measure()
    try await checkApprovals()
  }

  /// Nothing of it counts: the first payments open connections, compile statements and grow the file.
  private func warmUp() async throws {
    try await store.generator.warm(Self.width)
    let report = try await store.generator.closedLoop(
      try await supply.payments(600), width: Self.width, for: .seconds(30))
    try Self.check(report)
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

  /// The acquirer approved each order once.
  private func checkApprovals() async throws {
    let (all, doubles) = try await environment.acquirer.approvals()
    report("payments.approved", Double(all), "payments")
    report("payments.charged-twice", Double(doubles), "payments")
    guard doubles == 0 else { throw BenchFailure("the acquirer was asked twice for the same order") }
  }
}

extension Suite {
  /// The same runs on another store.
  func on(_ store: ServedStore) async throws -> Suite {
    Suite(
      environment: environment, store: store, supply: try await PaymentSupply(environment, store), binary: binary,
      filling: 0,
      length: length)
  }

  /// An open-loop run of payments that come as shoppers do.
  func atRate(_ rate: Double, _ length: Duration, seed: UInt64) async throws -> (LoadReport, Spending) {
    let schedule = Schedule.random(rate: rate, for: length, seed: seed)
    let requests = try await supply.payments(schedule.offsets.count)
    try await store.generator.warm(4 * Self.width)
    let before = try await Spending.Reading(store)
    let run = try await store.generator.openLoop(requests, schedule)
    return (run, before.spending(until: try await Spending.Reading(store), for: run))
  }

  static func check(_ report: LoadReport, allowing statuses: Set<Int> = [200]) throws {
    let others = Set(report.answers.map(\.status)).subtracting(statuses)
    guard others.isEmpty, report.drops == 0 else {
      throw BenchFailure("\(report.drops) dropped, and answers that it should not have: \(others.sorted())")
    }
  }

  static func printResults(_ name: String, _ times: Latencies) {
    for (label, share) in [("p50", 0.5), ("p90", 0.9), ("p99.9", 0.999)] {
      report("\(name).\(label)", times.percentile(share) ?? 0, "ms")
    }
  }
}
