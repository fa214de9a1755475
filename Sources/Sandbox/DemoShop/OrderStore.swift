import DirectWire
import Synchronization
import TenderPayments

/// What the shop itself remembers of its baskets: what was wished, by whom, and the card's name for the receipt. In
/// memory, as a demo's order book may be; what counts is at Tender.
final class OrderBook: Sendable {
  struct Entry: Sendable {
    let basket: BasketDocument
    /// Nil for a guest.
    let shopper: String?
    var card: String?
  }

  private struct Pages {
    var entries: [BasketID: Entry] = [:]
    /// The oldest first.
    var order: [BasketID] = []
  }

  private let most: Int
  private let pages = Mutex(Pages())

  /// - Parameter most: how many baskets are remembered; the oldest is forgotten for a new one.
  init(most: Int = 1_000) { self.most = most }

  subscript(_ id: BasketID) -> Entry? { pages.withLock { $0.entries[id] } }

  func keep(_ basket: BasketDocument, shopper: String?, as id: BasketID) {
    pages.withLock { pages in
      let isNew = pages.entries.updateValue(Entry(basket: basket, shopper: shopper), forKey: id) == nil
      if isNew { pages.order.append(id) }
      if pages.order.count > most { pages.entries[pages.order.removeFirst()] = nil }
    }
  }

  /// The first name told stays.
  func note(card: String?, for id: BasketID) {
    pages.withLock { pages in
      guard let card, pages.entries[id]?.card == nil else { return }
      pages.entries[id]?.card = card
    }
  }
}

/// Text from outside that a receipt may show.
enum ReceiptText {
  private static let longest = 40

  /// `Visa 0492`: letters, digits and spaces, and of a longer number its last four digits, so that not even a wallet
  /// that showed too much makes a receipt hold a card number. Nil when nothing is left.
  static func card(_ text: String) -> String? {
    let plain = text.unicodeScalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == " " }
    let words = String(String.UnicodeScalarView(plain)).split(separator: " ")
    let digits = words.reversed().prefix { $0.allSatisfy(\.isNumber) }.reversed().joined()
    let names = words.filter { !$0.contains(where: \.isNumber) }.map(String.init)
    let shown = (names + (digits.isEmpty ? [] : [String(digits.suffix(4))])).joined(separator: " ")
    return shown.isEmpty ? nil : String(shown.prefix(longest))
  }
}
