package import HTTPTransport
import TenderPayments
package import Tracing

/// Begins activities: with spans by a tracer, if there is one, and with the time of each stage in any case.
package struct Telemetry: Sendable {
  private let tracer: (any Tracer)?
  let observe: @Sendable (_ stage: SpanName, _ time: Duration) -> Void
  private let report: @Sendable (_ name: SpanName, _ activity: Activity, _ time: Duration) -> Void

  /// - Parameters:
  ///   - tracer: makes the spans; nil for none. It speaks W3C Trace Context.
  ///   - observe: receives the time of each stage, and of each activity.
  ///   - report: receives each activity that has ended, for its line in the log.
  package init(
    tracer: (any Tracer)? = nil,
    observe: @escaping @Sendable (_ stage: SpanName, _ time: Duration) -> Void = { _, _ in },
    report: @escaping @Sendable (_ name: SpanName, _ activity: Activity, _ time: Duration) -> Void = { _, _, _ in }
  ) {
    (self.tracer, self.observe, self.report) = (tracer, observe, report)
  }

  /// Nothing is traced and nothing measured.
  package static let off = Telemetry()

  /// Does something as one activity.
  ///
  /// - Parameter parent: the caller's span that it is a part of.
  package func begin<R, E: Error>(
    _ name: SpanName, from parent: TraceContext? = nil, _ work: (Activity) async throws(E) -> R
  ) async throws(E) -> R {
    let span = start(name, from: parent)
    let activity = Activity(self, span)
    let began = ContinuousClock.now
    let result = await Activity.$current.withValue(activity) {
      await Self.within(activity.isTraced ? span?.context : nil) { () async -> Result<R, E> in
        do throws(E) { return .success(try await work(activity)) } catch { return .failure(error) }
      }
    }
    if activity.end() {
      let time = ContinuousClock.now - began
      observe(name, time)
      report(name, activity, time)
    }
    return try result.get()
  }

  private func start(_ name: SpanName, from parent: TraceContext?) -> (any Tracing.Span)? {
    guard let tracer else { return nil }
    return tracer.startSpan(name.rawValue, context: context(from: parent), ofKind: name.kind)
  }

  /// Does a part of the activity in a span of its own, if it is traced.
  fileprivate func part<R, E: Error>(
    _ name: SpanName, _ facts: [Fact], learning: (R) -> [Fact], _ work: () async throws(E) -> R
  ) async throws(E) -> R {
    guard let tracer else { return try await work() }
    let span: any Tracing.Span = tracer.startSpan(
      name.rawValue, context: ServiceContext.current ?? .topLevel, ofKind: name.kind)
    let result = await Self.within(span.context) { () async -> Result<R, E> in
      do throws(E) { return .success(try await work()) } catch { return .failure(error) }
    }
    switch result {
    case .success(let value): span.attributes = SpanAttributes(facts + learning(value))
    case .failure:
      span.attributes = SpanAttributes(facts)
      span.setStatus(SpanStatus(code: .error))
    }
    span.end()
    return try result.get()
  }

  /// An empty context is not set: it would cost what it does not bring.
  private static func within<R>(_ context: ServiceContext?, _ work: () async -> R) async -> R {
    guard let context else { return await work() }
    return await ServiceContext.$current.withValue(context, operation: work)
  }

  func context(from parent: TraceContext?) -> ServiceContext {
    var context = ServiceContext.topLevel
    if let parent {
      tracer?.extract([HTTPField(TraceContext.header, parent.traceparent)], into: &context, using: HeaderFields())
    }
    return context
  }

  /// Where a span of the tracer's is.
  func position(_ context: ServiceContext) -> TraceContext? {
    var fields: [HTTPField] = []
    tracer?.inject(context, into: &fields, using: HeaderFields())
    return fields.first(named: TraceContext.header).flatMap { TraceContext(traceparent: $0) }
  }
}

/// Does a part of the current activity: measures it, and makes a span of it if the activity is traced.
///
/// - Parameter learning: what the result says of it.
package func trace<R, E: Error>(
  _ name: SpanName, _ facts: Fact..., learning: (R) -> [Fact] = { _ in [] },
  _ work: () async throws(E) -> R
) async throws(E) -> R {
  guard let activity = Activity.current else { return try await work() }
  let start = ContinuousClock.now
  defer { activity.ended(name, after: ContinuousClock.now - start) }
  guard activity.isTraced else { return try await work() }
  return try await activity.telemetry.part(name, facts, learning: learning, work)
}

extension HTTPSender {
  /// The sender, with a span for each request, which names its trace to the other side. Apple is not told.
  package func traced(to destination: Egress.Destination) -> HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      guard let activity = Activity.current, activity.isTraced else { return try await send(request, timeout) }
      return try await activity.telemetry.part(.call, [.to(destination)], learning: { [.status($0.status)] }) {
        () async throws(TransportError) -> InboundResponse in
        var request = request
        if destination != .apple, let context = ServiceContext.current.flatMap(activity.telemetry.position) {
          request = request.with(HTTPField(TraceContext.header, context.traceparent))
        }
        return try await send(request, timeout)
      }
    }
  }
}

extension OutboundRequest {
  fileprivate func with(_ field: HTTPField) -> OutboundRequest {
    OutboundRequest(method: method, url: url, headers: headers + [field], body: body)
  }
}

/// Header fields as a tracer reads and writes them.
private struct HeaderFields: Extractor, Injector {
  func extract(key: String, from carrier: [HTTPField]) -> String? { carrier.first(named: key) }

  func inject(_ value: String, forKey key: String, into carrier: inout [HTTPField]) {
    carrier.append(HTTPField(key, value))
  }
}
