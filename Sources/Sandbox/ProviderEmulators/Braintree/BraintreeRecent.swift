package import AcquirerSandbox
import Storage
import TenderPayments

extension BraintreeSandbox: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await ledger.database.read { store in
      try store.rows("SELECT * FROM transactions ORDER BY created_at DESC LIMIT $1", .integer(limit)).compactMap {
        try RecentOperation(braintree: $0)
      }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await ledger.recentEvents(limit: limit) { body in
      let text = String(decoding: body, as: UTF8.self).filter { !$0.isWhitespace }
      let notification = Base64.decode(text).flatMap(BraintreeElement.read)
      let subject = notification?["subject"]?.children.first
      return (subject?.value("order-id") ?? subject?.value("id") ?? "", notification?.value("kind") ?? "")
    }
  }
}

extension RecentOperation {
  /// Nil for a currency that is none. A transaction stands for its authorization, its capture and its void.
  fileprivate init?(braintree row: Row) throws {
    guard let currency = Currency(code: try row.text("currency")) else { return nil }
    let (status, isPart) = (try row.text("status"), try row.textOrNil("parent") != nil)
    let kind = try row.text("kind") == "credit" ? "refund" : isPart ? "capture" : "authorize"
    self.init(
      time: try row.time("created_at"), reference: try row.textOrNil("order_id") ?? row.text("id"), kind: kind,
      amount: Amount(minorUnits: try row.integer("amount"), currency: currency),
      cardSuffix: try row.text("card_suffix"), result: status,
      isRefused: ["processor_declined", "gateway_rejected", "failed"].contains(status))
  }
}
