import TenderPayments

/// Compares the time of day, which can be set, with the time since the start, which cannot.
///
/// A simulation may move its clock; both move then.
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
  private let start: (time: Timestamp, uptime: Duration, moved: Duration)

  init(_ clock: WallClock, _ scheduler: Scheduler) {
    self.clock = clock
    self.scheduler = scheduler
    start = (clock.machine(), scheduler.uptime(), clock.moved)
  }

  /// The time since the start, with what a simulation has added.
  private var elapsed: Duration { scheduler.uptime() - start.uptime + (clock.moved - start.moved) }

  /// By how much the time of day has gone ahead since the start; negative when it has fallen behind.
  var lead: Duration { clock.machine().since(start.time) - (scheduler.uptime() - start.uptime) }

  /// The time of day, or what it would be if it had not been set back. What is to last for days lasts from here: it
  /// would end at once when the clock is right again.
  var latest: Timestamp { lead < .zero - Self.tolerance ? clock.now().adding(.zero - lead) : clock.now() }

  var agree: Bool { max(lead, .zero - lead) <= Self.tolerance }

  /// Whether what ends at a date may be ended now.
  var allowEnding: Bool { agree && elapsed >= Self.wait }
}

extension WallClock {
  /// By how much a simulation has moved it, to the second: the two times are read one after the other.
  fileprivate var moved: Duration {
    let difference = now().since(machine())
    return difference < .seconds(1) ? .zero : difference
  }
}
