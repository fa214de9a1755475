public import TenderPayments

/// The time that budgets are measured in: it goes on while the device sleeps and never jumps. Handed in, so that tests
/// hold it.
public struct SheetClock: Sendable {
  /// The time, from a zero of the clock's own.
  public let now: @Sendable () -> Timestamp
  /// Returns at that time, or when the task is cancelled.
  public let sleep: @Sendable (_ until: Timestamp) async -> Void

  /// A clock that does what these functions do.
  public init(now: @escaping @Sendable () -> Timestamp, sleep: @escaping @Sendable (_ until: Timestamp) async -> Void) {
    self.now = now
    self.sleep = sleep
  }

  /// The device's own. Its zero is the moment at which it was first used.
  public static let system = SheetClock.since(ContinuousClock.now)

  private static func since(_ start: ContinuousClock.Instant) -> SheetClock {
    let now: @Sendable () -> Timestamp = { Timestamp(microseconds: start.duration(to: .now).microseconds) }
    return SheetClock(now: now) { until in
      // A sleep that is cancelled ends early; whoever cancelled it does not ask for the time.
      try? await Task.sleep(for: max(.zero, until.since(now())))
    }
  }
}
