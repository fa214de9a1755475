import Foundation
import LoadGenerator
import NIOCore
import TenderPayments

/// The same load on an empty store and on one that holds a year of payments, in turns.
struct FullStore: Sendable {
  let suite: Suite
  /// Payments a second.
  let most: Double

  func compare() async throws {
    let name = "full-\(suite.filling)"
    let path = "\(suite.environment.directory)/\(name)/tender.db"
    // A store of this size from an earlier run is used again: filling one with ten million payments took 44 minutes.
    if !FileManager.default.fileExists(atPath: path) { try await fill(path) }
    try await read(path)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    report("store.size", Double(size) / 1_048_576, "MiB")
    try await ServerStart(suite: suite, name: name, prefix: "store.full.").measure()
    try await suite.withServer(name) { try await compare(suite, $0) }
  }

  private func fill(_ path: String) async throws {
    let start = ContinuousClock.now
    try await FilledStore(path: path + ".filling", payments: suite.filling).make()
    try FileManager.default.moveItem(atPath: path + ".filling", toPath: path)
    // As the script does before anything is measured: gigabytes on their way to the disk keep flushes waiting.
    sync()
    report("store.filling", (ContinuousClock.now - start).seconds, "s")
  }

  private func read(_ path: String) async throws {
    let start = ContinuousClock.now
    try await FilledStore(path: path, payments: suite.filling).readIndexes()
    report("store.reading", (ContinuousClock.now - start).seconds, "s")
  }

  /// At a quarter of the most, where a payment hardly waits for another: what is compared is what a payment costs. At
  /// half of it the waiting makes much of every difference, and more of the machine's.
  private func compare(_ empty: Suite, _ full: Suite) async throws {
    try Suite.check(try await full.atRate(most / 4, .seconds(6), seed: 9).0)
    let (without, with) = try await inTurns(empty, full, rate: most / 4)
    let (withoutAtHalf, withAtHalf) = try await inTurns(empty, full, rate: most / 2)
    withoutAtHalf.printBest("store.half.empty")
    withAtHalf.printBest("store.half.full")
    report("store.half.ratio", withAtHalf.bestP99 / withoutAtHalf.bestP99, "of-empty")
    without.printBest("store.empty")
    with.printBest("store.full")
    report("store.full.payments", Double(suite.filling), "payments")
    report("store.ratio", with.bestP99 / without.bestP99, "of-empty", bar: .atMost(1.2))
  }

  private func inTurns(_ empty: Suite, _ full: Suite, rate: Double) async throws -> (empty: Turns, full: Turns) {
    var (without, with) = (Turns(empty), Turns(full))
    for seed in 1...Turns.count {
      // The order alternates, so that neither store always runs first.
      if seed % 2 == 0 { try await with.add(rate: rate, seed: seed) }
      try await without.add(rate: rate, seed: seed)
      if seed % 2 == 1 { try await with.add(rate: rate, seed: seed) }
    }
    return (without, with)
  }
}
