import Synchronization

/// A fault that a test injects into the next call, or the next delivery of events.
enum StripeFault: String, ProviderFault {
  /// The call is lost: nothing is done, and there is no answer.
  case requestLost = "request_lost"
  /// The call is done, and there is no answer.
  case answerLost = "answer_lost"
  /// The call is done, and the answer takes three seconds.
  case answerLate = "answer_late"
  /// The call is done, and the answer is a page of HTML with the right status.
  case answerGarbled = "answer_garbled"
  /// The call is done, and half of the answer arrives.
  case answerTruncated = "answer_truncated"
  /// 429, and nothing is done.
  case tooManyRequests = "too_many_requests"
  /// 503 without a body, and nothing is done.
  case unavailable
  /// 500, nothing is done, and the answer is not kept.
  case failedBefore = "failed_before"
  /// 500, the call is done, and a repeat gets the 500 again.
  case failedAfter = "failed_after"
  /// 409: another call under the same key is in progress.
  case inProgress = "in_progress"
  /// The next event is never sent.
  case eventLost = "event_lost"
  /// The next event is sent twice.
  case eventTwice = "event_twice"
  /// The next events are sent in the opposite order.
  case eventsReversed = "events_reversed"

  /// Whether nothing may be done.
  var isBefore: Bool {
    [.requestLost, .tooManyRequests, .unavailable, .failedBefore, .inProgress].contains(self)
  }
}

/// The idempotency keys of calls that are being processed.
final class StripeKeysInProgress: Sendable {
  private let keys = Mutex<Set<String>>([])

  /// False when a call under this key is in progress.
  func begin(_ key: String) -> Bool { keys.withLock { $0.insert(key).inserted } }
  func end(_ key: String) { keys.withLock { _ = $0.remove(key) } }
}
