package import Ledger
package import TenderPayments

/// How long a server keeps what it need not keep for good, in days.
package struct RetentionLimits: Sendable, Hashable {
  /// What names the shopper of an order; nil for as long as the order.
  package var contactDays: Int?
  package var mailDays = 30
  package var deliveryDays = 90
  package var basketDays = 30
  /// Nil for good.
  package var tokenDays: Int?

  /// A checkout without an order is kept so long in any case; and far longer than a payment token can be taken.
  static let leastDays = 30

  /// Nil for what is kept for good, and for what has no limit.
  private func days(_ task: RetentionTask) -> Int? {
    switch task {
    case .contacts: contactDays
    case .mails: mailDays
    case .deliveries: deliveryDays
    case .baskets: basketDays
    case .tokens: tokenDays
    case .seals: nil
    }
  }

  /// What is older goes; nil for what is kept for good.
  package func end(of task: RetentionTask, at now: Timestamp) -> Timestamp? {
    days(task).map { now.adding(.zero - .seconds(Int64($0) * 86_400)) }
  }
}
