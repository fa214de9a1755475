import Foundation
import LoadGenerator
import TenderPayments
import TenderTesting

/// Instructions that the server executes outside of the kernel for a payment, under valgrind: a number that hardly depends
/// on the machine, and says which functions they are in.
///
/// One payment after the other, fifty times as slow as without valgrind.
struct Instructions: Sendable {
  static let payments = 200

  let environment: BenchEnvironment
  /// Starts the server under valgrind's callgrind, in its own process.
  let binary: String

  /// Leaves the counts in callgrind's first dump.
  func run() async throws {
    let store = try await ServedStore.open(environment, "file", binary: binary)
    let supply = try await PaymentSupply(environment, store)
    try await pay(Self.payments / 4, supply, store)
    let requests = try await supply.payments(Self.payments)
    // What the payments before have left to be handed over and counted.
    try await Task.sleep(for: .seconds(3))
    try control("--zero", store)
    try Suite.check(try await store.generator.closedLoop(requests, width: 1, for: .seconds(300)))
    try await Task.sleep(for: .seconds(3))
    try control("--dump", store)
    try await store.close()
    report("payments", Double(Self.payments), "counted")
  }

  private func pay(_ count: Int, _ supply: PaymentSupply, _ store: ServedStore) async throws {
    let requests = try await supply.payments(count)
    try await store.generator.warm(1)
    try Suite.check(try await store.generator.closedLoop(requests, width: 1, for: .seconds(300)))
  }

  private func control(_ command: String, _ store: ServedStore) throws {
    let (status, output) = try ChildProcess.run(["callgrind_control", command, "\(store.process.id)"])
    guard status == 0, String(decoding: output, as: UTF8.self).contains("OK") else {
      throw BenchFailure("callgrind_control \(command) failed: \(String(decoding: output, as: UTF8.self))")
    }
  }
}
