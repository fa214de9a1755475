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

extension SandboxAcquirerService: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { transaction in
      try transaction.rows(
        """
        SELECT operations.*, holds.card_suffix FROM operations
        JOIN holds ON holds.acquirer_reference = operations.hold
        ORDER BY operations.created_at DESC LIMIT $1
        """, .integer(limit)
      ).map { row in
        let code = try row.text("response_code")
        return RecentOperation(
          time: try row.time("created_at"), reference: try row.text("reference"), kind: try row.text("kind"),
          amount: try row.amount(), cardSuffix: try row.text("card_suffix"), result: "response code \(code)",
          isRefused: !["00", "09", "10"].contains(code))
      }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await store.recentEvents(limit: limit) { bytes in
      let body = JSONField(try JSONReader.read(bytes))
      return (try body.member("reference").string, try body.member("result").string)
    }
  }
}
