package import Storage
package import TenderPayments

/// An operation as the ledger has it, for a comparison with the acquirer's report.
package struct PostedOperation: Sendable, Hashable {
  package let reference: AttemptReference
  package let payment: PaymentID
  package let order: OrderID
  /// Connector and account.
  package let route: String
  package let kind: OperationKind
  package let amount: Amount
  package let state: OperationState
  package let sentAt: Timestamp
  /// Whether the payment still reserves its order.
  package let paymentIsLive: Bool
}

extension PostedOperation {
  /// How many operations can be asked for at once.
  package static let page = 500

  /// - Parameter references: ``page`` of them at most.
  package static func find(
    _ references: [AttemptReference], in store: Transaction
  ) throws -> [AttemptReference: PostedOperation] {
    let found = try rows("reference", references.map(\.rawValue), in: store).map(PostedOperation.init)
    return Dictionary(found.map { ($0.reference, $0) }) { first, _ in first }
  }

  /// What a provider reported under these names, without a request of ours, or a report named so after a restore.
  ///
  /// - Parameter names: ``page`` of them at most.
  package static func ofProvider(called names: [String], in store: Transaction) throws -> [String: PostedOperation] {
    let found =
      try rows("cause = 'provider' AND acquirer_reference", names, in: store).map {
        (try $0.text("acquirer_reference"), try PostedOperation($0))
      }
      + rows("restored IS NOT NULL AND detail", names, in: store).map {
        (try $0.text("detail"), try PostedOperation($0))
      }
    return Dictionary(found) { first, _ in first }
  }

  private static func rows(_ column: String, _ names: [String], in store: Transaction) throws -> [Row] {
    guard let any = names.first else { return [] }
    // One text for any number of names, so that it is prepared once.
    let all = names + Array(repeating: any, count: max(0, page - names.count))
    let places = all.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    return try store.rows("\(select) WHERE \(column) IN (\(places)) ORDER BY reference", all.map { .text($0) })
  }

  /// What we sent in a period, its end not included; a page of it, in the order of references.
  package static func page(
    from: Timestamp, until: Timestamp, through route: String? = nil, after last: AttemptReference?, limit: Int,
    in store: Transaction
  ) throws -> [PostedOperation] {
    try store.rows(
      select + """
         WHERE sent_at >= $1 AND sent_at < $2 AND reference > $3 AND cause <> 'provider'
          AND operations.amount > 0
          AND (operations.route = $5 OR $5 IS NULL) ORDER BY reference LIMIT $4
        """,
      .time(from), .time(until), .text(last?.rawValue ?? ""), .integer(Int64(limit)), .text(optional: route)
    ).map(PostedOperation.init)
  }

  /// Every route that an operation has taken, in the order of names.
  package static func routes(in store: Transaction) throws -> [String] {
    try store.rows("SELECT DISTINCT route FROM operations ORDER BY route").map { try $0.text("route") }
  }

  private static let select = """
    SELECT reference, payment, order_id, operations.route, kind, operations.amount, currency, state, sent_at, live,
      acquirer_reference, operations.detail
    FROM operations JOIN payments ON payments.id = operations.payment
    """

  private init(_ row: Row) throws {
    reference = try row.value("reference")
    payment = try row.value("payment")
    order = try row.value("order_id")
    route = try row.text("route")
    kind = try row.value("kind")
    amount = try row.amount("amount")
    state = try row.value("state")
    sentAt = try row.time("sent_at")
    paymentIsLive = try row.integer("live") == 1
  }
}
