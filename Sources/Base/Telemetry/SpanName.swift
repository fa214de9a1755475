import Tracing

/// What a span is of. There are no others.
package enum SpanName: String, Sendable, Hashable, CaseIterable {
  /// A call that the server answers. It is exported under its method and route.
  case request
  /// A merchant session is asked of Apple.
  case merchantSession = "merchant_session"
  /// The merchant is asked for a price.
  case quote
  /// The payment token is verified and opened, and compared with the order.
  case openToken = "open_token"
  /// One commit: the operation is durable before the provider is asked.
  case claim
  /// A provider is asked.
  case ask
  /// One commit: the answer is written.
  case record
  /// An HTTP request to another party.
  case call
  /// Events leave the outbox and become webhooks that wait.
  case handOver = "hand_over"
  /// A try to deliver a webhook.
  case deliver
  /// Recovery goes on with an operation that has no answer.
  case recover

  /// Which side of a call it is.
  var kind: SpanKind {
    switch self {
    case .request: .server
    case .ask, .call: .client
    case .deliver: .producer
    case .merchantSession, .quote, .openToken, .claim, .record, .handOver, .recover: .internal
    }
  }
}
