import StrictJSON
import TenderPayments
import Tracing

/// Spans as the OpenTelemetry Protocol 1 writes them in JSON: ids in hex, enumerations as numbers, 64-bit integers as
/// texts.
enum OTLP {
  /// The body of `POST /v1/traces`.
  static func traces(_ spans: [FinishedSpan], of resource: [(name: String, value: String)]) -> JSONValue {
    [
      "resourceSpans": [
        [
          "resource": self.resource(resource),
          "scopeSpans": [["scope": ["name": "tender"], "spans": .array(spans.map(span))]],
        ]
      ]
    ]
  }

  static func resource(_ resource: [(name: String, value: String)]) -> JSONValue {
    ["attributes": .array(resource.map { attribute($0.name, .text($0.value)) })]
  }

  static func nanoseconds(_ time: Timestamp, after duration: Duration = .zero) -> String {
    let (seconds, attoseconds) = duration.components
    let later = seconds.multipliedClamped(by: 1_000_000_000).addingClamped(attoseconds / 1_000_000_000)
    return "\(time.microseconds.multipliedClamped(by: 1_000).addingClamped(later))"
  }

  private static func span(_ span: FinishedSpan) -> JSONValue {
    [
      "traceId": .string(span.context.trace), "spanId": .string(span.context.span),
      "parentSpanId": .string(span.parent ?? ""), "name": .string(span.name), "kind": .integer(kind(span.kind)),
      "startTimeUnixNano": .string(nanoseconds(span.start)),
      "endTimeUnixNano": .string(nanoseconds(span.start, after: span.time)),
      "attributes": .array(span.attributes.map { attribute($0.name, $0.value) }),
      "links": .array(
        span.links.map { ["traceId": .string($0.trace), "spanId": .string($0.span)] }),
      "status": span.hasFailed ? ["code": 2] : [:],
    ]
  }

  static func attribute(_ name: String, _ value: Fact.Value) -> JSONValue {
    switch value {
    case .text(let text): ["key": .string(name), "value": ["stringValue": .string(text)]]
    case .number(let number): ["key": .string(name), "value": ["intValue": .string("\(number)")]]
    }
  }

  private static func kind(_ kind: SpanKind) -> Int64 {
    switch kind {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }
}
