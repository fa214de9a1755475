package import AcquirerSandbox
import DirectWire
import Storage
import StrictJSON
import TenderPayments

// An event for every change of a state, sent to the merchant's address until it is acknowledged.
extension WorldlineDirectStore {
  func write(
    _ type: String, of account: WorldlineDirectAccount, in transaction: Transaction,
    _ fill: (inout DirectEvent) -> Void
  ) throws {
    var event = DirectEvent(id: random.uuid(), type, of: account.merchantID, at: transaction.now)
    fill(&event)
    try addEvent(try DirectJSON.bytes(event), of: account.merchantID, in: transaction)
  }
}

extension WorldlineDirectSandbox: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { store in
      try store.rows(
        """
        SELECT 'authorize' AS kind, reference, amount, currency, card_suffix, status, created_at FROM payments
        UNION ALL
        SELECT operations.kind, COALESCE(operations.reference, payments.reference), operations.amount, currency,
          card_suffix, operations.status, operations.created_at
        FROM operations JOIN payments ON payments.id = operations.payment
        ORDER BY created_at DESC LIMIT $1
        """, .integer(limit)
      ).compactMap { try RecentOperation(worldlineDirect: $0) }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await store.recentEvents(limit: limit) { body in
      let event = try DirectJSON.read(DirectEvent.self, body)
      return (event.payment?.id ?? event.refund?.id ?? "", event.type)
    }
  }
}

extension RecentOperation {
  /// Nil for an amount in a currency that is none.
  fileprivate init?(worldlineDirect row: Row) throws {
    guard let currency = Currency(code: try row.text("currency")) else { return nil }
    let status = DirectStatus(rawValue: try row.integer("status"))
    self.init(
      time: try row.time("created_at"), reference: try row.textOrNil("reference") ?? "", kind: try row.text("kind"),
      amount: Amount(minorUnits: try row.integer("amount"), currency: currency),
      cardSuffix: try row.text("card_suffix"), result: status.map { "\($0.rawValue) \($0.word)" } ?? "",
      isRefused: status?.progress == .refused)
  }
}
