import Storage
import StrictJSON
package import TenderPayments

/// What can show its newest operations and events.
package protocol RecentlyActive: Sendable {
  /// The newest operations of all merchants, the newest first.
  func recentOperations(limit: Int64) async throws -> [RecentOperation]
  /// The newest events of all merchants, the newest first.
  func recentEvents(limit: Int64) async throws -> [RecentEvent]
}

/// One operation in the ledger of the acquirer or of a provider.
package struct RecentOperation: Sendable {
  package let time: Timestamp
  /// The caller's reference.
  package let reference: String
  /// `authorize`, `capture`, `void` or `refund`.
  package let kind: String
  package let amount: Amount
  /// The device account number's last four digits.
  package let cardSuffix: String
  /// What the acquirer answered, in its own words.
  package let result: String
  package let isRefused: Bool

  package init(
    time: Timestamp, reference: String, kind: String, amount: Amount, cardSuffix: String, result: String,
    isRefused: Bool
  ) {
    self.time = time
    self.reference = reference
    self.kind = kind
    self.amount = amount
    self.cardSuffix = cardSuffix
    self.result = result
    self.isRefused = isRefused
  }
}

/// One event for the merchant's server.
package struct RecentEvent: Sendable {
  /// When it was delivered, or when it is tried next.
  package let time: Timestamp
  /// The reference of the operation that it reports.
  package let reference: String
  package let result: String
  package let tries: Int64
  package let isDelivered: Bool
}
