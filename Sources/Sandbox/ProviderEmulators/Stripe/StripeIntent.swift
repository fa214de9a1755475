import Storage
import StrictJSON
import TenderPayments

/// A PaymentIntent in the ledger of the emulated Stripe, with its charge.
struct StripeIntent: Sendable {
  enum Status: String, Sendable {
    case requiresCapture = "requires_capture"
    case succeeded, processing, canceled
    case requiresAction = "requires_action"
    case requiresPaymentMethod = "requires_payment_method"
  }

  /// What becomes of its refunds.
  enum Refunds: String, Sendable {
    case now, later, returned
  }

  let id: String
  let account: String
  let money: StripeMoney
  let capturesByItself: Bool
  let multicapture: Bool
  let brand: String
  let cardSuffix: String
  let refunds: Refunds
  let createdAt: Timestamp
  var status: Status
  var metadata: [String: String]
  /// Nil before the card was charged.
  var charge: String?
  var authorizationCode: String?
  var networkTransaction: String?
  var decline: StripeDecline?
  var cancellationReason: String?
  var canceledAt: Timestamp?
  var capturable: Int64 = 0
  var received: Int64 = 0
  var refunded: Int64 = 0

  mutating func approve() {
    status = capturesByItself ? .succeeded : .requiresCapture
    (capturable, received) = capturesByItself ? (0, money.value) : (money.value, 0)
  }
}

extension StripeIntent {
  /// - Parameter expanding: whether `latest_charge` is the charge itself, not its id.
  func json(expanding: Bool = false) -> JSONValue {
    var json: JSONObject = [
      "id": .string(id), "object": "payment_intent", "amount": .integer(money.value),
      "amount_capturable": .integer(capturable), "amount_received": .integer(received),
      "capture_method": .string(capturesByItself ? "automatic" : "manual"), "confirmation_method": "automatic",
      "client_secret": .string("\(id)_secret_sandbox"), "created": .integer(createdAt.seconds),
      "currency": .string(money.code), "livemode": false, "metadata": Self.json(metadata),
      "payment_method_types": ["card"], "status": .string(status.rawValue),
    ]
    json["latest_charge"] = charge.map { expanding ? chargeJSON : .string($0) } ?? .null
    json["last_payment_error"] = decline?.error ?? .null
    json["canceled_at"] = canceledAt.map { .integer($0.seconds) } ?? .null
    json["cancellation_reason"] = cancellationReason.map(JSONValue.string) ?? .null
    if status == .requiresAction { json["next_action"] = ["type": "use_stripe_sdk", "use_stripe_sdk": [:]] }
    return .object(json)
  }

  static func json(_ metadata: [String: String]) -> JSONValue {
    .object(metadata.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = .string($1.value) })
  }

  private var chargeJSON: JSONValue {
    [
      "id": .string(charge ?? ""), "object": "charge", "amount": .integer(money.value),
      "amount_captured": .integer(received), "amount_refunded": .integer(refunded), "captured": .bool(received > 0),
      "currency": .string(money.code), "livemode": false, "paid": .bool(decline == nil),
      "payment_intent": .string(id), "payment_method_details": ["type": "card", "card": cardJSON],
      "status": .string(decline == nil ? status == .processing ? "pending" : "succeeded" : "failed"),
    ]
  }

  private var cardJSON: JSONValue {
    var card: JSONObject = [
      "brand": .string(brand), "last4": .string(cardSuffix),
      "multicapture": ["status": .string(multicapture ? "available" : "unavailable")],
      "wallet": ["type": "apple_pay", "apple_pay": ["type": "apple_pay"], "dynamic_last4": .string(cardSuffix)],
    ]
    card["authorization_code"] = authorizationCode.map(JSONValue.string) ?? .null
    card["network_transaction_id"] = networkTransaction.map(JSONValue.string) ?? .null
    return .object(card)
  }
}

extension StripeIntent {
  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO intents (sequence, id, account, status, amount, currency, capturable, received, refunded, metadata,
        captures_by_itself, multicapture, brand, card_suffix, charge, authorization_code, network_transaction,
        error_code, decline_code, refunds, created_at)
      VALUES ((SELECT COALESCE(MAX(sequence), 0) + 1 FROM intents), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
        $13, $14, $15, $16, $17, $18, $19, $20)
      """,
      .text(id), .text(account), .text(status.rawValue), .integer(money.value), .text(money.currency.code),
      .integer(capturable), .integer(received), .integer(refunded), StripeStore.text(Self.json(metadata)),
      .integer(capturesByItself ? 1 : 0), .integer(multicapture ? 1 : 0), .text(brand), .text(cardSuffix),
      .text(optional: charge), .text(optional: authorizationCode), .text(optional: networkTransaction),
      .text(optional: decline?.code), .text(optional: decline?.declineCode), .text(refunds.rawValue), .time(createdAt))
  }

  func save(in transaction: Transaction) throws {
    try transaction.run(
      """
      UPDATE intents SET status = $2, capturable = $3, received = $4, refunded = $5, metadata = $6,
        cancellation_reason = $7, canceled_at = $8 WHERE id = $1
      """,
      .text(id), .text(status.rawValue), .integer(capturable), .integer(received), .integer(refunded),
      StripeStore.text(Self.json(metadata)), .text(optional: cancellationReason),
      canceledAt.map(SQLValue.time) ?? .null)
  }

  static func find(_ id: String, of account: String, in transaction: Transaction) throws -> StripeIntent? {
    try transaction.row("SELECT * FROM intents WHERE id = $1 AND account = $2", .text(id), .text(account))
      .map(StripeIntent.init)
  }

  static func processing(before time: Int64, in transaction: Transaction) throws -> [StripeIntent] {
    try transaction.rows(
      "SELECT * FROM intents WHERE status = 'processing' AND created_at <= $1 ORDER BY sequence LIMIT 100",
      .integer(time)
    ).map(StripeIntent.init)
  }

  /// The newest first.
  static func all(of account: String, in transaction: Transaction) throws -> [StripeIntent] {
    try transaction.rows("SELECT * FROM intents WHERE account = $1 ORDER BY sequence DESC", .text(account))
      .map(StripeIntent.init)
  }

  init(_ row: Row) throws {
    guard let status = Status(rawValue: try row.text("status")) else { throw StorageError.column("status") }
    guard let refunds = Refunds(rawValue: try row.text("refunds")) else { throw StorageError.column("refunds") }
    guard let money = StripeMoney(value: try row.integer("amount"), currency: try row.text("currency")) else {
      throw StorageError.column("currency")
    }
    self.init(
      id: try row.text("id"), account: try row.text("account"), money: money,
      capturesByItself: try row.integer("captures_by_itself") == 1, multicapture: try row.integer("multicapture") == 1,
      brand: try row.text("brand"), cardSuffix: try row.text("card_suffix"), refunds: refunds,
      createdAt: try row.time("created_at"), status: status, metadata: try StripeStore.map(try row.text("metadata")),
      charge: try row.textOrNil("charge"), authorizationCode: try row.textOrNil("authorization_code"),
      networkTransaction: try row.textOrNil("network_transaction"),
      decline: try row.textOrNil("error_code").map {
        StripeDecline($0, try row.textOrNil("decline_code") ?? "generic_decline")
      },
      cancellationReason: try row.textOrNil("cancellation_reason"),
      canceledAt: try row.integerOrNil("canceled_at").map(Timestamp.init(microseconds:)),
      capturable: try row.integer("capturable"), received: try row.integer("received"),
      refunded: try row.integer("refunded"))
  }
}
