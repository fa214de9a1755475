import DirectWire
import Storage
import TenderPayments

/// A payment in the ledger of the emulated Worldline Direct, with its operations.
struct WorldlineDirectPayment: Sendable {
  let id: String
  let merchant: String
  let reference: String?
  let parameters: String?
  let amount: Amount
  let capturesAtOnce: Bool
  let network: String
  let cardSuffix: String
  /// `MMYY`
  let expiry: String
  let eci: String?
  let errorCode: String?
  let authorizationCode: String?
  let createdAt: Timestamp
  /// The status of operation 0: rejected, pending capture, captured (a sale) or waiting.
  var status: DirectStatus
  var changedAt: Timestamp
  var operations: [WorldlineDirectOperationRow] = []

  var name: DirectPaymentID { DirectPaymentID(payment: id) }
  private var isAuthorized: Bool { [.pendingCapture, .captured].contains(status) }

  private func sum(_ kind: WorldlineDirectOperationRow.Kind, _ which: (DirectStatus.Progress) -> Bool) -> Int64 {
    operations.filter { $0.kind == kind && which($0.status.progress) }.reduce(0) { $0 + $1.amount }
  }

  /// What was captured or will be, unless it is refused.
  private var promised: Int64 { sum(.capture) { $0 != .refused } }
  var captured: Int64 { status == .captured ? amount.minorUnits : sum(.capture) { $0 == .done } }
  var cancelled: Int64 { sum(.cancel) { $0 != .refused } }
  var refunded: Int64 { sum(.refund) { $0 == .done } }
  private var isClosed: Bool {
    operations.contains { $0.kind == .capture && $0.isFinal && $0.status.progress != .refused }
  }

  /// What can be captured or cancelled.
  var free: Int64 {
    status == .pendingCapture && !isClosed ? amount.minorUnits - promised - cancelled : 0
  }
  var refundable: Int64 { captured - sum(.refund) { $0 != .refused } }

  /// The payment's own state: that of its newest refund once all is given back, or else of its newest capture, or else of
  /// its cancel once nothing is held.
  var state: DirectStatus {
    let valid = operations.filter { $0.status.progress != .refused }
    let refund = refundable == 0 ? valid.last { $0.kind == .refund } : nil
    if let newest = refund ?? valid.last(where: { $0.kind == .capture }) { return newest.status }
    return free == 0 ? valid.last?.status ?? status : status
  }

  var statusOutput: DirectStatusOutput { output(of: state, at: changedAt) }

  /// A state with what the payment allows now.
  func output(of state: DirectStatus, at time: Timestamp) -> DirectStatusOutput {
    DirectStatusOutput(
      state, changedAt: time, isAuthorized: isAuthorized, isCancellable: free > 0, isRefundable: refundable > 0,
      errors: state == .rejected ? errorCode.map { [.refused(errorCode: $0)] } : nil)
  }
}

// Answers.
extension WorldlineDirectPayment {
  var references: DirectReferences {
    DirectReferences(merchantReference: reference, merchantParameters: parameters)
  }

  var mobile: MobilePaymentOutput {
    MobilePaymentOutput(
      authorisationCode: authorizationCode, network: network,
      card: cardSuffix.isEmpty ? nil : .init(suffix: cardSuffix, expiryDate: expiry), eci: eci)
  }

  private var output: DirectPaymentOutput {
    DirectPaymentOutput(
      amountOfMoney: amount, acquiredAmount: of(captured - refunded), references: references, mobile: mobile,
      at: createdAt)
  }

  func of(_ units: Int64) -> Amount { Amount(minorUnits: units, currency: amount.currency) }

  /// The payment as `GET /payments/{id}` has it.
  var answer: DirectPayment { DirectPayment(id: name, statusOutput: statusOutput, paymentOutput: output) }

  /// The payment as the answer or the event about operation 0 has it.
  var created: DirectPayment {
    DirectPayment(
      id: name, statusOutput: self.output(of: status, at: changedAt), paymentOutput: output,
      operationOutput: operationZero)
  }

  private var operationZero: DirectOperation {
    DirectOperation(
      id: name, amount, self.output(of: status, at: changedAt), references: references, at: createdAt)
  }

  var details: DirectPayment {
    DirectPayment(
      id: name, statusOutput: statusOutput, paymentOutput: output,
      operations: [operationZero] + operations.map { $0.output(of: self) })
  }

  /// The payment as the answer or the event about a later operation has it.
  func about(_ operation: WorldlineDirectOperationRow) -> DirectPayment {
    DirectPayment(
      id: operation.name, statusOutput: self.output(of: operation.status, at: operation.changedAt),
      paymentOutput: output, operationOutput: operation.output(of: self))
  }

  var captures: [DirectCapture] {
    let sale = DirectCapture(id: name, .captured, output)
    return (status == .captured ? [sale] : []) + operations.filter { $0.kind == .capture }.map { $0.capture(of: self) }
  }

  var refunds: [DirectRefund] { operations.filter { $0.kind == .refund }.map { $0.refund(of: self) } }
}

extension WorldlineDirectPayment {
  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO payments (id, merchant, reference, parameters, amount, currency, status, captures_at_once, network,
        card_suffix, expiry, eci, error_code, authorization_code, created_at, changed_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)
      """, .text(id), .text(merchant), .text(optional: reference), .text(optional: parameters),
      .integer(amount.minorUnits), .text(amount.currency.code), .integer(status.rawValue),
      .integer(capturesAtOnce ? 1 : 0), .text(network), .text(cardSuffix), .text(expiry), .text(optional: eci),
      .text(optional: errorCode), .text(optional: authorizationCode), .time(createdAt))
  }

  /// Ends the wait of operation 0, or follows an operation.
  func save(in transaction: Transaction) throws {
    try transaction.run(
      "UPDATE payments SET status = $2, changed_at = $3 WHERE id = $1", .text(id), .integer(status.rawValue),
      .time(transaction.now))
  }

  static func find(_ id: String, of merchant: String, in transaction: Transaction) throws -> WorldlineDirectPayment? {
    try transaction.row("SELECT * FROM payments WHERE id = $1 AND merchant = $2", .text(id), .text(merchant))
      .map { try WorldlineDirectPayment($0, in: transaction) }
  }

  static func waiting(before time: Int64, in transaction: Transaction) throws -> [WorldlineDirectPayment] {
    try transaction.rows(
      "SELECT * FROM payments WHERE status = 51 AND created_at <= $1 ORDER BY created_at LIMIT 100", .integer(time)
    ).map { try WorldlineDirectPayment($0, in: transaction) }
  }

  static func all(of merchant: String, in transaction: Transaction) throws -> [WorldlineDirectPayment] {
    try transaction.rows("SELECT * FROM payments WHERE merchant = $1 ORDER BY created_at LIMIT 10000", .text(merchant))
      .map { try WorldlineDirectPayment($0, in: transaction) }
  }

  private init(_ row: Row, in transaction: Transaction) throws {
    guard let status = DirectStatus(rawValue: try row.integer("status")) else { throw StorageError.column("status") }
    guard let currency = Currency(code: try row.text("currency")) else { throw StorageError.column("currency") }
    self.init(
      id: try row.text("id"), merchant: try row.text("merchant"), reference: try row.textOrNil("reference"),
      parameters: try row.textOrNil("parameters"),
      amount: Amount(minorUnits: try row.integer("amount"), currency: currency),
      capturesAtOnce: try row.integer("captures_at_once") == 1, network: try row.text("network"),
      cardSuffix: try row.text("card_suffix"), expiry: try row.text("expiry"), eci: try row.textOrNil("eci"),
      errorCode: try row.textOrNil("error_code"), authorizationCode: try row.textOrNil("authorization_code"),
      createdAt: try row.time("created_at"), status: status, changedAt: try row.time("changed_at"))
    operations = try WorldlineDirectOperationRow.all(of: id, in: transaction)
  }
}
