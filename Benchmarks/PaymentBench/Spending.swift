import LoadGenerator
import TenderTesting

/// What a run takes of the machine, and what the machine takes from the run.
struct Spending: Sendable {
  /// Processors that the server kept busy.
  let server: Double
  /// Those of the generator and the acquirer, which share the machine.
  let generator: Double
  /// The share of the machine's processors that its host gave to others meanwhile.
  let stolen: Double
  /// Durable commits a payment.
  let commits: Double
  /// Seconds of a processor that the server took for a payment.
  let serverTime: Double
  /// The same with the generator and the acquirer.
  let allTime: Double
  /// The server's threads, by name.
  let threads: [String: ThreadTimes.Times]

  func printResults(_ name: String) {
    report("\(name).processors.server", server, "busy")
    report("\(name).processors.generator", generator, "busy")
    report("\(name).processors.stolen", stolen, "of-machine")
    report("\(name).fsyncs", commits, "a-payment")
  }

  /// What the clocks and counters say at one moment.
  struct Reading: Sendable {
    private let own: Double
    private let server: Double
    private let stolen: Double
    private let commits: Int
    private let threads: ThreadTimes

    init(_ store: ServedStore) async throws {
      commits = try await store.commits()
      threads = ThreadTimes(of: store.process.id)
      (own, server, stolen) = (ProcessorTime.own, try store.processorTime(), try ProcessorTime.stolen())
    }

    func spending(until end: Reading, for run: LoadReport) -> Spending {
      let (seconds, count) = (run.elapsed.seconds, Double(run.answers.count))
      let (served, generated) = (end.server - server, end.own - own)
      return Spending(
        server: served / seconds, generator: generated / seconds,
        stolen: (end.stolen - stolen) / seconds / Double(ProcessorTime.count),
        commits: Double(end.commits - commits) / count, serverTime: served / count,
        allTime: (served + generated) / count, threads: end.threads.since(threads))
    }
  }
}
