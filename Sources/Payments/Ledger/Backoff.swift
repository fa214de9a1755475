import TenderPayments

/// How long recovery waits between tries of what it begins by itself: twice as long after each, up to a longest pause.
struct Backoff: Sendable, Hashable {
  let first: Duration
  let longest: Duration

  /// - Parameter tries: how many failed; at least one is assumed.
  func pause(after tries: Int) -> Duration { min(longest, first * (1 << min(max(tries, 1) - 1, 20))) }

  /// Captures that the order wanted at once: 1, 2, 4 … 60 minutes.
  static let capture = Backoff(first: Journal.lease, longest: .seconds(3_600))
  /// The reversal of an authorization that is not wanted any more: as often.
  static let reversal = capture
  /// Voids of expired holds: 10, 20, 40 minutes … a day.
  static let expiry = Backoff(first: Journal.lease * 10, longest: .seconds(86_400))
}
