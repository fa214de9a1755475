import LoadGenerator

/// What a run takes of the machine: processors by the second, commits by the payment.
struct Spending: Sendable {
  private let store: ServedStore
  private let own: Double
  private let server: Double
  private let commits: Int

  /// Begins to count.
  init(_ store: ServedStore) async throws {
    self.store = store
    commits = try await store.commits()
    (own, server) = (ProcessorTime.own, try store.processorTime())
  }

  /// The generator's and the acquirer's processors are told apart from the server's: all of them share the machine.
  func tell(_ name: String, _ run: LoadReport) async throws {
    let (own, server) = (ProcessorTime.own - own, try store.processorTime() - server)
    let commits = Double(try await store.commits() - commits) / Double(max(run.answers.count, 1))
    report("\(name).processors.server", server / run.elapsed.seconds, "busy")
    report("\(name).processors.generator", own / run.elapsed.seconds, "busy")
    report("\(name).fsyncs", commits, "a-payment")
  }
}
