import DirectWire
import Synchronization
import TenderPayments

/// The shop's own record of its baskets, in memory: the order, the shopper, and the card's name for the receipt.
final class OrderStore: Sendable {
  struct Entry: Sendable {
    let basket: BasketDocument
    /// Nil for a guest.
    let shopper: String?
    var card: String?
  }

  private struct Content {
    var entries: [BasketID: Entry] = [:]
    /// The oldest first.
    var order: [BasketID] = []
  }

  private let most: Int
  private let content = Mutex(Content())

  /// - Parameter most: how many baskets are kept; a new one replaces the oldest.
  init(most: Int = 1_000) { self.most = most }

  subscript(_ id: BasketID) -> Entry? { content.withLock { $0.entries[id] } }

  func keep(_ basket: BasketDocument, shopper: String?, as id: BasketID) {
    content.withLock { content in
      let isNew = content.entries.updateValue(Entry(basket: basket, shopper: shopper), forKey: id) == nil
      if isNew { content.order.append(id) }
      if content.order.count > most { content.entries[content.order.removeFirst()] = nil }
    }
  }

  /// Keeps the first name that the page sends.
  func note(card: String?, for id: BasketID) {
    content.withLock { content in
      guard let card, content.entries[id]?.card == nil else { return }
      content.entries[id]?.card = card
    }
  }
}

/// Text from the page that a receipt may show.
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
