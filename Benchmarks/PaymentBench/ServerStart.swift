import LoadGenerator
import TenderPayments

/// How soon a server listens on a store that has payments, and what memory it has when it has done nothing for a while.
///
/// Of both the middle start counts.
struct ServerStart: Sendable {
  private static let starts = 5
  private static let idleness: Duration = .seconds(2)

  let suite: Suite
  /// The store's folder, below the environment's directory.
  var name = "start"
  /// Begins the names of the figures.
  var prefix = ""

  func measure() async throws {
    try await suite.withServer(name) { try await $0.warmUp() }
    var (times, memory, own): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<Self.starts {
      let store = try await ServedStore.open(suite.environment, name, binary: suite.binary)
      times.append(store.start.seconds * 1_000)
      try await Task.sleep(for: Self.idleness)
      memory.append(try store.residentMemory(.all) / 1e6)
      own.append(try store.residentMemory(.own) / 1e6)
      try await store.close()
    }
    report(prefix + "start.listening", times.middle, "ms", bar: .atMost(200))
    report(prefix + "idle.memory", memory.middle, "MB", bar: .atMost(60))
    report(prefix + "idle.memory.own", own.middle, "MB")
  }
}
