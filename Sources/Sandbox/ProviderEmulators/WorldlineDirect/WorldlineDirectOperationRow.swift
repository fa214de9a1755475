import DirectWire
import Storage
import TenderPayments

/// A capture, a cancel or a refund in the ledger of the emulated Worldline Direct.
struct WorldlineDirectOperationRow: Sendable {
  enum Kind: String, Sendable {
    case capture, cancel, refund
  }

  let payment: String
  let number: Int
  let kind: Kind
  /// In minor units.
  let amount: Int64
  let isFinal: Bool
  /// The caller's; nil for what a person did in the Merchant Portal.
  let reference: String?
  let createdAt: Timestamp
  var status: DirectStatus
  var changedAt: Timestamp

  var name: DirectPaymentID { DirectPaymentID(payment: payment, operation: number) }
  private var references: DirectReferences? { reference.map { DirectReferences(merchantReference: $0) } }

  func output(of payment: WorldlineDirectPayment) -> DirectOperation {
    DirectOperation(
      id: name, payment.of(amount), payment.output(of: status, at: changedAt), references: references, at: createdAt)
  }

  func capture(of payment: WorldlineDirectPayment) -> DirectCapture {
    DirectCapture(
      id: name, status,
      DirectPaymentOutput(
        amountOfMoney: payment.of(amount), acquiredAmount: payment.of(status.progress == .done ? amount : 0),
        references: references, operationReferences: references, mobile: payment.mobile, at: createdAt))
  }

  func refund(of payment: WorldlineDirectPayment) -> DirectRefund {
    DirectRefund(
      id: name, DirectStatusOutput(status, changedAt: changedAt, isCancellable: false),
      DirectPaymentOutput(
        amountOfMoney: payment.of(amount), references: references, operationReferences: references,
        mobileRefund: MobileRefundOutput(
          network: payment.network, totalAmountPaid: payment.captured, totalAmountRefunded: payment.refunded),
        at: createdAt))
  }
}

extension WorldlineDirectOperationRow {
  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO operations (payment, number, kind, amount, is_final, reference, status, created_at, changed_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
      """, .text(payment), .integer(Int64(number)), .text(kind.rawValue), .integer(amount), .integer(isFinal ? 1 : 0),
      .text(optional: reference), .integer(status.rawValue), .time(createdAt))
  }

  func save(in transaction: Transaction) throws {
    try transaction.run(
      "UPDATE operations SET status = $3, changed_at = $4 WHERE payment = $1 AND number = $2", .text(payment),
      .integer(Int64(number)), .integer(status.rawValue), .time(transaction.now))
  }

  static func all(of payment: String, in transaction: Transaction) throws -> [WorldlineDirectOperationRow] {
    try transaction.rows("SELECT * FROM operations WHERE payment = $1 ORDER BY number", .text(payment))
      .map(WorldlineDirectOperationRow.init)
  }

  /// Those that are accepted and not yet decided.
  static func open(before time: Int64, in transaction: Transaction) throws -> [WorldlineDirectOperationRow] {
    try transaction.rows(
      """
      SELECT * FROM operations WHERE status IN (81, 82, 91, 92) AND created_at <= $1 ORDER BY created_at LIMIT 100
      """, .integer(time)
    ).map(WorldlineDirectOperationRow.init)
  }

  private init(_ row: Row) throws {
    guard let kind = Kind(rawValue: try row.text("kind")) else { throw StorageError.column("kind") }
    guard let status = DirectStatus(rawValue: try row.integer("status")) else { throw StorageError.column("status") }
    self.init(
      payment: try row.text("payment"), number: Int(try row.integer("number")), kind: kind,
      amount: try row.integer("amount"), isFinal: try row.integer("is_final") == 1,
      reference: try row.textOrNil("reference"), createdAt: try row.time("created_at"), status: status,
      changedAt: try row.time("changed_at"))
  }
}
