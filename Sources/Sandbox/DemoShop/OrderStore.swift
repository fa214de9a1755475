import DirectWire
import Synchronization
import TenderPayments

/// The shop's own record of its baskets, in memory: the order, and who ordered.
final class OrderStore: Sendable {
  struct Entry: Sendable {
    let basket: BasketDocument
    /// Nil for a guest.
    let shopper: String?
    /// The order, where the shopper pays in cash and not through Tender.
    var cash: OrderAnswer?
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

  func note(cash order: OrderAnswer, for id: BasketID) { content.withLock { $0.entries[id]?.cash = order } }
}
