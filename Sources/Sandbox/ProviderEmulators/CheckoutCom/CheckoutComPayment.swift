import Storage
import StrictJSON
import TenderPayments

/// A payment in the ledger of the emulated Checkout.com.
struct CheckoutComPayment: Sendable {
  enum State: String, Sendable {
    case pending, authorized, declined, voided, expired
  }

  let id: String
  let channel: String
  let reference: String?
  let amount: CheckoutComAmount
  /// `token` or `network_token`.
  let source: String
  /// Checkout.com's name of the card scheme: `Visa`.
  let scheme: String
  let cardSuffix: String
  let createdAt: Timestamp
  var responseCode: String
  var authorizationCode: String?
  var schemeID: String?
  var state: State
  var authorized: Int64 = 0
  /// What can still be captured or voided.
  var available: Int64 = 0
  var captured: Int64 = 0
  var refunded: Int64 = 0
  /// Checkout.com's name of the card that it stored with this payment.
  var instrument: String?

  var authorizedAmount: CheckoutComAmount { CheckoutComAmount(value: authorized, currency: amount.currency) }

  /// Checkout.com's word for the state and the balances.
  var status: String {
    switch state {
    case .pending: "Pending"
    case .declined: "Declined"
    case .voided: "Voided"
    case .expired: "Expired"
    case .authorized where refunded > 0: refunded == captured ? "Refunded" : "Partially Refunded"
    case .authorized where captured > 0: available == 0 ? "Captured" : "Partially Captured"
    case .authorized: amount.value == 0 ? "Card Verified" : "Authorized"
    }
  }

  var isApproved: Bool { state != .pending && state != .declined }

  mutating func authorize(_ value: Int64) {
    (state, authorized, available) = (.authorized, value, value)
    responseCode = CheckoutComResponseCode.approved
  }

  /// False when there is less.
  mutating func capture(_ value: Int64, isFinal: Bool) -> Bool {
    guard state == .authorized, value <= available else { return false }
    captured += value
    available = isFinal ? 0 : available - value
    return true
  }

  /// Releases what is not captured.
  mutating func void(as end: State = .voided) -> Bool {
    guard state == .authorized, available > 0 else { return false }
    available = 0
    if captured == 0 { state = end }
    return true
  }

  mutating func refund(_ value: Int64) -> Bool {
    guard value <= captured - refunded else { return false }
    refunded += value
    return true
  }
}

extension CheckoutComPayment {
  private static let selected =
    "payments.*, (SELECT instruments.id FROM instruments WHERE instruments.payment = payments.id) AS instrument"

  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO payments (id, channel, reference, state, amount, currency, authorized, available, captured, refunded,
        source, scheme, card_suffix, response_code, auth_code, scheme_id, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
      """,
      .text(id), .text(channel), .text(optional: reference), .text(state.rawValue), .integer(amount.value),
      .text(amount.currency.code), .integer(authorized), .integer(available), .integer(captured), .integer(refunded),
      .text(source), .text(scheme), .text(cardSuffix), .text(responseCode), .text(optional: authorizationCode),
      .text(optional: schemeID), .time(createdAt))
  }

  func save(in transaction: Transaction) throws {
    try transaction.run(
      """
      UPDATE payments SET state = $2, authorized = $3, available = $4, captured = $5, refunded = $6, response_code = $7
      WHERE id = $1
      """,
      .text(id), .text(state.rawValue), .integer(authorized), .integer(available), .integer(captured),
      .integer(refunded), .text(responseCode))
  }

  static func find(_ id: String, of channel: String, in transaction: Transaction) throws -> CheckoutComPayment? {
    try transaction.row(
      "SELECT \(selected) FROM payments WHERE id = $1 AND channel = $2", .text(id), .text(channel)
    ).map(CheckoutComPayment.init)
  }

  /// The newest first.
  static func all(
    of channel: String, reference: String, in transaction: Transaction
  ) throws -> [CheckoutComPayment] {
    try transaction.rows(
      "SELECT \(selected) FROM payments WHERE channel = $1 AND reference = $2 ORDER BY created_at DESC, rowid DESC LIMIT 1000",
      .text(channel), .text(reference)
    ).map(CheckoutComPayment.init)
  }

  /// Those of a period, the newest first.
  static func all(
    of channel: String, in period: Range<Timestamp>, limit: Int64, in transaction: Transaction
  ) throws -> [CheckoutComPayment] {
    try transaction.rows(
      """
      SELECT \(selected) FROM payments WHERE channel = $1 AND created_at >= $2 AND created_at < $3
      ORDER BY created_at DESC, rowid DESC LIMIT $4
      """, .text(channel), .time(period.lowerBound), .time(period.upperBound), .integer(limit)
    ).map(CheckoutComPayment.init)
  }

  static func pending(before time: Int64, in transaction: Transaction) throws -> [CheckoutComPayment] {
    try transaction.rows(
      "SELECT \(selected) FROM payments WHERE state = 'pending' AND created_at <= $1 ORDER BY created_at LIMIT 100",
      .integer(time)
    ).map(CheckoutComPayment.init)
  }

  private init(_ row: Row) throws {
    guard let state = State(rawValue: try row.text("state")) else { throw StorageError.column("state") }
    guard let amount = CheckoutComAmount(value: try row.integer("amount"), currency: try row.text("currency")) else {
      throw StorageError.column("currency")
    }
    self.init(
      id: try row.text("id"), channel: try row.text("channel"), reference: try row.textOrNil("reference"),
      amount: amount, source: try row.text("source"), scheme: try row.text("scheme"),
      cardSuffix: try row.text("card_suffix"), createdAt: try row.time("created_at"),
      responseCode: try row.text("response_code"), authorizationCode: try row.textOrNil("auth_code"),
      schemeID: try row.textOrNil("scheme_id"), state: state, authorized: try row.integer("authorized"),
      available: try row.integer("available"), captured: try row.integer("captured"),
      refunded: try row.integer("refunded"), instrument: try row.textOrNil("instrument"))
  }
}
