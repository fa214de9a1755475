/// A fault that a test injects into the next call.
enum BraintreeFault: String, ProviderFault {
  /// Nothing is done, and there is no answer.
  case lostRequest = "lost_request"
  /// It is done, and there is no answer.
  case lostAnswer = "lost_answer"
  /// It is done, and the answer comes late.
  case lateAnswer = "late_answer"
  /// It arrives twice.
  case twice
  /// It is done, and half of the answer arrives.
  case garbled
  /// Nothing is done; a proxy answers 200 with a page.
  case page
  /// Nothing is done: 429.
  case rateLimited = "rate_limited"
  /// Nothing is done: 503.
  case unavailable
  /// It is done: 500.
  case errorAfter = "error_after"
}
