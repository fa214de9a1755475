package import Orders
package import TenderPayments

/// How far a hosted checkout is. Nothing of it is stored: it follows from the basket, its payment and the time, so that
/// page, API and journal never differ.
package enum CheckoutState: String, Sendable, Hashable, CaseIterable {
  /// The shopper may pay.
  case open
  /// The outcome is not known yet. Nobody may pay again.
  case processing
  case paid
  /// The last attempt that was allowed was declined.
  case refused
  case cancelled
  case expired

  package init(_ basket: HostedBasket, at now: Timestamp) {
    if let payment = basket.payment, let state = Self.state(of: payment) {
      self = state
    } else if basket.isCancelled {
      self = .cancelled
    } else if basket.attemptsLeft == 0 {
      self = .refused
    } else {
      self = now < basket.expiresAt ? .open : .expired
    }
  }

  /// Nil for a payment after which another may be made.
  private static func state(of payment: Payment) -> CheckoutState? {
    guard payment.status.isResolved else { return .processing }
    // The merchant released the hold afterwards; the shopper was told of success.
    let wasPaid = payment.status == .voided && payment.reportedOutcome == .success
    return payment.status.isLive || wasPaid ? .paid : nil
  }

  /// Whether the shopper goes back to the merchant.
  package var isEnded: Bool { self != .open && self != .processing }
}

extension HostedBasket {
  /// Nil where any number is allowed.
  package var attemptsLeft: Int64? { attemptsAllowed.map { max(0, $0 - attemptsUsed) } }

  /// Whether a card was declined and another may be tried.
  package var wasDeclined: Bool { payment?.status == .declined }
}
