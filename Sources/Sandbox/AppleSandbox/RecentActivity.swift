import Synchronization
import TenderPayments

/// What the gateway and the device did and rejected last, for the page of recent activity. It is lost at a restart.
final class RecentActivity: Sendable {
  /// One line of the page.
  struct Entry: Sendable {
    let time: Timestamp
    /// The merchant, card or call that it is about.
    let subject: String
    let detail: String
    /// Why it was rejected; nil when it was not.
    var refusal: String?
  }

  enum List: Sendable, Hashable { case sessions, tokens }

  /// How many entries a list keeps.
  static let limit = 50

  private let clock: WallClock
  private let lists = Mutex<[List: [Entry]]>([:])

  init(clock: WallClock) { self.clock = clock }

  func note(_ list: List, _ subject: String, _ detail: String, refusal: String? = nil) {
    let entry = Entry(time: clock.now(), subject: subject, detail: detail, refusal: refusal)
    lists.withLock { $0[list] = [entry] + ($0[list] ?? []).prefix(Self.limit - 1) }
  }

  /// The newest first.
  func entries(_ list: List) -> [Entry] { lists.withLock { $0[list] ?? [] } }
}
