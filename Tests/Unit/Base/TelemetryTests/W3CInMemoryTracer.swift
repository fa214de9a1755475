import InMemoryTracing
import Tracing

/// The tracer that swift-distributed-tracing has for tests, which names its spans in its own way, with the header of W3C.
struct W3CInMemoryTracer: Tracer {
  let inner = InMemoryTracer(
    idGenerator: .init(
      nextTraceID: { "4bf92f3577b34da6a3ce929d0e0e4736" },
      nextSpanID: { String(UInt64.random(in: (1 << 60)...(.max)), radix: 16) }))

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> InMemorySpan {
    inner.startSpan(
      operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line)
  }

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let span = context.inMemorySpanContext else { return }
    injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
  }

  func forceFlush() {}
}
