import Synchronization
package import TenderPayments
package import Tracing

/// A span that has ended.
package struct FinishedSpan: Sendable, Hashable {
  package let context: TraceContext
  /// The span that it is a part of.
  package let parent: String?
  package let name: String
  package let kind: SpanKind
  package let start: Timestamp
  package let time: Duration
  /// By the names of ``Fact``, sorted.
  package let attributes: [Attribute]
  package let links: [TraceContext]
  package let hasFailed: Bool
  /// Whether nothing is above it in this process.
  package let isLocalRoot: Bool

  package subscript(_ name: Fact.Name) -> Fact.Value? { attributes.first { $0.name == name.attribute }?.value }

  package struct Attribute: Sendable, Hashable {
    package let name: String
    package let value: Fact.Value
  }
}

/// A share of all traces. A trace's id alone decides whether it is in it: so all servers and all calls of one payment decide
/// alike, and no caller can switch tracing on.
package struct TraceShare: Sendable {
  /// Ids whose last seven bytes are below it are in the share; nil for all.
  private let bound: [UInt8]?

  package init(perThousand: Int) {
    let bound = (UInt64(1) << 56) / 1_000 * UInt64(clamping: min(perThousand, 1_000))
    self.bound = perThousand >= 1_000 ? nil : withUnsafeBytes(of: bound.bigEndian) { Array($0.suffix(7)) }
  }

  package func contains(_ trace: String) -> Bool {
    guard let bound else { return true }
    return Hex.decode(String(trace.suffix(14)))?.lexicographicallyPrecedes(bound) ?? false
  }
}

/// Makes the spans of a share of all traces, and hands each on when it has ended. Of what is not in the share, a span is
/// handed on only if nothing is above it in this process and it has failed.
package final class SpanRecorder: Tracer {
  private let random: RandomBytes
  private let clock: WallClock
  private let share: TraceShare
  private let finished: @Sendable (FinishedSpan) -> Void

  package init(
    share: TraceShare, random: RandomBytes, clock: WallClock, finished: @escaping @Sendable (FinishedSpan) -> Void
  ) {
    (self.share, self.random, self.clock, self.finished) = (share, random, clock, finished)
  }

  /// Where a span is, and what its children count their time from.
  struct Position: Sendable {
    let context: TraceContext
    let isSampled: Bool
    /// Nil for a span of another process.
    let anchor: (time: Timestamp, instant: ContinuousClock.Instant)?
  }

  private enum Key: ServiceContextKey { typealias Value = Position }

  package func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> RecordedSpan {
    var context = context()
    let parent = context[Key.self]
    let start = ContinuousClock.now
    let trace = parent?.context.trace ?? random.hex(16)
    let isSampled = parent?.anchor == nil ? share.contains(trace) : parent?.isSampled ?? false
    let position = Position(
      context: TraceContext(trace: trace, span: random.hex(8)), isSampled: isSampled,
      anchor: parent?.anchor ?? (clock.machine(), start))
    context[Key.self] = position
    return RecordedSpan(
      operationName, kind, context, position, parent: parent?.context.span, isLocalRoot: parent?.anchor == nil,
      start: start, finished)
  }

  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let text = extractor.extract(key: TraceContext.header, from: carrier),
      let found = TraceContext(traceparent: text)
    else { return }
    context[Key.self] = Position(context: found, isSampled: false, anchor: nil)
  }

  package func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let position = context[Key.self] else { return }
    injector.inject(position.context.traceparent, forKey: TraceContext.header, into: &carrier)
  }

  package func forceFlush() {}

  fileprivate static func position(_ context: ServiceContext) -> TraceContext? { context[Key.self]?.context }
}

/// A span of ``SpanRecorder``.
package final class RecordedSpan: Tracing.Span {
  private struct State {
    var name: String
    var attributes: SpanAttributes = [:]
    var links: [TraceContext] = []
    var hasFailed = false
    var isEnded = false
  }

  package let context: ServiceContext
  private let position: SpanRecorder.Position
  private let kind: SpanKind
  private let parent: String?
  private let isLocalRoot: Bool
  private let start: ContinuousClock.Instant
  private let state: Mutex<State>
  private let finished: @Sendable (FinishedSpan) -> Void

  fileprivate init(
    _ name: String, _ kind: SpanKind, _ context: ServiceContext, _ position: SpanRecorder.Position, parent: String?,
    isLocalRoot: Bool, start: ContinuousClock.Instant, _ finished: @escaping @Sendable (FinishedSpan) -> Void
  ) {
    (self.kind, self.context, self.position, self.parent) = (kind, context, position, parent)
    (self.isLocalRoot, self.start, self.finished) = (isLocalRoot, start, finished)
    state = Mutex(State(name: name))
  }

  package var isRecording: Bool { position.isSampled }

  package var operationName: String {
    get { state.withLock(\.name) }
    set { state.withLock { $0.name = newValue } }
  }

  package var attributes: SpanAttributes {
    get { state.withLock(\.attributes) }
    set { state.withLock { $0.attributes = newValue } }
  }

  package func setStatus(_ status: SpanStatus) { state.withLock { $0.hasFailed = status.code == .error } }

  package func addLink(_ link: SpanLink) {
    guard let context = SpanRecorder.position(link.context) else { return }
    state.withLock { $0.links.append(context) }
  }

  /// Nothing is kept of an event or an error: their texts are open.
  package func addEvent(_ event: SpanEvent) {}

  package func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    state.withLock { $0.hasFailed = true }
  }

  package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    let end = ContinuousClock.now
    let last = state.withLock { state -> State? in
      guard !state.isEnded else { return nil }
      state.isEnded = true
      return state
    }
    guard let last, position.isSampled || (isLocalRoot && last.hasFailed), let anchor = position.anchor else { return }
    finished(
      FinishedSpan(
        context: position.context, parent: parent, name: last.name, kind: kind,
        start: anchor.time.adding(start - anchor.instant), time: end - start, attributes: last.attributes.known,
        links: last.links, hasFailed: last.hasFailed, isLocalRoot: isLocalRoot))
  }
}

extension SpanAttributes {
  private static let names = Set(Fact.Name.allCases.map(\.attribute))

  /// Those of ``Fact``, and no others.
  fileprivate var known: [FinishedSpan.Attribute] {
    var found: [FinishedSpan.Attribute] = []
    forEach { name, value in
      guard Self.names.contains(name) else { return }
      switch value {
      case .string(let text): found.append(.init(name: name, value: .text(text)))
      case .int64(let number): found.append(.init(name: name, value: .number(number)))
      default: break
      }
    }
    return found.sorted { $0.name < $1.name }
  }
}
