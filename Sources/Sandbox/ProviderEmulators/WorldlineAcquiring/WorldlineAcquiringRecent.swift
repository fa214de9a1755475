package import AcquirerSandbox
import Storage
import TenderPayments

extension WorldlineAcquiringSandbox: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { transaction in
      try transaction.rows(
        """
        SELECT operations.*, payments.card_suffix FROM operations
        JOIN payments ON payments.payment_id = operations.payment ORDER BY sequence DESC LIMIT $1
        """, .integer(limit)
      ).map { row in
        let code = try row.text("response_code")
        let kind = try row.text("kind")
        return RecentOperation(
          time: try row.time("created_at"), reference: try row.text("operation_id"),
          kind: ReportedOperation.worldlineAcquiring[kind] ?? kind.lowercased(), amount: try row.amount(),
          cardSuffix: try row.text("card_suffix"), result: "response code \(code)",
          isRefused: !WorldlineAcquiringResult(code: code).isApproved)
      }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] { [] }
}

extension WorldlineAcquiringStore {
  /// Every operation of the merchants that is compared, oldest first. A technical reversal has the name of the
  /// authorization that it undid.
  func report(of merchants: [String]) async throws -> [ReportedOperation] {
    try await database.write { transaction in
      try approvePending(of: merchants, in: transaction)
      let rows = try transaction.rows(
        """
        SELECT operations.*, payments.status, authorizations.operation_id AS authorization FROM operations
        JOIN payments ON payments.payment_id = operations.payment
        JOIN operations AS authorizations
          ON authorizations.payment = operations.payment AND authorizations.kind = 'AUTHORIZATION'
        ORDER BY operations.sequence
        """)
      return try rows.filter { merchants.contains(try $0.text("merchant")) }.compactMap {
        try ReportedOperation(worldlineAcquiring: $0)
      }
    }
  }
}

extension ReportedOperation {
  /// Tender's words for Worldline's kinds of operation.
  static let worldlineAcquiring = [
    "AUTHORIZATION": "authorize", "CAPTURE": "capture", "REFUND": "refund", "AUTHORIZATION_REVERSAL": "void",
    "INCREMENT": "increment", "TECHNICAL_REVERSAL": "reverse",
  ]

  fileprivate init?(worldlineAcquiring row: Row) throws {
    let kind = try row.text("kind")
    guard let operation = Self.worldlineAcquiring[kind] else { return nil }
    let isPending = try kind == "AUTHORIZATION" && row.text("status") == "PENDING"
    let isApproved = WorldlineAcquiringResult(code: try row.text("response_code")).isApproved
    self.init(
      reference: try row.text(kind == "TECHNICAL_REVERSAL" ? "authorization" : "operation_id"), operation: operation,
      amount: try row.amount(), result: isPending ? "pending" : isApproved ? "approved" : "declined",
      time: try row.time("created_at"))
    authorization = try row.text("authorization")
    // Worldline names a payment and a refund; what else there is has our name alone.
    name = try kind == "AUTHORIZATION" ? row.text("payment") : row.textOrNil("refund_id") ?? row.text("operation_id")
  }
}
