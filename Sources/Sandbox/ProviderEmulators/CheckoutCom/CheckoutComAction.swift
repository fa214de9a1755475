import Storage
import StrictJSON
import TenderPayments

/// What was asked of a payment: its authorization, and what was accepted afterwards and is processed later.
struct CheckoutComAction: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case authorization = "Authorization"
    case capture = "Capture"
    case void = "Void"
    case refund = "Refund"

    /// The event that tells the result.
    func event(isApproved: Bool) -> String {
      switch self {
      case .authorization: isApproved ? "payment_approved" : "payment_declined"
      case .capture: isApproved ? "payment_captured" : "payment_capture_declined"
      case .void: isApproved ? "payment_voided" : "payment_void_declined"
      case .refund: isApproved ? "payment_refunded" : "payment_refund_declined"
      }
    }
  }

  let id: String
  let payment: String
  let kind: Kind
  /// The caller's; nil for what a person did in the dashboard without one.
  let reference: String?
  let value: Int64
  let isFinal: Bool
  /// The caller's own members.
  let metadata: JSONObject?
  /// Nil until it is processed.
  var responseCode: String?
  var processedAt: Timestamp?

  var isApproved: Bool { responseCode == CheckoutComResponseCode.approved }

  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO actions (id, payment, type, reference, amount, is_final, response_code, created_at, processed_at,
        metadata)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      """,
      .text(id), .text(payment), .text(kind.rawValue), .text(optional: reference), .integer(value),
      .integer(isFinal ? 1 : 0), .text(optional: responseCode), .time(transaction.now),
      processedAt.map { .time($0) } ?? .null,
      .text(optional: metadata.map { String(decoding: JSONValue.object($0).serialized(), as: UTF8.self) }))
  }

  mutating func process(_ code: String, in transaction: Transaction) throws {
    (responseCode, processedAt) = (code, transaction.now)
    try transaction.run(
      "UPDATE actions SET response_code = $2, processed_at = $3 WHERE id = $1", .text(id), .text(code),
      .time(transaction.now))
  }

  /// What is accepted and not processed, oldest first.
  static func findAccepted(before time: Int64, in transaction: Transaction) throws -> [CheckoutComAction] {
    try transaction.rows(
      """
      SELECT * FROM actions WHERE processed_at IS NULL AND type <> 'Authorization' AND created_at <= $1
      ORDER BY created_at, rowid LIMIT 100
      """, .integer(time)
    ).map(CheckoutComAction.init)
  }

  /// What is accepted and not processed of one payment.
  static func findAccepted(
    _ kind: Kind, of payment: String, in transaction: Transaction
  ) throws -> [CheckoutComAction] {
    try transaction.rows(
      "SELECT * FROM actions WHERE processed_at IS NULL AND payment = $1 AND type = $2", .text(payment),
      .text(kind.rawValue)
    ).map(CheckoutComAction.init)
  }

  /// What is processed of one payment, the newest first.
  static func findProcessed(of payment: String, in transaction: Transaction) throws -> [CheckoutComAction] {
    try transaction.rows(
      "SELECT * FROM actions WHERE processed_at IS NOT NULL AND payment = $1 ORDER BY processed_at DESC, rowid DESC",
      .text(payment)
    ).map(CheckoutComAction.init)
  }

  static func authorization(of payment: String, in transaction: Transaction) throws -> CheckoutComAction? {
    try transaction.row("SELECT * FROM actions WHERE payment = $1 AND type = 'Authorization'", .text(payment))
      .map(CheckoutComAction.init)
  }

  private static func metadata(_ row: Row) throws -> JSONObject? {
    try row.textOrNil("metadata").map { try JSONField(JSONReader.read(Array($0.utf8))).object }
  }

  private init(_ row: Row) throws {
    guard let kind = Kind(rawValue: try row.text("type")) else { throw StorageError.column("type") }
    self.init(
      id: try row.text("id"), payment: try row.text("payment"), kind: kind,
      reference: try row.textOrNil("reference"), value: try row.integer("amount"),
      isFinal: try row.integer("is_final") == 1, metadata: try Self.metadata(row),
      responseCode: try row.textOrNil("response_code"),
      processedAt: try row.integerOrNil("processed_at").map { Timestamp(microseconds: $0) })
  }

  init(
    id: String, payment: String, kind: Kind, reference: String?, value: Int64, isFinal: Bool = false,
    metadata: JSONObject? = nil, responseCode: String? = nil, processedAt: Timestamp? = nil
  ) {
    self.id = id
    self.payment = payment
    self.kind = kind
    self.reference = reference
    self.value = value
    self.isFinal = isFinal
    self.metadata = metadata
    self.responseCode = responseCode
    self.processedAt = processedAt
  }
}
