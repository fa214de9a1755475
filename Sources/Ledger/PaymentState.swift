package import TenderPayments

/// What an acquirer's answer means to an operation, without its details.
package enum Outcome: String, Sendable, Hashable, CaseIterable {
  case approved, declined, pending, unknown, notSent

  package init(_ answer: AcquirerAnswer) {
    switch answer {
    case .approved: self = .approved
    case .declined: self = .declined
    case .pending: self = .pending
    case .unknown: self = .unknown
    case .notSent: self = .notSent
    }
  }
}

/// Which answers a payment may meet in which status, and where they lead: a table, and nothing else.
///
/// A pair of status and answer that is not in it is refused, and the payment stays as it is.
package enum PaymentState {
  /// Where a payment goes.
  package enum Destination: Sendable, Hashable {
    case becomes(PaymentStatus)
    /// The status that the balances imply after the posting.
    case followsBalances
    case stays
  }

  package struct Transition: Sendable, Hashable {
    package let from: PaymentStatus
    package let kind: OperationKind
    package let outcome: Outcome
    package let to: Destination
  }

  package static func destination(
    from status: PaymentStatus, _ kind: OperationKind, _ outcome: Outcome
  ) -> Destination? {
    table.first { $0.from == status && $0.kind == kind && $0.outcome == outcome }?.to
  }

  /// Whether the operation may be begun at all.
  package static func allows(_ kind: OperationKind, in status: PaymentStatus) -> Bool {
    destination(from: status, kind, .approved) != nil
  }

  package static let table: [Transition] =
    rows(unsettled, .authorize, .approved, .followsBalances)
    + rows(unsettled, .authorize, .declined, .becomes(.declined))
    + rows([.authorizing, .unknown], .authorize, .pending, .becomes(.pending))
    + rows([.authorizing], .authorize, .unknown, .becomes(.unknown))
    + rows([.authorizing], .authorize, .notSent, .becomes(.failed))
    + rows(unsettled, .reverse, .approved, .becomes(.voided))
    + rows(unsettled, .reverse, others, .stays)
    + rows(held, .capture, .approved, .followsBalances) + rows(held, .capture, others, .stays)
    + rows(held, .void, .approved, .followsBalances) + rows(held, .void, others, .stays)
    + rows(taken, .refund, .approved, .followsBalances) + rows(taken, .refund, others, .stays)

  private static let unsettled: [PaymentStatus] = [.authorizing, .pending, .unknown]
  /// Money may still be held. A part may have been taken and given back while the rest waits.
  private static let held: [PaymentStatus] = [.authorized, .partiallyCaptured, .partiallyRefunded, .refunded]
  private static let taken: [PaymentStatus] = [.captured, .partiallyCaptured, .partiallyRefunded]
  private static let others: [Outcome] = [.declined, .pending, .unknown, .notSent]

  private static func rows(
    _ from: [PaymentStatus], _ kind: OperationKind, _ outcome: Outcome, _ to: Destination
  ) -> [Transition] {
    from.map { Transition(from: $0, kind: kind, outcome: outcome, to: to) }
  }

  private static func rows(
    _ from: [PaymentStatus], _ kind: OperationKind, _ outcomes: [Outcome], _ to: Destination
  ) -> [Transition] {
    outcomes.flatMap { rows(from, kind, $0, to) }
  }
}
