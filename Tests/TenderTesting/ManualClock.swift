import Synchronization
public import TenderPayments

/// A clock that stands still until a test moves it.
public final class ManualClock: Sendable {
  private let time: Mutex<Timestamp>

  public init(_ start: Timestamp = Timestamp(seconds: 1_800_000_000)) { time = Mutex(start) }

  public var now: Timestamp { time.withLock { $0 } }
  public func advance(_ duration: Duration) { time.withLock { $0 = $0.adding(duration) } }

  public var wall: WallClock { WallClock { self.now } }
}
