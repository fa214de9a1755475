import HTTPTransport
import Telemetry
import TenderPayments

/// The result of one try.
enum DeliveryAttempt: Sendable, Hashable {
  /// The merchant's server said 2xx.
  case taken(Int)
  case failed(String)
  /// No later try can succeed.
  case hopeless(String)

  /// Its class, for a span.
  var word: String {
    switch self {
    case .taken: "taken"
    case .failed: "failed"
    case .hopeless: "hopeless"
    }
  }

  var words: String {
    switch self {
    case .taken(let status): "HTTP \(status)"
    case .failed(let reason), .hopeless(let reason): reason
    }
  }
}

/// A connection to a destination, or why there is none.
enum OpenedLine: Sendable {
  case open(DeliveryNetwork.Line)
  case refused(DeliveryAttempt)

  /// Anything but 2xx is a failure, a redirect too: it could lead anywhere.
  ///
  /// - Parameter now: for a signature that says when it was made.
  func send(
    _ body: WebhookBody, _ endpoint: WebhookEndpoint, _ timeout: Duration, at now: Timestamp
  ) async -> DeliveryAttempt {
    switch self {
    case .refused(let reason): return reason
    case .open(let line):
      guard let key = endpoint.key else { return .failed("the merchant has no webhook key to sign with; add one") }
      guard
        let request = key.request(
          carrying: body.bytes, of: body.id, to: endpoint.url, signed: endpoint.signature, at: now)
      else { return .failed("the webhook key \(key.id) cannot sign for Standard Webhooks; rotate it") }
      do throws(TransportError) {
        let answer = try await line.sender.traced(to: .webhooks).send(request, timeout)
        return (200..<300).contains(answer.status) ? .taken(answer.status) : .failed("HTTP \(answer.status)")
      } catch {
        return .failed(Self.words(error))
      }
    }
  }

  func close() async {
    if case .open(let line) = self { await line.close() }
  }

  private static func words(_ error: TransportError) -> String {
    switch error {
    case .notSent(let reason): "not reached: \(reason)"
    case .interrupted: "the connection ended before the answer"
    case .timedOut: "no answer in time"
    // The merchant's server has it; its long answer is not needed.
    case .responseTooLarge: "the answer is too long"
    }
  }
}
