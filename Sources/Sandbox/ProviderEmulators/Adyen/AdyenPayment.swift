import Storage
import TenderPayments

/// A payment in the ledger of the emulated Adyen.
struct AdyenPayment: Sendable {
  enum State: String, Sendable {
    case received, authorised, refused, error, cancelled, expired
  }

  /// Which of its modifications is done first and fails days later, as when a card scheme rejects it.
  enum LateFailure: String, Sendable {
    case capture, refund
  }

  let pspReference: String
  let account: String
  let reference: String
  let amount: AdyenAmount
  /// `applepay` or `scheme`.
  let method: String
  /// Adyen's name of the card scheme: `visa`.
  let brand: String
  let cardSuffix: String
  let createdAt: Timestamp
  let lateFailure: LateFailure?
  let refusalCode: String?
  let authorizationCode: String?
  let networkReference: String?
  var state: State
  var authorised: Int64 = 0
  var captured: Int64 = 0
  var refunded: Int64 = 0

  var authorisedAmount: AdyenAmount { AdyenAmount(value: authorised, currency: amount.currency) }

  /// Why a capture is not possible, in Adyen's words; nil when it was done.
  mutating func capture(_ value: Int64, keepingRest: Bool) -> String? {
    guard state == .authorised, value <= authorised - captured else { return "Insufficient balance on payment" }
    captured += value
    if !keepingRest { authorised = captured }
    return nil
  }

  mutating func cancel() -> String? {
    guard state == .authorised else { return "Transaction is not authorised" }
    guard captured == 0 else { return "Transaction has been captured" }
    (state, authorised) = (.cancelled, 0)
    return nil
  }

  mutating func refund(_ value: Int64) -> String? {
    guard captured > 0 else { return "Transaction hasn't been captured, refund not possible" }
    guard value <= captured - refunded else { return "Insufficient balance on payment" }
    refunded += value
    return nil
  }
}

extension AdyenPayment {
  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO payments (psp_reference, account, reference, state, amount, currency, authorised, captured, refunded,
        method, brand, card_suffix, refusal_code, authorization_code, network_reference, late_failure, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
      """,
      .text(pspReference), .text(account), .text(reference), .text(state.rawValue), .integer(amount.value),
      .text(amount.currency.code), .integer(authorised), .integer(captured), .integer(refunded), .text(method),
      .text(brand), .text(cardSuffix), .text(optional: refusalCode), .text(optional: authorizationCode),
      .text(optional: networkReference), .text(optional: lateFailure?.rawValue), .time(createdAt))
  }

  func save(in transaction: Transaction) throws {
    try transaction.run(
      "UPDATE payments SET state = $2, authorised = $3, captured = $4, refunded = $5 WHERE psp_reference = $1",
      .text(pspReference), .text(state.rawValue), .integer(authorised), .integer(captured), .integer(refunded))
  }

  static func find(_ pspReference: String, of account: String, in transaction: Transaction) throws -> AdyenPayment? {
    try transaction.row(
      "SELECT * FROM payments WHERE psp_reference = $1 AND account = $2", .text(pspReference), .text(account)
    ).map(AdyenPayment.init)
  }

  /// The newest payment of this reference; one that is authorised comes first.
  static func find(reference: String, of account: String, in transaction: Transaction) throws -> AdyenPayment? {
    try transaction.row(
      """
      SELECT * FROM payments WHERE reference = $1 AND account = $2
      ORDER BY CASE state WHEN 'authorised' THEN 0 ELSE 1 END, created_at DESC
      """, .text(reference), .text(account)
    ).map(AdyenPayment.init)
  }

  static func findReceived(before time: Int64, in transaction: Transaction) throws -> [AdyenPayment] {
    try transaction.rows(
      "SELECT * FROM payments WHERE state = 'received' AND created_at <= $1 ORDER BY created_at LIMIT 100",
      .integer(time)
    ).map(AdyenPayment.init)
  }

  static func all(of account: String, in transaction: Transaction) throws -> [AdyenPayment] {
    try transaction.rows("SELECT * FROM payments WHERE account = $1 ORDER BY created_at LIMIT 10000", .text(account))
      .map(AdyenPayment.init)
  }

  private init(_ row: Row) throws {
    guard let state = State(rawValue: try row.text("state")) else { throw StorageError.column("state") }
    guard let amount = AdyenAmount(value: try row.integer("amount"), currency: try row.text("currency")) else {
      throw StorageError.column("currency")
    }
    self.init(
      pspReference: try row.text("psp_reference"), account: try row.text("account"),
      reference: try row.text("reference"), amount: amount, method: try row.text("method"),
      brand: try row.text("brand"), cardSuffix: try row.text("card_suffix"), createdAt: try row.time("created_at"),
      lateFailure: try row.textOrNil("late_failure").flatMap(LateFailure.init),
      refusalCode: try row.textOrNil("refusal_code"), authorizationCode: try row.textOrNil("authorization_code"),
      networkReference: try row.textOrNil("network_reference"), state: state,
      authorised: try row.integer("authorised"), captured: try row.integer("captured"),
      refunded: try row.integer("refunded"))
  }
}
