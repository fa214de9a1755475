public import Storage

extension Evidence {
  /// Tender's own part of the evidence, read with nothing but SQL.
  public mutating func readJournal(_ store: Transaction) throws {
    payments = try store.rows("SELECT * FROM payments ORDER BY id").map { row in
      BookedPayment(
        id: try row.text("id"), order: try row.text("order_id"), status: try row.text("status"),
        isLive: try row.integer("live") == 1, amount: try row.integer("amount"), currency: try row.text("currency"),
        authorized: try row.integer("authorized"), captured: try row.integer("captured"),
        refunded: try row.integer("refunded"),
        reserved: try row.integer("reserved_capture") + row.integer("reserved_void") + row.integer("reserved_refund"),
        told: try row.textOrNil("told"), alarm: try row.textOrNil("alarm"),
        isCaptureDue: try row.integerOrNil("capture_due") != nil)
    }
    operations = try store.rows("SELECT * FROM operations ORDER BY reference").map { row in
      BookedMove(
        reference: try row.text("reference"), payment: try row.text("payment"), kind: try row.text("kind"),
        state: try row.text("state"), amount: try row.integer("amount"), cause: try row.text("cause"))
    }
    outbox = try store.rows("SELECT * FROM outbox ORDER BY payment, seq").map { row in
      BookedEvent(
        payment: try row.text("payment"), sequence: try row.integer("seq"),
        news: .init(
          try row.text("status"), captured: try row.integer("captured"), refunded: try row.integer("refunded")))
    }
  }
}
