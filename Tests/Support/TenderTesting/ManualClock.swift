import Synchronization
package import TenderPayments

/// A clock that a test advances.
package final class ManualClock: Sendable {
  private let state: Mutex<(time: Timestamp, uptime: Duration)>

  package init(_ start: Timestamp = Timestamp(seconds: 1_800_000_000)) { state = Mutex((start, .zero)) }

  package var now: Timestamp { state.withLock { $0.time } }

  /// Time passes.
  package func advance(_ duration: Duration) {
    state.withLock { $0 = ($0.time.adding(duration), $0.uptime + duration) }
  }

  /// Sets the time of day without advancing the monotonic time.
  package func set(ahead duration: Duration) { state.withLock { $0.time = $0.time.adding(duration) } }

  package var wall: WallClock { WallClock { self.now } }

  /// Its monotonic time is what was advanced here. Sleeping takes the machine's time.
  package var scheduler: Scheduler {
    Scheduler(
      uptime: { self.state.withLock { $0.uptime } }, sleep: Scheduler.system.sleep, finish: Scheduler.system.finish)
  }
}
