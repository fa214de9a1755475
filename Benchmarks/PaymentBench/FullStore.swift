import Foundation
import LoadGenerator
import NIOCore
import TenderPayments

/// The same load on an empty store and on one that holds a year of payments, in turns.
struct FullStore: Sendable {
  let suite: Suite
  let most: Double
  private static let turns: UInt64 = 5

  func compare() async throws {
    let path = suite.house.directory + "/full/tender.db"
    let start = ContinuousClock.now
    try await FilledStore(path: path, payments: suite.filling).make()
    // As the script does before anything is measured: gigabytes on their way to the disk keep flushes waiting.
    sync()
    report("store.filling", (ContinuousClock.now - start).seconds, "s")
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    report("store.size", Double(size) / 1_048_576, "MiB")
    let full = try await ServedStore.open(suite.house, "full", binary: suite.binary)
    do { try await compare(suite, try await suite(on: full)) } catch {
      try? await full.close()
      throw error
    }
    try await full.close()
  }

  private func suite(on store: ServedStore) async throws -> Suite {
    Suite(
      house: suite.house, store: store, supply: try await PaymentSupply(suite.house, store), binary: suite.binary,
      filling: 0, length: suite.length)
  }

  private func compare(_ empty: Suite, _ full: Suite) async throws {
    try Suite.check(try await full.atRate(most / 4, .seconds(6)))
    var (without, with): ([Double], [Double]) = ([], [])
    for turn in 1...Self.turns {
      // Whoever was second is first the next time.
      if turn % 2 == 0 { with.append(try await percentile(full, turn)) }
      without.append(try await percentile(empty, turn))
      if turn % 2 == 1 { with.append(try await percentile(full, turn)) }
    }
    let (low, high) = (Self.middle(without), Self.middle(with))
    report("store.empty.p99", low, "ms")
    report("store.full.p99", high, "ms")
    report("store.full.payments", Double(suite.filling), "payments")
    report("store.ratio", high / low, "of-empty", bar: .atMost(1.2))
  }

  private func percentile(_ suite: Suite, _ turn: UInt64) async throws -> Double {
    let run = try await suite.atRate(most / 2, suite.length, seed: turn)
    try Suite.check(run)
    return run.latencies { $0 == 200 }.percentile(0.99) ?? 0
  }

  private static func middle(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
