import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

/// One operation in the ledger of the emulated Worldline Acquiring, with the answer that a repeat gets again.
struct WorldlineAcquiringOperation: Sendable {
  let id: String
  /// Nil for a technical reversal of what is not known.
  var payment: String?
  var refund: String?
  let kind: String
  /// Nil where no payment is known.
  let amount: Amount?
  /// The number of a capture of a part.
  var captureNumber: Int64?
  let result: WorldlineAcquiringResult
  let answer: JSONObject
}

extension WorldlineAcquiringOperation {
  /// One of the operations of a payment, as an inquiry lists it.
  struct Listed: Sendable {
    let id: String
    let refund: String?
    let kind: String
    let amount: Amount
    let result: WorldlineAcquiringResult
    let time: Timestamp

    init(_ row: Row) throws {
      id = try row.text("operation_id")
      refund = try row.textOrNil("refund_id")
      kind = try row.text("kind")
      amount = try row.amount()
      result = WorldlineAcquiringResult(code: try row.text("response_code"))
      time = try row.time("created_at")
    }

    var json: JSONValue {
      var object = result.members(of: id)
      for member in ["responder", "additionalResponseData", "retryAfter"] { object[member] = nil }
      object["operationType"] = .string(kind)
      object["operationTimestamp"] = .string(time.description)
      object["amount"] = amount.worldlineAcquiring
      return .object(object)
    }
  }

  /// The operations of a payment that Worldline lists, oldest first.
  static func list(of payment: String, in transaction: Transaction) throws -> [Listed] {
    try transaction.rows(
      "SELECT * FROM operations WHERE payment = $1 AND kind <> 'TECHNICAL_REVERSAL' ORDER BY sequence", .text(payment)
    ).map(Listed.init)
  }

  /// The refund of this name and the payment that it gives back.
  static func refund(
    _ name: String, of merchant: String, in transaction: Transaction
  ) throws -> (refund: Listed, payment: String)? {
    let row = try transaction.row(
      "SELECT * FROM operations WHERE refund_id = $1 AND merchant = $2", .text(name), .text(merchant))
    guard let row else { return nil }
    return (try Listed(row), try row.text("payment"))
  }

  /// The payment that an operation authorized.
  static func payment(
    authorizedBy id: String, of merchant: String, in transaction: Transaction
  ) throws -> WorldlineAcquiringPayment? {
    let row = try transaction.row(
      "SELECT payment FROM operations WHERE operation_id = $1 AND merchant = $2 AND kind = 'AUTHORIZATION'", .text(id),
      .text(merchant))
    return try row.flatMap { try WorldlineAcquiringPayment.find(try $0.text("payment"), of: merchant, in: transaction) }
  }

  func insert(_ merchant: String, in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO operations (sequence, merchant, operation_id, payment, refund_id, kind, amount, currency,
        response_code, created_at, capture_number)
      VALUES ((SELECT count(*) FROM operations), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      """,
      .text(merchant), .text(id), .text(optional: payment), .text(optional: refund), .text(kind),
      .integer(optional: amount?.minorUnits), .text(optional: amount?.currency.code), .text(result.code),
      .time(transaction.now), .integer(optional: captureNumber))
  }
}
