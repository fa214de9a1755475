import Synchronization
import TenderPayments

/// The clock of a server in `simulated`, which goes as the sandbox's: months pass there in a minute.
final class FollowedClock: Sendable {
  private let offset = Mutex(Duration.zero)

  /// Forwards alone.
  func move(ahead: Duration) { offset.withLock { $0 = max($0, ahead) } }

  var wall: WallClock { WallClock(ahead: { self.offset.withLock(\.self) }, of: .system) }
}
