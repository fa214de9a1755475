package import Storage
package import StrictJSON

extension Evidence {
  /// The acquirer's part, out of the sandbox's own ledger.
  package mutating func readSandbox(_ store: Transaction) throws {
    let holdsAndApprovals = """
      SELECT holds.*, operations.approved_amount FROM holds
      LEFT JOIN operations ON operations.hold = holds.acquirer_reference AND operations.kind = 'authorize'
      ORDER BY holds.reference
      """
    holds = try store.rows(holdsAndApprovals).map { row in
      let state = try row.text("state")
      return AcquirerHold(
        reference: try row.text("reference"), order: try row.text("merchant_reference"),
        token: try row.text("reference"), amount: try row.integer("amount"), currency: try row.text("currency"),
        wasApproved: state != "declined" && state != "pending", authorized: try row.integer("authorized"),
        captured: try row.integer("captured"), refunded: try row.integer("refunded"),
        isForLess: try row.integerOrNil("approved_amount") != nil)
    }
  }

  /// The client's part: `{"order","key","outcome","payment","captured","refunded"}`, a line for every answer; the last
  /// three only where the answer has them.
  package mutating func readClient(_ lines: [JSONValue]) {
    for line in lines {
      let order = line.text("order")
      calls.append(
        ClientCall(
          order: order, key: line.text("key"), outcome: ClientCall.Outcome(rawValue: line.text("outcome")) ?? .refused,
          payment: line["payment"] == nil ? nil : line.text("payment"), captured: line.whole("captured"),
          refunded: line.whole("refunded")))
    }
  }

  /// What arrived: `{"payment","sequence","status","captured","refunded","id","authentic"}`, a line each, in the order
  /// of arrival.
  package mutating func readSink(_ lines: [JSONValue]) {
    deliveries = lines.map { line in
      SinkDelivery(
        payment: line.text("payment"), sequence: line.whole("sequence"),
        news: .init(line.text("status"), captured: line.whole("captured"), refunded: line.whole("refunded")),
        id: line.text("id"), isAuthentic: line["authentic"] == true)
    }
  }

  /// Orders as the journal's own server keeps them; the client says what it agreed to pay.
  package mutating func readOrders(_ store: Transaction) throws {
    orders = try store.rows("SELECT id, amount, currency FROM orders").map { row in
      PlannedOrder(id: try row.text("id"), amount: try row.integer("amount"), currency: try row.text("currency"))
    }
  }
}

extension JSONValue {
  fileprivate func text(_ name: String) -> String { if case .string(let text)? = self[name] { text } else { "" } }
  fileprivate func whole(_ name: String) -> Int64 { if case .integer(let whole)? = self[name] { whole } else { 0 } }
}
