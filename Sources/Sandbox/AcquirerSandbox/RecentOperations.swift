import Storage
import StrictJSON
package import TenderPayments

/// One operation in the ledger of the acquirer or the provider.
package struct RecentOperation: Sendable {
  package let time: Timestamp
  /// The caller's reference.
  package let reference: String
  /// `authorize`, `capture`, `void` or `refund`.
  package let kind: String
  package let amount: Amount
  /// The device account number's last four digits.
  package let cardSuffix: String
  /// ISO 8583 field 39.
  package let responseCode: String
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

extension SandboxAcquirerService {
  /// The newest operations of all merchants, the newest first.
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { transaction in
      try transaction.rows(
        """
        SELECT operations.*, holds.card_suffix FROM operations
        JOIN holds ON holds.acquirer_reference = operations.hold
        ORDER BY operations.created_at DESC LIMIT $1
        """, .integer(limit)
      ).map { row in
        RecentOperation(
          time: try row.time("created_at"), reference: try row.text("reference"), kind: try row.text("kind"),
          amount: try row.amount(), cardSuffix: try row.text("card_suffix"),
          responseCode: try row.text("response_code"))
      }
    }
  }

  /// The newest events of all merchants, the newest first.
  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await store.database.read { transaction in
      try transaction.rows("SELECT * FROM events ORDER BY id DESC LIMIT $1", .integer(limit)).map { row in
        let body = JSONField(try JSONReader.read(Array(try row.text("body").utf8)))
        let delivered = try row.integerOrNil("delivered_at")
        return RecentEvent(
          time: Timestamp(microseconds: try delivered ?? row.integer("next_try")),
          reference: try body.member("reference").string, result: try body.member("result").string,
          tries: try row.integer("tries"), isDelivered: delivered != nil)
      }
    }
  }
}
