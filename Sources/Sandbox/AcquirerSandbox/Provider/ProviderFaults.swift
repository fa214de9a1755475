package import StrictJSON
import Synchronization

/// A fault that a test injects into the next call to an emulated provider, or into its next delivery of events.
package enum ProviderFault: String, CaseIterable, Sendable {
  /// The call is lost: nothing is done, and there is no answer.
  case requestLost = "request_lost"
  /// The call is done twice where its key allows it.
  case requestTwice = "request_twice"
  /// The call is done, and there is no answer.
  case answerLost = "answer_lost"
  /// The call is done, and the answer takes three seconds; with Braintree, which has no keys, longer than a client waits.
  case answerLate = "answer_late"
  /// The call is done, and the answer is a page of HTML with the right status.
  case answerGarbled = "answer_garbled"
  /// The call is done, and half of the answer arrives.
  case answerTruncated = "answer_truncated"
  /// Nothing is done; a proxy answers 200 with a page.
  case page
  /// 429, and nothing is done.
  case tooManyRequests = "too_many_requests"
  /// 503, and nothing is done.
  case unavailable
  /// 500, and nothing is done.
  case failedBefore = "failed_before"
  /// 500, or 502, and the call is done.
  case failedAfter = "failed_after"
  /// Another call under the key is in progress, and nothing is done.
  case inProgress = "in_progress"
  /// Every access token ends now.
  case tokensRevoked = "tokens_revoked"
  /// The next request for an access token is refused: `invalid_client`.
  case clientRefused = "client_refused"
  /// The next request for an access token is answered with 503.
  case tokensUnavailable = "tokens_unavailable"
  /// The next event is never sent.
  case eventLost = "event_lost"
  /// The next event is sent twice.
  case eventTwice = "event_twice"
  /// The next events are sent in the opposite order.
  case eventsReversed = "events_reversed"
  /// The next events are sent in one call.
  case eventsTogether = "events_together"

  /// Whether the call must not be done.
  package var isBefore: Bool {
    [.requestLost, .page, .tooManyRequests, .unavailable, .failedBefore, .inProgress].contains(self)
  }

  package var isOfTokens: Bool { self == .clientRefused || self == .tokensUnavailable }
  fileprivate var isOfEvents: Bool { rawValue.hasPrefix("event") }

  /// What every provider with idempotency keys has.
  package static let ofCalls: [ProviderFault] = [
    .requestLost, .answerLost, .answerGarbled, .answerTruncated, .tooManyRequests, .unavailable, .failedBefore,
    .failedAfter,
  ]
  package static let ofEvents: [ProviderFault] = [.eventLost, .eventTwice, .eventsReversed]
}

/// The faults that a test has injected into one emulator; each one is used once.
package final class ProviderFaults: Sendable {
  private let known: [ProviderFault]
  private let pending = Mutex<[ProviderFault]>([])

  package init(_ known: [ProviderFault]) { self.known = known }

  /// Reads `{next}`: the fault of the next call or delivery, behind those that wait already.
  ///
  /// - Throws: `JSONError` for a fault that the provider does not have.
  package func inject(_ body: JSONField) throws {
    let next = try body.member("next")
    guard let fault = ProviderFault(rawValue: try next.string), known.contains(fault) else {
      throw JSONError(.invalid, path: next.path, "is one of: \(known.map(\.rawValue).joined(separator: ", "))")
    }
    pending.withLock { $0.append(fault) }
  }

  /// Whether the fault was injected; removes it.
  package func take(_ fault: ProviderFault) -> Bool { take { $0 == fault } != nil }

  /// The first fault of calls.
  package func takeForCall() -> ProviderFault? { take { !$0.isOfEvents && !$0.isOfTokens } }

  /// The first fault of requests for access tokens.
  package func takeForToken() -> ProviderFault? { take(\.isOfTokens) }

  private func take(_ matches: (ProviderFault) -> Bool) -> ProviderFault? {
    pending.withLock { pending in pending.firstIndex(where: matches).map { pending.remove(at: $0) } }
  }
}
