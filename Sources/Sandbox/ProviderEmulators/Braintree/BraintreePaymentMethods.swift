import Synchronization
import TenderPayments

/// Single-use payment methods, in memory only: each holds a card until it is authorized, for three hours at most.
final class BraintreePaymentMethods: Sendable {
  private struct Entry: Sendable {
    let card: BraintreeCard
    let merchant: String
    let end: Timestamp
  }

  private let entries = Mutex<[String: Entry]>([:])

  func keep(_ card: BraintreeCard, as id: String, of merchant: String, at now: Timestamp) {
    let entry = Entry(card: card, merchant: merchant, end: now.adding(.seconds(10_800)))
    entries.withLock { entries in
      entries = entries.filter { $0.value.end > now }
      entries[id] = entry
    }
  }

  /// Removes it. Nil for one that is unknown, used, too old or another merchant's.
  func take(_ id: String, of merchant: String, at now: Timestamp) -> BraintreeCard? {
    entries.withLock { entries in
      guard let entry = entries[id], entry.merchant == merchant, entry.end > now else { return nil }
      entries[id] = nil
      return entry.card
    }
  }
}
