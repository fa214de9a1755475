package import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

extension StripeSandboxService: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { transaction in
      try transaction.rows(
        """
        SELECT 'authorize' AS kind, id, amount, currency, card_suffix, status, metadata, created_at FROM intents
        UNION ALL
        SELECT 'refund', intents.id, refunds.amount, currency, card_suffix, refunds.status, refunds.metadata,
          refunds.created_at
        FROM refunds JOIN intents ON intents.id = refunds.intent WHERE is_release = 0
        ORDER BY created_at DESC LIMIT $1
        """, .integer(limit)
      ).compactMap { try RecentOperation(stripe: $0) }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await store.recentEvents(limit: limit) { bytes in
      let body = JSONField(try JSONReader.read(bytes))
      let object = try body.member("data").member("object")
      return (
        try object.memberIfPresent("metadata")?.reference ?? object.member("id").string, try body.member("type").string
      )
    }
  }
}

extension JSONField {
  /// The reference that Tender's connector writes into the metadata.
  fileprivate var reference: String? {
    get throws { try memberIfPresent("tender_reference")?.string }
  }
}

extension RecentOperation {
  /// Nil for an amount in a currency that is none.
  fileprivate init?(stripe row: Row) throws {
    guard let money = StripeMoney(value: try row.integer("amount"), currency: try row.text("currency")),
      let exact = money.exact
    else { return nil }
    let status = try row.text("status")
    let metadata = try StripeStore.map(try row.text("metadata"))
    self.init(
      time: try row.time("created_at"), reference: try metadata["tender_reference"] ?? row.text("id"),
      kind: try row.text("kind"), amount: exact, cardSuffix: try row.text("card_suffix"), result: status,
      isRefused: ["requires_payment_method", "failed"].contains(status))
  }
}
