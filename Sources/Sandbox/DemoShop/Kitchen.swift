import DirectWire
import Synchronization
import TenderPayments

/// The paid orders of the shop, in memory: what its kitchen cooks, and where it goes.
///
/// Filled by Tender's webhooks, and by the look-up of an order for its receipt.
final class Kitchen: Sendable {
  struct Ticket: Sendable {
    let order: OrderAnswer
    let status: PaymentStatus
    /// The webhook's number within its payment; 0 after a look-up.
    var sequence: Int64
  }

  private struct Content {
    var tickets: [PaymentID: Ticket] = [:]
    /// The oldest first.
    var order: [PaymentID] = []
  }

  private let most: Int
  private let content = Mutex(Content())

  /// - Parameter most: how many orders are kept; a new one replaces the oldest.
  init(most: Int = 100) { self.most = most }

  /// The newest first.
  var tickets: [Ticket] { content.withLock { content in content.order.reversed().compactMap { content.tickets[$0] } } }

  /// Takes an order that is paid, or a change of one that is here. Events may come twice and late: an older one changes
  /// nothing.
  func take(_ ticket: Ticket, of payment: PaymentID) {
    content.withLock { content in
      if let known = content.tickets[payment] {
        guard known.sequence <= ticket.sequence || ticket.sequence == 0 else { return }
        content.tickets[payment] = ticket
        content.tickets[payment]?.sequence = max(known.sequence, ticket.sequence)
      } else if ticket.status.isResolved, ticket.status.isLive {
        content.tickets[payment] = ticket
        content.order.append(payment)
        if content.order.count > most { content.tickets[content.order.removeFirst()] = nil }
      }
    }
  }
}
