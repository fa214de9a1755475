import Foundation
import HTTPTransport
import LoadGenerator
import NIOCore
import TenderPayments

/// `make bench-payments`: how many payments a server takes, how long they take, and what it does with too many.
///
/// The server is a process of its own; schedule, acquirer and a simulated Apple are in this one. `docs/benchmarks.md`
/// explains every figure.
///
///     PaymentBench TENDER DIRECTORY [PAYMENTS IN THE FULL STORE] [SECONDS A RUN] [PART…]
///     PaymentBench TENDER DIRECTORY engines [SECONDS A RUN]
///     PaymentBench TENDER DIRECTORY counts BASELINE [record]
///     PaymentBench TENDER DIRECTORY instructions
///     PaymentBench relay ACQUIRER
@main
struct PaymentBench {
  static func main() async {
    do { try await run(CommandLine.arguments) } catch { fail(error) }
  }

  private static func run(_ words: [String]) async throws {
    guard words.count >= 3 else {
      throw BenchFailure("PaymentBench TENDER DIRECTORY [PAYMENTS IN THE FULL STORE] [SECONDS A RUN] [PART…]")
    }
    if words[1] == "relay" { return try await RelayServer.run(acquirer: words[2]) }
    let client = try LiveHTTPClient()
    let environment = try await BenchEnvironment(words[2], client.sender)
    switch words.dropFirst(3).first {
    case "engines": try await compareEngines(environment, words)
    case "counts" where words.count > 4: try await count(environment, words)
    case "instructions": try await Instructions(environment: environment, binary: words[1]).run()
    default: try await measure(environment, words)
    }
    exit(0)
  }

  private static func measure(_ environment: BenchEnvironment, _ words: [String]) async throws {
    let parts = try Part.chosen(words.dropFirst(5))
    let store = try await ServedStore.open(environment, "empty", binary: words[1])
    do {
      try await Suite(
        environment: environment, store: store, supply: PaymentSupply(environment, store), binary: words[1],
        filling: words.count > 3 ? Int(words[3]) ?? 0 : 0, length: length(words)
      ).run(parts)
    } catch {
      try? await store.close()
      throw error
    }
    try await store.close()
  }

  private static func compareEngines(_ environment: BenchEnvironment, _ words: [String]) async throws {
    try await Engines(
      environment: environment, binary: words[1], database: try await BenchDatabase(), length: length(words)
    ).run()
  }

  private static func count(_ environment: BenchEnvironment, _ words: [String]) async throws {
    let baseline = Baseline(path: words[4], isRecorded: words.last == "record")
    let counts = Counts(
      environment: environment, binary: words[1], database: try await BenchDatabase(), baseline: baseline)
    exit(try await counts.run() ? 0 : 1)
  }

  /// Of one measured run.
  private static func length(_ words: [String]) -> Duration { .seconds(words.count > 4 ? Int(words[4]) ?? 8 : 8) }

  private static func fail(_ error: any Error) -> Never {
    print("failed: \(error)")
    exit(1)
  }
}
