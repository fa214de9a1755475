import Synchronization
package import TenderPayments

/// The messages that the sandbox has taken, until it ends. None leaves it.
package final class Mailbox: Sendable {
  package struct Entry: Sendable {
    /// 1, 2, 3 …
    package let number: Int
    package let time: Timestamp
    package let delivery: SMTPDelivery
    package let mail: ReceivedMail
  }

  static let limit = 2_000

  private let clock: WallClock
  private let state = Mutex<(entries: [Entry], last: Int)>(([], 0))

  package init(clock: WallClock) { self.clock = clock }

  func take(_ delivery: SMTPDelivery) {
    let (mail, now) = (ReceivedMail(delivery.message), clock.now())
    state.withLock { state in
      state.last += 1
      state.entries.append(Entry(number: state.last, time: now, delivery: delivery, mail: mail))
      if state.entries.count > Self.limit { state.entries.removeFirst() }
    }
  }

  /// The newest first.
  package var entries: [Entry] { state.withLock { $0.entries.reversed() } }

  package func entry(_ number: Int) -> Entry? { state.withLock { $0.entries.first { $0.number == number } } }
}
