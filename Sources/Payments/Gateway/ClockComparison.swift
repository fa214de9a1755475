import TenderPayments

/// Compares the time of day, which can be set, with the time since the start, which cannot.
///
/// Holds and idempotency keys expire by the time of day. A clock that is set ahead by days would release
/// money that is still held, and let a repeated refund be a second one. So both stop while the two clocks disagree.
final class ClockComparison: Sendable {
  /// More than any time synchronisation corrects at once, less than any hold or key lasts.
  static let tolerance: Duration = .seconds(300)
  /// How long a process waits after its start: time synchronisation corrects a wrong clock meanwhile, and then the two
  /// disagree.
  private static let wait: Duration = .seconds(900)

  private let clock: WallClock
  private let scheduler: Scheduler
  private let start: (time: Timestamp, uptime: Duration)

  init(_ clock: WallClock, _ scheduler: Scheduler) {
    self.clock = clock
    self.scheduler = scheduler
    start = (clock.now(), scheduler.uptime())
  }

  /// By how much the time of day has gone ahead since the start; negative when it has fallen behind.
  var lead: Duration { clock.now().since(start.time) - (scheduler.uptime() - start.uptime) }

  /// The time of day, or what it would be if it had not been set back. What is to last for days lasts from here: it
  /// would end at once when the clock is right again.
  var latest: Timestamp { lead < .zero - Self.tolerance ? clock.now().adding(.zero - lead) : clock.now() }

  var agree: Bool { max(lead, .zero - lead) <= Self.tolerance }

  /// Whether what ends at a date may be ended now.
  var allowEnding: Bool { agree && scheduler.uptime() >= start.uptime + Self.wait }
}
