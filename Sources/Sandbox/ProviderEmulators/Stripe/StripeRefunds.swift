import AcquirerSandbox
import Storage
import StrictJSON
import TenderPayments

/// A refund in the ledger of the emulated Stripe.
struct StripeRefund: Sendable {
  enum Status: String, Sendable {
    case pending, succeeded, failed, canceled
  }

  /// What it comes to later.
  enum Ending: String, Sendable {
    case succeeded, failed, none
  }

  let id: String
  let account: String
  let intent: String
  let value: Int64
  /// The currency, in small letters.
  let code: String
  let metadata: [String: String]
  let reason: String?
  let ending: Ending
  /// Whether it is no refund but the release of a hold.
  let isRelease: Bool
  let createdAt: Timestamp
  var status: Status

  var json: JSONValue {
    var json: JSONObject = [
      "id": .string(id), "object": "refund", "amount": .integer(value), "created": .integer(createdAt.seconds),
      "currency": .string(code), "metadata": StripeIntent.json(metadata), "payment_intent": .string(intent),
      "status": .string(status.rawValue),
    ]
    let isBooked = !isRelease && status != .pending
    json["balance_transaction"] = isBooked ? .string("txn_" + id.dropFirst(3)) : .null
    json["reason"] = reason.map(JSONValue.string) ?? .null
    if status == .failed {
      json["failure_reason"] = "expired_or_canceled_card"
      json["failure_balance_transaction"] = .string("txn_f" + id.dropFirst(4))
    }
    return .object(json)
  }
}

extension StripeRefund {
  func insert(in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO refunds (sequence, id, account, intent, amount, status, metadata, reason, ending, is_release,
        created_at)
      VALUES ((SELECT COALESCE(MAX(sequence), 0) + 1 FROM refunds), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      """,
      .text(id), .text(account), .text(intent), .integer(value), .text(status.rawValue),
      StripeStore.text(StripeIntent.json(metadata)), .text(optional: reason), .text(ending.rawValue),
      .integer(isRelease ? 1 : 0), .time(createdAt))
  }

  /// The newest first.
  static func all(of account: String, in transaction: Transaction) throws -> [StripeRefund] {
    try transaction.rows(select + " WHERE refunds.account = $1 ORDER BY refunds.sequence DESC", .text(account))
      .map(StripeRefund.init)
  }

  static func find(_ id: String, of account: String, in transaction: Transaction) throws -> StripeRefund? {
    try transaction.row(select + " WHERE refunds.id = $1 AND refunds.account = $2", .text(id), .text(account))
      .map(StripeRefund.init)
  }

  static func open(before time: Int64, in transaction: Transaction) throws -> [StripeRefund] {
    try transaction.rows(
      select + " WHERE ending <> 'none' AND refunds.created_at <= $1 ORDER BY refunds.sequence LIMIT 100",
      .integer(time)
    ).map(StripeRefund.init)
  }

  private static let select = "SELECT refunds.*, currency FROM refunds JOIN intents ON intents.id = refunds.intent"

  private init(_ row: Row) throws {
    guard let status = Status(rawValue: try row.text("status")), let ending = Ending(rawValue: try row.text("ending"))
    else { throw StorageError.column("status") }
    self.init(
      id: try row.text("id"), account: try row.text("account"), intent: try row.text("intent"),
      value: try row.integer("amount"), code: try row.text("currency").lowercased(),
      metadata: try StripeStore.map(try row.text("metadata")), reason: try row.textOrNil("reason"), ending: ending,
      isRelease: try row.integer("is_release") == 1, createdAt: try row.time("created_at"), status: status)
  }
}

extension StripeStore {
  func refund(
    _ wanted: StripeRefundRequest, of account: String, _ cause: StripeEvent.Cause, in transaction: Transaction
  ) throws -> ProviderReply {
    guard var intent = try StripeIntent.find(wanted.intent, of: account, in: transaction) else {
      throw StripeProblem.unknown("payment_intent", wanted.intent, parameter: "payment_intent")
    }
    let left = intent.received - intent.refunded
    let value = wanted.value ?? left
    guard intent.received > 0 else {
      throw StripeProblem(400, "This PaymentIntent does not have a successful charge to refund.")
    }
    guard left > 0 else {
      throw StripeProblem(400, "The charge has already been refunded.", code: "charge_already_refunded")
    }
    guard value <= left else {
      throw StripeProblem.invalid("amount", "Refund amount is greater than unrefunded amount on charge")
    }
    let refund = refund(value, of: intent, wanted, at: transaction.now)
    intent.refunded += value
    try intent.save(in: transaction)
    try refund.insert(in: transaction)
    try write(StripeEvent("refund.created", refund.json, cause), of: account, in: transaction)
    return ProviderReply(200, refund.json)
  }

  /// Stripe's test cards and the sandbox's amount of 20.93 refund later, or in vain.
  private func refund(
    _ value: Int64, of intent: StripeIntent, _ wanted: StripeRefundRequest, at now: Timestamp
  ) -> StripeRefund {
    let isInVain = SandboxAmounts.failsLate(value)
    let isLater = intent.refunds == .later || isInVain
    let ending: StripeRefund.Ending = isInVain || intent.refunds == .returned ? .failed : isLater ? .succeeded : .none
    return StripeRefund(
      id: newID("re"), account: intent.account, intent: intent.id, value: value, code: intent.money.code,
      metadata: wanted.metadata, reason: wanted.reason, ending: ending, isRelease: false, createdAt: now,
      status: isLater ? .pending : .succeeded)
  }

  /// Ends a refund as it was to end.
  func end(_ refund: StripeRefund, in transaction: Transaction) throws {
    try end(refund, as: refund.ending == .failed ? .failed : .succeeded, in: transaction)
  }

  func end(_ refund: StripeRefund, as status: StripeRefund.Status, in transaction: Transaction) throws {
    var refund = refund
    refund.status = status
    try transaction.run(
      "UPDATE refunds SET status = $2, ending = 'none' WHERE id = $1", .text(refund.id), .text(status.rawValue))
    if status == .failed, var intent = try StripeIntent.find(refund.intent, of: refund.account, in: transaction) {
      intent.refunded -= refund.value
      try intent.save(in: transaction)
    }
    try write(StripeEvent("refund.updated", refund.json, .itself), of: refund.account, in: transaction)
    guard status == .failed else { return }
    try write(StripeEvent("refund.failed", refund.json, .itself), of: refund.account, in: transaction)
  }
}
