package import Storage

// The ledgers of the emulated providers, read with nothing but SQL. Both know a hold by our reference of its
// authorization; the order is the one that the journal has for it.
extension Evidence {
  /// The acquirer's part, out of the ledger of whichever emulator it is.
  package mutating func readLedger(_ store: Transaction) throws {
    let tables = try store.rows("SELECT name FROM sqlite_master WHERE type = 'table'").map { try $0.text("name") }
    if tables.contains("modifications") { return try readAdyen(store) }
    if tables.contains("transactions") { return try readBraintree(store) }
    if tables.contains("intents") { return try readStripe(store) }
    if tables.contains("actions") { return try readCheckoutCom(store) }
    if tables.contains("payments") {
      return try tables.contains("event_endpoints") ? readWorldlineDirect(store) : readWorldlineAcquiring(store)
    }
    try readSandbox(store)
  }

  var orderOfReference: [String: String] {
    let orders = Dictionary(payments.map { ($0.id, $0.order) }) { first, _ in first }
    return Dictionary(operations.map { ($0.reference, orders[$0.payment] ?? "") }) { first, _ in first }
  }

  /// The emulated Adyen's, which answers no inquiry. What a final capture leaves stays held there until it expires.
  package mutating func readAdyen(_ store: Transaction) throws {
    let orders = orderOfReference
    unaskable.insert("adyen")
    holds += try store.rows("SELECT * FROM payments ORDER BY psp_reference").map { row in
      let (reference, state) = (try row.text("reference"), try row.text("state"))
      return AcquirerHold(
        reference: reference, order: orders[reference] ?? reference, token: try row.text("psp_reference"),
        amount: try row.integer("amount"), currency: try row.text("currency"),
        wasApproved: ["authorised", "cancelled", "expired"].contains(state), authorized: try row.integer("authorised"),
        captured: try row.integer("captured"), refunded: try row.integer("refunded"), keepsRest: true)
    }
  }

  /// The emulated Braintree's. A capture of all is the sale itself; one of a part is a transaction below it. A refund of
  /// what is not settled is the void of a capture.
  package mutating func readBraintree(_ store: Transaction) throws {
    let orders = orderOfReference
    holds += try store.rows(Self.sales).map { row in
      let (reference, status) = (try row.text("order_id"), try row.text("status"))
      let captured = try row.integer("taken")
      let isOver = ["voided", "authorization_expired", "settlement_confirmed"].contains(status)
      let wasApproved = try row.integer("was_authorized") == 1
      return AcquirerHold(
        reference: reference, order: orders[reference] ?? reference, token: try row.text("id"),
        amount: try row.integer("asked"), currency: try row.text("currency"), wasApproved: wasApproved,
        authorized: isOver ? captured : wasApproved ? try row.integer("amount") : 0, captured: captured,
        refunded: try row.integer("given_back"))
    }
  }

  /// Authorizations with what their captures took and gave back. A capture is a transaction that was submitted for
  /// settlement, and not declined there.
  private static let sales = """
    WITH captures AS (
      SELECT COALESCE(parent, id) AS sale, amount,
        refunded_amount + CASE status WHEN 'voided' THEN amount ELSE 0 END AS given_back
      FROM transactions
      WHERE kind = 'sale' AND status <> 'settlement_declined' AND EXISTS (SELECT 1 FROM status_events
        WHERE transaction_id = id AND status_events.status = 'submitted_for_settlement'))
    SELECT transactions.*,
      (SELECT COALESCE(sum(captures.amount), 0) FROM captures WHERE sale = transactions.id) AS taken,
      (SELECT COALESCE(sum(captures.given_back), 0) FROM captures WHERE sale = transactions.id) AS given_back,
      (SELECT COALESCE(max(status_events.amount), transactions.amount) FROM status_events
        WHERE transaction_id = transactions.id) AS asked,
      EXISTS (SELECT 1 FROM status_events WHERE transaction_id = transactions.id
        AND status_events.status = 'authorized') AS was_authorized
    FROM transactions WHERE kind = 'sale' AND parent IS NULL ORDER BY id
    """
}
