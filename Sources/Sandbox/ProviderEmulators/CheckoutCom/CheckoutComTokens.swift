import Synchronization
import TenderPayments
import TokenIssuer

/// Tokens of `POST /tokens`, in memory only: each holds a card for one payment, for fifteen minutes at most.
final class CheckoutComTokens: Sendable {
  struct Entry: Sendable {
    let card: NetworkToken
    /// The amount that the payment token was made for.
    let amount: Amount
    let channel: String
    let end: Timestamp
    /// The call that has used it.
    fileprivate var user: String?
  }

  static let lifetime: Duration = .seconds(900)
  private let entries = Mutex<[String: Entry]>([:])

  func keep(_ card: NetworkToken, _ amount: Amount, as id: String, of channel: String, at now: Timestamp) {
    let entry = Entry(card: card, amount: amount, channel: channel, end: now.adding(Self.lifetime))
    entries.withLock { entries in
      entries = entries.filter { $0.value.end > now }
      entries[id] = entry
    }
  }

  /// Nil for one that is unknown, too old or another channel's.
  func find(_ id: String, of channel: String, at now: Timestamp) -> Entry? {
    entries.withLock { $0[id] }.flatMap { $0.channel == channel && $0.end > now ? $0 : nil }
  }

  /// False when another call has used it.
  func use(_ id: String, by call: String) -> Bool {
    entries.withLock { entries in
      guard entries[id]?.user == nil || entries[id]?.user == call else { return false }
      entries[id]?.user = call
      return true
    }
  }
}
