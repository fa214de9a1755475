import Synchronization
import TenderPayments

/// Compares the time of day, which can be set, with the time since the start, which cannot.
///
/// Holds end and idempotency keys are forgotten by the time of day. A clock that is set ahead by days would let go of
/// money that is still held, and let a repeated refund be a second one. So both stop while the two clocks disagree.
final class ClockComparison: Sendable {
  /// More than any time synchronisation corrects at once, less than any hold or key lasts.
  static let tolerance: Duration = .seconds(300)
  /// A store that was last written longer ago than this when the process started tells nothing of the time.
  private static let silence: Duration = .seconds(86_400)
  /// How long such a process waits: time synchronisation corrects a wrong clock meanwhile, and then the two disagree.
  private static let wait: Duration = .seconds(900)

  private let clock: WallClock
  private let scheduler: Scheduler
  private let start: (time: Timestamp, uptime: Duration)
  private let waitsUntil = Mutex<Duration?>(nil)

  init(_ clock: WallClock, _ scheduler: Scheduler) {
    self.clock = clock
    self.scheduler = scheduler
    start = (clock.now(), scheduler.uptime())
  }

  /// By how much the time of day has gone ahead since the start; negative when it has fallen behind.
  var lead: Duration { clock.now().since(start.time) - (scheduler.uptime() - start.uptime) }

  /// The time of day, or what it would be if it had not been set back. What is to last for days lasts from here: it would
  /// end at once when the clock is right again.
  var latest: Timestamp { lead < .zero - Self.tolerance ? clock.now().adding(.zero - lead) : clock.now() }

  var agree: Bool { max(lead, .zero - lead) <= Self.tolerance }

  /// Whether what ends at a date may be ended now.
  ///
  /// - Parameter lastChange: when the store was last written before a time; asked for once.
  func allowEnding(_ lastChange: (Timestamp) async throws -> Timestamp?) async throws -> Bool {
    guard agree else { return false }
    if let end = waitsUntil.withLock({ $0 }) { return scheduler.uptime() >= end }
    // Not what this process wrote itself: that was by the clock which is in question.
    let isSilent = try await lastChange(start.time).map { start.time.since($0) > Self.silence } ?? false
    let end = start.uptime + (isSilent ? Self.wait : .zero)
    waitsUntil.withLock { $0 = end }
    return scheduler.uptime() >= end
  }
}
