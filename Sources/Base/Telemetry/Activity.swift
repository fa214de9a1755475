import HTTPTransport
import Synchronization
package import TenderPayments
import Tracing

/// One thing that the server does from its beginning to its end: it answers a call, delivers a webhook, recovers an
/// operation. What is learned on the way stands in its line of the log, and on its span.
package final class Activity: Sendable {
  /// What the task works at; nil outside of ``Telemetry/begin(_:from:as:_:)``.
  @TaskLocal package static var current: Activity?

  private struct Notes {
    var facts: [Fact] = []
    var links: [TraceContext] = []
    var stages: [(name: SpanName, time: Duration)] = []
    var hasFailed = false
    var isNothing = false
    var basket: BasketID?
  }

  let telemetry: Telemetry
  private let span: (any Tracing.Span)?
  private let notes = Mutex(Notes())
  /// Where its span is; nil where it is not traced.
  package let context: TraceContext?

  init(_ telemetry: Telemetry, _ span: (any Tracing.Span)?) {
    (self.telemetry, self.span) = (telemetry, span)
    context = span.flatMap { $0.isRecording ? telemetry.position($0.context) : nil }
  }

  /// Whether what is done in it has spans.
  var isTraced: Bool { context != nil }

  /// Notes what is learned. Of two facts with one name the later counts.
  package func note(_ facts: Fact...) {
    notes.withLock { notes in
      for fact in facts {
        notes.facts.removeAll { $0.name == fact.name }
        notes.facts.append(fact)
      }
    }
  }

  /// It ends badly: also one that is not traced is exported, as one span.
  package func fail() { notes.withLock { $0.hasFailed = true } }

  package var hasFailed: Bool { notes.withLock(\.hasFailed) }

  /// It is about this basket, and its caller may see it. No fact: a basket's id is a right.
  package func concerns(_ basket: BasketID) { notes.withLock { $0.basket = basket } }

  package var basket: BasketID? { notes.withLock(\.basket) }

  /// There was nothing to do: it is neither measured nor exported.
  package func drop() { notes.withLock { $0.isNothing = true } }

  /// It goes on with what an earlier trace began.
  package func link(to earlier: TraceContext?) {
    guard let earlier, earlier.trace != context?.trace else { return }
    notes.withLock { notes in if !notes.links.contains(earlier), notes.links.count < 16 { notes.links.append(earlier) }
    }
  }

  func ended(_ stage: SpanName, after time: Duration) {
    telemetry.observe(stage, time)
    notes.withLock { notes in
      if let index = notes.stages.firstIndex(where: { $0.name == stage }) { return notes.stages[index].time += time }
      notes.stages.append((stage, time))
    }
  }

  /// What its line in the log says beside the request: a name and a value each, in a stable order.
  package var line: [(key: String, value: Fact.Value)] {
    let (facts, stages) = notes.withLock { ($0.facts, $0.stages) }
    return facts.map { ($0.name.rawValue, $0.value) } + (context.map { [("traceId", .text($0.trace))] } ?? [])
      + stages.map { ($0.name.microseconds, .number($0.time.microseconds)) }
  }

  /// - Returns: whether there was anything to do.
  func end() -> Bool {
    let notes = notes.withLock { $0 }
    guard let span, !notes.isNothing else { return !notes.isNothing }
    if span.isRecording || notes.hasFailed {
      span.attributes = SpanAttributes(notes.facts)
      for link in notes.links { span.addLink(SpanLink(context: telemetry.context(from: link), attributes: [:])) }
      if let name = notes.facts.requestName { span.operationName = name }
      if notes.hasFailed { span.setStatus(SpanStatus(code: .error)) }
    }
    span.end()
    return true
  }
}

extension SpanName {
  /// The key of its time in a line of the log: `openTokenMicroseconds`.
  package var microseconds: String {
    let words = rawValue.split(separator: "_").enumerated()
    return words.map { $0 == 0 ? String($1) : $1.capitalized }.joined() + "Microseconds"
  }
}

extension Substring {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}

extension [Fact] {
  /// `POST /applepay/payment`, where both are known.
  fileprivate var requestName: String? {
    guard case .text(let method)? = first(where: { $0.name == .method })?.value,
      case .text(let route)? = first(where: { $0.name == .route })?.value
    else { return nil }
    return "\(method) \(route)"
  }
}

extension SpanAttributes {
  init(_ facts: [Fact]) {
    self.init([:])
    for fact in facts {
      switch fact.value {
      case .text(let text): set(fact.name.attribute, value: .string(text))
      case .number(let number): set(fact.name.attribute, value: .int64(number))
      }
    }
  }
}
