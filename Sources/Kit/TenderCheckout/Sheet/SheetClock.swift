public import TenderPayments

/// The clock for time limits: it continues while the device sleeps and never jumps. Injected, so that tests can control
/// it.
public struct SheetClock: Sendable {
  /// The time since the clock's own zero.
  public let now: @Sendable () -> Timestamp
  /// Sleeps until that time, or until the task is cancelled.
  public let sleep: @Sendable (_ until: Timestamp) async -> Void

  /// A clock that calls these functions.
  public init(now: @escaping @Sendable () -> Timestamp, sleep: @escaping @Sendable (_ until: Timestamp) async -> Void) {
    self.now = now
    self.sleep = sleep
  }

  /// The system clock. Its zero is its first use.
  public static let system = SheetClock.since(ContinuousClock.now)

  private static func since(_ start: ContinuousClock.Instant) -> SheetClock {
    let now: @Sendable () -> Timestamp = { Timestamp(microseconds: start.duration(to: .now).microseconds) }
    return SheetClock(now: now) { until in
      // A cancelled sleep ends early, which its caller expects.
      try? await Task.sleep(for: max(.zero, until.since(now())))
    }
  }
}
