package import HTTPTransport
import StrictJSON
import Synchronization
package import TenderPayments

/// Where a collector takes OTLP over HTTP, and who sends.
package struct Collector: Sendable {
  let sender: HTTPSender
  /// `scheme://host[:port]`, perhaps with a path; `/v1/traces` follows.
  let endpoint: String
  let headers: [HTTPField]
  /// What the process is: its service, its address, its environment.
  let resource: [(name: String, value: String)]

  package init(
    _ endpoint: String, over sender: HTTPSender, headers: [HTTPField] = [], resource: [(name: String, value: String)]
  ) {
    (self.endpoint, self.sender, self.headers, self.resource) = (endpoint, sender, headers, resource)
  }

  /// How long one request may take.
  static let timeout: Duration = .seconds(10)

  enum Verdict: Sendable, Hashable { case taken, refused, busy }

  /// Sends one request. What the specification says to repeat, and what did not arrive, is *busy*.
  func post(_ path: String, _ body: JSONValue) async -> Verdict {
    let request = OutboundRequest(
      method: "POST", url: endpoint + path, headers: headers + [HTTPField("Content-Type", "application/json")],
      body: body.serialized())
    do throws(TransportError) {
      let answer = try await sender.send(request, Self.timeout)
      switch answer.status {
      case 200..<300: return .taken
      case 429, 502, 503, 504: return .busy
      default: return .refused
      }
    } catch { return error == .responseTooLarge ? .taken : .busy }
  }
}

/// Sends finished spans to a collector, beside the payments and never in their way.
///
/// A span that finds the queue full is dropped and counted. A batch that the collector does not take is tried again, later
/// each time, and given up after ``mostTries``; the queue fills meanwhile.
package final class SpanExport: Sendable {
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    case exported
    /// The queue was full, or the collector could not be reached for too long.
    case dropped
    /// The collector does not take it.
    case refused
  }

  /// How many wait at most.
  package static let capacity = 4_096
  private static let batch = 512
  private static let pause: Duration = .seconds(1)
  package static let mostTries = 5

  private let collector: Collector
  private let scheduler: Scheduler
  private let count: @Sendable (Outcome, Int) -> Void
  private let waiting = Mutex<[FinishedSpan]>([])

  /// - Parameter count: receives what became of spans.
  package init(
    to collector: Collector, on scheduler: Scheduler, count: @escaping @Sendable (Outcome, Int) -> Void
  ) {
    (self.collector, self.scheduler, self.count) = (collector, scheduler, count)
  }

  /// How many wait.
  package var depth: Int { waiting.withLock(\.count) }

  @Sendable package func add(_ span: FinishedSpan) {
    let isTaken = waiting.withLock { waiting in
      guard waiting.count < Self.capacity else { return false }
      waiting.append(span)
      return true
    }
    if !isTaken { count(.dropped, 1) }
  }

  /// Sends what there is, until the task is cancelled.
  package func run() async {
    while !Task.isCancelled {
      while let spans = take() { await send(spans) }
      guard (try? await scheduler.sleep(Self.pause)) != nil else { return }
    }
  }

  /// Sends what is left, once: at the end of the process.
  package func flush() async {
    while let spans = take() {
      let verdict = await collector.post("/v1/traces", OTLP.traces(spans, of: collector.resource))
      count(verdict == .taken ? .exported : .dropped, spans.count)
      guard verdict == .taken else { break }
    }
    let left = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting.count
    }
    if left > 0 { count(.dropped, left) }
  }

  private func take() -> [FinishedSpan]? {
    waiting.withLock { waiting in
      guard !waiting.isEmpty else { return nil }
      let spans = Array(waiting.prefix(Self.batch))
      waiting.removeFirst(spans.count)
      return spans
    }
  }

  private func send(_ spans: [FinishedSpan]) async {
    let body = OTLP.traces(spans, of: collector.resource)
    for attempt in 1...Self.mostTries {
      switch await collector.post("/v1/traces", body) {
      case .taken: return count(.exported, spans.count)
      case .refused: return count(.refused, spans.count)
      case .busy:
        guard attempt < Self.mostTries, (try? await scheduler.sleep(Self.pause * (1 << attempt))) != nil else {
          return count(.dropped, spans.count)
        }
      }
    }
  }
}
