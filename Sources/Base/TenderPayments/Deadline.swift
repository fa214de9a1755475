/// The moment until which an answer is of use, on the monotonic clock.
///
/// Handed down from the call that the shopper waits for, so that what waits below never waits longer than it.
package struct Deadline: Sendable {
  private let end: Duration
  private let uptime: @Sendable () -> Duration

  package static func after(_ duration: Duration, on scheduler: Scheduler = .system) -> Deadline {
    Deadline(end: scheduler.uptime() + duration, uptime: scheduler.uptime)
  }

  /// Never negative.
  package var remaining: Duration { max(.zero, end - uptime()) }

  /// The earlier of this and so much time from now.
  package func within(_ duration: Duration) -> Deadline {
    Deadline(end: min(end, uptime() + duration), uptime: uptime)
  }
}
