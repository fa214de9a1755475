/// A fault that a test injects into the next call, or the next delivery of events.
enum CheckoutComFault: String, ProviderFault {
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
  /// The call is done twice where the idempotency key allows it, and the second answer arrives.
  case requestTwice = "request_twice"
  /// 429, and nothing is done.
  case tooManyRequests = "too_many_requests"
  /// 503, and nothing is done.
  case unavailable
  /// 500, and nothing is done.
  case failedBefore = "failed_before"
  /// 502, and the call is done.
  case failedAfter = "failed_after"
  /// The next event is never sent.
  case eventLost = "event_lost"
  /// The next event is sent twice.
  case eventTwice = "event_twice"
  /// The next events are sent in the opposite order.
  case eventsReversed = "events_reversed"

  /// Whether nothing may be done.
  var isBefore: Bool { [.requestLost, .tooManyRequests, .unavailable, .failedBefore].contains(self) }
}
