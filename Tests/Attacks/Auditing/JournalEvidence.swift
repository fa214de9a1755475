package import Storage

extension Evidence {
  /// By payment, the reasons for which a person was called, apart from those that have ended by themselves.
  private func alarms(_ store: Transaction) throws -> [String: Set<String>] {
    try store.rows("SELECT payment, event FROM audit WHERE event LIKE 'alarm %: %' ORDER BY chain, seq").reduce(
      into: [:]
    ) { all, row in
      let parts = try row.text("event").split(separator: ": ", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { return }
      switch parts[0] {
      case "alarm raised": all[try row.text("payment"), default: []].insert(parts[1])
      case "alarm ended": all[try row.text("payment")]?.remove(parts[1])
      default: break
      }
    }
  }

  /// Tender's own part of the evidence, read with nothing but SQL.
  package mutating func readJournal(_ store: Transaction) throws {
    let raised = try alarms(store)
    payments = try store.rows("SELECT * FROM payments ORDER BY id").map { row in
      JournalPayment(
        id: try row.text("id"), order: try row.text("order_id"), status: try row.text("status"),
        isLive: try row.integer("live") == 1, amount: try row.integer("amount"), currency: try row.text("currency"),
        authorized: try row.integer("authorized"), captured: try row.integer("captured"),
        refunded: try row.integer("refunded"), chargedBack: try row.integer("charged_back"),
        reserved: try row.integer("reserved_capture") + row.integer("reserved_void") + row.integer("reserved_refund"),
        reportedOutcome: try row.textOrNil("reported_outcome"),
        alarms: raised[try row.text("id"), default: []].union(try row.textOrNil("alarm").map { [$0] } ?? []),
        isCaptureDue: try row.integerOrNil("capture_due") != nil,
        capturesAtOnce: try row.text("capture_mode") == "immediate", connector: try row.text("route"))
    }
    operations = try store.rows("SELECT * FROM operations ORDER BY reference").map { row in
      JournalOperation(
        reference: try row.text("reference"), payment: try row.text("payment"), kind: try row.text("kind"),
        state: try row.text("state"), amount: try row.integer("amount"), cause: try row.text("cause"),
        route: try row.text("route"), partOf: try row.textOrNil("part_of"),
        number: try row.integer("number"))
    }
    believedEvents = Set(
      try store.rows("SELECT event FROM inbox WHERE verdict <> 'refused'").map { try $0.text("event") })
    outbox = try store.rows("SELECT * FROM outbox ORDER BY payment, seq").map { row in
      BookedEvent(
        payment: try row.text("payment"), sequence: try row.integer("seq"),
        news: .init(
          try row.text("status"), captured: try row.integer("captured"), refunded: try row.integer("refunded")))
    }
  }
}
