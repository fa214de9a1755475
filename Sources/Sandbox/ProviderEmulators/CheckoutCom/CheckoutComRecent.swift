package import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

extension CheckoutComSandbox: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { store in
      try store.rows(
        """
        SELECT actions.*, payments.reference AS payment_reference, currency, card_suffix FROM actions
        JOIN payments ON payments.id = actions.payment ORDER BY actions.created_at DESC LIMIT $1
        """, .integer(limit)
      ).compactMap { try RecentOperation(checkoutCom: $0) }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await store.recentEvents(limit: limit) { body in
      let event = JSONField(try JSONReader.read(body))
      let data = try event.member("data")
      return (
        try data.memberIfPresent("reference")?.string ?? data.member("id").string, try event.member("type").string
      )
    }
  }
}

extension RecentOperation {
  /// Nil for an amount in a currency that is none.
  fileprivate init?(checkoutCom row: Row) throws {
    guard let amount = CheckoutComAmount(value: try row.integer("amount"), currency: try row.text("currency")) else {
      return nil
    }
    let type = try row.text("type")
    let code = try row.textOrNil("response_code")
    self.init(
      time: try row.time("created_at"),
      reference: try row.textOrNil("reference") ?? row.textOrNil("payment_reference") ?? row.text("payment"),
      kind: type == "Authorization" ? "authorize" : type.lowercased(), amount: amount.inISO,
      cardSuffix: try row.text("card_suffix"), result: code.map(CheckoutComResponseCode.summary) ?? "accepted",
      isRefused: code.map { $0 != CheckoutComResponseCode.approved } ?? false)
  }
}
