/// The moment until which an answer is of use, on the clock that nobody can set.
///
/// Handed down from the call that the shopper waits for, so that what waits below never waits longer than it.
public struct Deadline: Sendable, Hashable {
  private let end: ContinuousClock.Instant

  public static func after(_ duration: Duration) -> Deadline {
    Deadline(end: ContinuousClock.now.advanced(by: duration))
  }

  /// Never negative.
  public var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: end)) }
}
