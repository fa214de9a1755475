import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

/// A payment in the ledger of the emulated Worldline Acquiring.
struct WorldlineAcquiringPayment: Sendable {
  enum Status: String, Sendable {
    case authorized = "AUTHORIZED"
    case notAuthorized = "NOT_AUTHORIZED"
    case pending = "PENDING"
    case confirmed = "CONFIRMED"
    case reversed = "REVERSED"
    case cancelled = "CANCELLED"
  }

  let id: String
  let merchant: String
  /// The caller's `merchantReference`.
  let reference: String
  let amount: Amount
  let isPreAuthorization: Bool
  let brand: String
  let cardSuffix: String
  var authorizationCode: String?
  var schemeTransactionID: String?
  let createdAt: Timestamp
  var changedAt: Timestamp
  var status: Status
  var authorized: Int64 = 0
  var captured: Int64 = 0
  var refunded: Int64 = 0

  var left: Int64 { authorized - captured }
  var refundable: Int64 { captured - refunded }

  /// How long an issuer holds the money: seven days for a final authorization, thirty for a pre-authorization.
  private var lifetime: Duration { .seconds(86_400 * (isPreAuthorization ? 30 : 7)) }

  /// What the time did: a hold that is older than its lifetime is cancelled, and a pending one is decided.
  mutating func age(to now: Timestamp) {
    guard status == .authorized, left > 0, now >= createdAt.adding(lifetime) else { return }
    authorized = captured
    status = captured > 0 ? .confirmed : .cancelled
    changedAt = now
  }

  mutating func approve(_ units: Int64) { (status, authorized) = (.authorized, units) }

  mutating func capture(_ units: Int64, isFinal: Bool) {
    captured += units
    if isFinal { authorized = captured }
    if left == 0 { status = .confirmed }
  }

  mutating func reverse(_ units: Int64) {
    authorized -= units
    if left == 0 { status = captured > 0 ? .confirmed : .reversed }
  }
}

extension WorldlineAcquiringPayment {
  var totalAuthorized: JSONValue { Amount(minorUnits: authorized, currency: amount.currency).worldlineAcquiring }

  /// `payment` of the answers to actions.
  var summary: JSONValue {
    [
      "paymentId": .string(id), "status": .string(status.rawValue), "statusTimestamp": .string(changedAt.description),
      "references": references,
    ]
  }

  var references: JSONValue {
    var object: JSONObject = [:]
    object["schemeTransactionId"] = schemeTransactionID.map(JSONValue.string)
    return .object(object)
  }

  /// What a payment's own answers have beside the result of an operation.
  var members: JSONObject {
    var object: JSONObject = [
      "paymentId": .string(id), "status": .string(status.rawValue), "statusTimestamp": .string(changedAt.description),
      "cardPaymentData": ["brand": .string(brand)], "references": references,
    ]
    object["initialAuthorizationCode"] = authorizationCode.map(JSONValue.string)
    if authorizationCode != nil { object["totalAuthorizedAmount"] = totalAuthorized }
    return object
  }

  /// For lists of the sandbox.
  var json: JSONValue {
    [
      "paymentId": .string(id), "reference": .string(reference), "status": .string(status.rawValue),
      "amount": .integer(amount.minorUnits), "currency": .string(amount.currency.code),
      "authorized": .integer(authorized), "captured": .integer(captured), "refunded": .integer(refunded),
      "cardSuffix": .string(cardSuffix),
    ]
  }
}

extension Amount {
  /// Worldline's `AmountData`.
  var worldlineAcquiring: JSONValue {
    [
      "amount": .integer(minorUnits), "currencyCode": .string(currency.code),
      "numberOfDecimals": .integer(Int64(currency.exponent)),
    ]
  }
}

extension WorldlineAcquiringPayment {
  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO payments (payment_id, merchant, reference, status, amount, currency, authorized, captured, refunded,
        is_pre_authorization, brand, card_suffix, authorization_code, scheme_transaction_id, created_at, changed_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11, $12, $13, $14, $14)
      """,
      .text(id), .text(merchant), .text(reference), .text(status.rawValue), .integer(amount.minorUnits),
      .text(amount.currency.code), .integer(authorized), .integer(captured), .integer(isPreAuthorization ? 1 : 0),
      .text(brand), .text(cardSuffix), .text(optional: authorizationCode), .text(optional: schemeTransactionID),
      .time(createdAt))
  }

  func save(in transaction: Transaction) throws {
    try transaction.run(
      """
      UPDATE payments SET status = $2, authorized = $3, captured = $4, refunded = $5, authorization_code = $6,
        scheme_transaction_id = $7, changed_at = $8
      WHERE payment_id = $1
      """,
      .text(id), .text(status.rawValue), .integer(authorized), .integer(captured), .integer(refunded),
      .text(optional: authorizationCode), .text(optional: schemeTransactionID),
      .time(transaction.now))
  }

  static func find(_ id: String, of merchant: String, in transaction: Transaction) throws -> WorldlineAcquiringPayment?
  {
    try transaction.row("SELECT * FROM payments WHERE payment_id = $1 AND merchant = $2", .text(id), .text(merchant))
      .map(WorldlineAcquiringPayment.init)
  }

  static func all(of merchants: [String], in transaction: Transaction) throws -> [WorldlineAcquiringPayment] {
    try transaction.rows("SELECT * FROM payments ORDER BY created_at, payment_id").map(WorldlineAcquiringPayment.init)
      .filter { merchants.contains($0.merchant) }
  }

  private init(_ row: Row) throws {
    guard let status = Status(rawValue: try row.text("status")) else { throw StorageError.column("status") }
    self.status = status
    id = try row.text("payment_id")
    merchant = try row.text("merchant")
    reference = try row.text("reference")
    amount = try row.amount()
    isPreAuthorization = try row.integer("is_pre_authorization") == 1
    brand = try row.text("brand")
    cardSuffix = try row.text("card_suffix")
    authorizationCode = try row.textOrNil("authorization_code")
    schemeTransactionID = try row.textOrNil("scheme_transaction_id")
    createdAt = try row.time("created_at")
    changedAt = try row.time("changed_at")
    authorized = try row.integer("authorized")
    captured = try row.integer("captured")
    refunded = try row.integer("refunded")
  }
}
