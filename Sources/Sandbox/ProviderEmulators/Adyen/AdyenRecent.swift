package import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

extension AdyenSandboxService: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { store in
      try store.rows(
        """
        SELECT 'authorize' AS kind, reference, amount, currency, card_suffix, state, created_at FROM payments
        UNION ALL
        SELECT modifications.kind, COALESCE(modifications.reference, payments.reference),
          COALESCE(modifications.amount, payments.amount), currency, card_suffix, modifications.state,
          modifications.created_at
        FROM modifications JOIN payments ON payments.psp_reference = modifications.payment
        ORDER BY created_at DESC LIMIT $1
        """, .integer(limit)
      ).compactMap { try RecentOperation(adyen: $0) }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await store.recentEvents(limit: limit) { body in
      let item = JSONField(try JSONReader.read(body))
      return (
        try item.member("merchantReference").string,
        "\(try item.member("eventCode").string) \(try item.member("success").string)"
      )
    }
  }
}

extension RecentOperation {
  /// Nil for an amount in a currency that is none.
  fileprivate init?(adyen row: Row) throws {
    guard let amount = AdyenAmount(value: try row.integer("amount"), currency: try row.text("currency")),
      let exact = try? Amount(decimal: amount.decimalString, currency: amount.currency)
    else { return nil }
    let state = try row.text("state")
    self.init(
      time: try row.time("created_at"), reference: try row.text("reference"), kind: try row.text("kind"),
      amount: exact, cardSuffix: try row.text("card_suffix"), result: state,
      isRefused: ["refused", "error", "failed"].contains(state))
  }
}
