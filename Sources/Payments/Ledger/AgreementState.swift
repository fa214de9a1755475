package import TenderPayments

/// Everything that can happen to an agreement after it was made.
package enum AgreementEvent: String, Sendable, Hashable, CaseIterable {
  /// Its first payment was approved.
  case begun
  /// Its first payment was declined, failed or undone before the shopper had an approval.
  case refused
  case suspended
  case resumed
  case ended
  /// Apple says that the card behind its merchant token has changed.
  case cardUpdated = "card_updated"
  /// The merchant has named a price.
  case priceNamed = "price_named"
}

/// Which events an agreement may meet in which status, and where they lead: a table, and nothing else.
package enum AgreementState {
  /// Nil for a pair that is refused: the agreement stays as it is.
  package static func status(after event: AgreementEvent, in status: AgreementStatus) -> AgreementStatus? {
    table[status]?[event]
  }

  /// An ended agreement meets nothing more, not even the approval of its first payment.
  package static let table: [AgreementStatus: [AgreementEvent: AgreementStatus]] = [
    .pending: [.begun: .active, .refused: .ended, .ended: .ended, .cardUpdated: .pending, .priceNamed: .pending],
    .active: [.suspended: .suspended, .ended: .ended, .cardUpdated: .active, .priceNamed: .active],
    .suspended: [.resumed: .active, .ended: .ended, .cardUpdated: .suspended, .priceNamed: .suspended],
    .ended: [:],
  ]
}
