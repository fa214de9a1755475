import Storage
import StrictJSON
import TenderPayments

/// An amount held on a card, and its balances.
struct Hold: Sendable {
  enum State: String, Sendable {
    case held, pending, declined, voided, reversed
  }

  let acquirerReference: String
  let merchant: String
  let reference: String
  let merchantReference: String
  let cardSuffix: String
  let amount: Amount
  private(set) var state: State
  private(set) var authorized: Int64
  private(set) var captured: Int64 = 0
  private(set) var refunded: Int64 = 0
  private let createdAt: Timestamp

  init(_ wanted: HoldRequest, of merchant: String, cardSuffix: String, named name: String, at now: Timestamp) {
    createdAt = now
    acquirerReference = name
    self.merchant = merchant
    reference = wanted.reference
    merchantReference = wanted.merchantReference
    self.cardSuffix = cardSuffix
    amount = wanted.amount
    state = .pending
    authorized = 0
  }

  /// Moves the balances. Returns `00`, or `12` for the wrong state, `13` for the wrong amount, `25` when nothing is
  /// held any more.
  ///
  /// - Parameter promised: what a final capture does not release, because other captures are accepted and unresolved.
  mutating func post(_ kind: FollowUp, _ wanted: Amount, isFinal: Bool = false, keeping promised: Int64 = 0) -> String {
    guard state == .held else { return state == .pending ? "12" : "25" }
    guard wanted.currency == amount.currency else { return "13" }
    switch kind {
    case .capture:
      guard wanted.minorUnits <= authorized - captured else { return "13" }
      captured += wanted.minorUnits
      if isFinal { authorized = min(authorized, captured + promised) }
    case .refund:
      guard wanted.minorUnits <= captured - refunded else { return "13" }
      refunded += wanted.minorUnits
    case .void:
      guard authorized > captured else { return "25" }
      guard wanted.minorUnits <= authorized - captured else { return "13" }
      authorized -= wanted.minorUnits
      if authorized == 0 { state = .voided }
    }
    return "00"
  }

  /// Releases what was not captured once the hold has expired, as issuers do; returns whether it had expired.
  mutating func lapse(at now: Timestamp) -> Bool {
    guard state == .held, authorized > captured, now >= createdAt.adding(Self.lifetime) else { return false }
    authorized = captured
    if captured == 0 { state = .voided }
    return true
  }

  /// Seven days, which is what the sandbox's connector states.
  private static let lifetime: Duration = .seconds(86_400 * 7)

  /// Approves a pending hold; false when it is not pending.
  mutating func approve() -> Bool {
    guard state == .pending else { return false }
    (state, authorized) = (.held, amount.minorUnits)
    return true
  }

  mutating func reverse() -> String {
    switch state {
    case .declined: return "25"
    case .reversed, .voided: return "00"
    case .held where captured > 0: return "12"
    case .held, .pending:
      (state, authorized) = (.reversed, 0)
      return "00"
    }
  }

  /// The state and the balances in one word, in the terms of Tender's ledger.
  private var status: String {
    guard state == .held else { return state.rawValue }
    if refunded > 0 { return refunded == captured ? "refunded" : "partially_refunded" }
    if captured > 0 { return captured == authorized ? "captured" : "partially_captured" }
    return "authorized"
  }

  var json: JSONValue {
    [
      "reference": .string(reference), "acquirerReference": .string(acquirerReference),
      "merchantReference": .string(merchantReference), "status": .string(status),
      "amount": .integer(amount.minorUnits), "currency": .string(amount.currency.code),
      "authorized": .integer(authorized), "captured": .integer(captured), "refunded": .integer(refunded),
      "cardSuffix": .string(cardSuffix),
    ]
  }
}

extension Hold {
  /// - Parameters:
  ///   - code: the response code: it decides in which state the hold begins.
  ///   - approved: what is held, when it is less than the amount.
  func insert(code: String, approved: Amount?, in transaction: Transaction) throws {
    let (state, authorized): (State, Int64) =
      switch code {
      case "00", "10": (.held, (approved ?? amount).minorUnits)
      case "09": (.pending, 0)
      default: (.declined, 0)
      }
    try transaction.run(
      """
      INSERT INTO holds (acquirer_reference, merchant, reference, merchant_reference, card_suffix, state, amount,
        currency, authorized, captured, refunded, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $10)
      """,
      .text(acquirerReference), .text(merchant), .text(reference), .text(merchantReference), .text(cardSuffix),
      .text(state.rawValue), .integer(amount.minorUnits), .text(amount.currency.code), .integer(authorized),
      .time(createdAt))
  }

  func save(in transaction: Transaction) throws {
    try transaction.run(
      "UPDATE holds SET state = $2, authorized = $3, captured = $4, refunded = $5 WHERE acquirer_reference = $1",
      .text(acquirerReference), .text(state.rawValue), .integer(authorized), .integer(captured), .integer(refunded))
  }

  static func find(_ name: String, of merchant: String, in transaction: Transaction) throws -> Hold? {
    try transaction.row(
      "SELECT * FROM holds WHERE acquirer_reference = $1 AND merchant = $2", .text(name), .text(merchant)
    ).map(Hold.init)
  }

  static func find(reference: String, of merchant: String, in transaction: Transaction) throws -> Hold? {
    try transaction.row(
      "SELECT * FROM holds WHERE reference = $1 AND merchant = $2", .text(reference), .text(merchant)
    ).map(Hold.init)
  }

  static func all(of merchant: String, limit: Int64, in transaction: Transaction) throws -> [Hold] {
    try transaction.rows(
      "SELECT * FROM holds WHERE merchant = $1 ORDER BY acquirer_reference DESC LIMIT $2", .text(merchant),
      .integer(limit)
    ).map(Hold.init)
  }

  private init(_ row: Row) throws {
    guard let state = State(rawValue: try row.text("state")) else { throw StorageError.column("state") }
    self.state = state
    acquirerReference = try row.text("acquirer_reference")
    merchant = try row.text("merchant")
    reference = try row.text("reference")
    merchantReference = try row.text("merchant_reference")
    cardSuffix = try row.text("card_suffix")
    amount = try row.amount()
    authorized = try row.integer("authorized")
    captured = try row.integer("captured")
    refunded = try row.integer("refunded")
    createdAt = Timestamp(microseconds: try row.integer("created_at"))
  }
}
