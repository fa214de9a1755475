/// A fault that a test injects into the next call.
enum WorldlineAcquiringFault: String, ProviderFault {
  /// The call is lost: nothing is done, and there is no answer.
  case requestLost = "request_lost"
  /// The call is done, and there is no answer.
  case answerLost = "answer_lost"
  /// The call is done, and the answer is a page of HTML with the right status.
  case answerGarbled = "answer_garbled"
  /// The call is done, and half of the answer arrives.
  case answerTruncated = "answer_truncated"
  /// 429, and nothing is done.
  case tooManyRequests = "too_many_requests"
  /// 503, and nothing is done.
  case unavailable
  /// 500, and nothing is done.
  case failedBefore = "failed_before"
  /// 500, and the call is done.
  case failedAfter = "failed_after"
  /// 409, as while the same request is processed; nothing is done.
  case conflict
  /// Every access token ends now.
  case tokensRevoked = "tokens_revoked"
  /// The next request for an access token is refused: `invalid_client`.
  case clientRefused = "client_refused"
  /// The next request for an access token is answered with 503.
  case tokensUnavailable = "tokens_unavailable"

  /// Whether nothing may be done.
  var isBefore: Bool {
    [.requestLost, .tooManyRequests, .unavailable, .failedBefore, .conflict].contains(self)
  }

  var isOfTokens: Bool { self == .clientRefused || self == .tokensUnavailable }
  var isOfCalls: Bool { !isOfTokens }
}
