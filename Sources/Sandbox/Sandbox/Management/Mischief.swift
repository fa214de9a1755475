import Synchronization

/// Misbehaviour that a test orders for the next call that can show it; each order is served once.
final class Mischief: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    /// The gateway answers 503.
    case gatewayUnavailable = "gateway_unavailable"
    /// The next payment token was signed ten minutes ago.
    case staleToken = "stale_token"
    /// One bit of the next payment token's data changes after it was signed.
    case alteredToken = "altered_token"
  }

  private let orders = Mutex<[Kind]>([])

  func order(_ kind: Kind) { orders.withLock { $0.append(kind) } }

  /// Whether it was ordered; the order is gone then.
  func take(_ kind: Kind) -> Bool {
    orders.withLock { orders in
      guard let index = orders.firstIndex(of: kind) else { return false }
      orders.remove(at: index)
      return true
    }
  }

  func clear() { orders.withLock { $0 = [] } }
}
