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

  func run(_ parts: [Part]) async throws {
    let warm = try await warmUp()
    let isNeeded = parts.contains(where: \.needsHighestRate)
    let most = isNeeded ? try await HighestRate(suite: self, length: longRun).measure(expecting: warm) : nil
    most?.printResults()
    for part in parts { try await part.measure(self, most) }
    try await checkApprovals()
  }

  /// Of a run at the highest rate: the store's write-ahead log begins anew several times.
  var longRun: Duration { length * 5 / 2 }

  /// Nothing of it counts: the first payments open connections, compile statements and grow the file.
  ///
  /// - Returns: payments a second, less than the server can do.
  @discardableResult
  func warmUp(payments count: Int = 600, capture: CaptureMode = .manual) async throws -> Double {
    try await store.generator.warm(Self.width)
    let report = try await store.generator.closedLoop(
      try await supply.payments(count, capture: capture), width: Self.width, for: .seconds(30))
    try Self.check(report)
    return report.rate { $0 == 200 }
  }

  /// The generator's check of itself.
  func checkGenerator() async throws {
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
  /// The same runs on another server, which ends afterwards.
  func withServer(
    _ name: String, _ options: ServerOptions = ServerOptions(), _ work: (Suite) async throws -> Void
  ) async throws {
    let store = try await ServedStore.open(environment, name, binary: binary, options)
    do {
      let supply = try await PaymentSupply(environment, store)
      try await work(
        Suite(environment: environment, store: store, supply: supply, binary: binary, filling: 0, length: length))
    } catch {
      try? await store.close()
      throw error
    }
    try await store.close()
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
