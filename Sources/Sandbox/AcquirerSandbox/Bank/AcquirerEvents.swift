import Crypto
import Storage
import StrictJSON
import TenderPayments

// An event for every answer that was pending, sent to the merchant's address until it is acknowledged.
extension AcquirerStore {
  /// Resolves a pending operation, moves its balances, and writes the event. Nil when it is not pending.
  func resolve(_ reference: String, of merchant: String, in transaction: Transaction) throws -> AcquirerReply? {
    let row = try transaction.row(
      "SELECT * FROM operations WHERE merchant = $1 AND reference = $2 AND response_code = '09'", .text(merchant),
      .text(reference))
    guard let row, var hold = try Hold.find(try row.text("hold"), of: merchant, in: transaction) else { return nil }
    let amount = try row.amount()
    let code: String
    if let kind = FollowUp(rawValue: try row.text("kind")) {
      let isFinal = try row.integer("is_final") == 1
      let promised = try sumOpen(on: hold, besides: reference, in: transaction)
      code =
        SandboxAmounts.failsLate(amount.minorUnits)
        ? "05" : hold.post(kind, amount, isFinal: isFinal, keeping: promised)
    } else {
      code = hold.approve() ? "00" : "12"
    }
    if code == "00" { try hold.save(in: transaction) }
    try transaction.run(
      "UPDATE operations SET response_code = $3, authorization_code = $4 WHERE merchant = $1 AND reference = $2",
      .text(merchant), .text(reference), .text(code), .text(optional: code == "00" ? authorizationCode() : nil))
    guard let reply = try Self.reply(reference, merchant, transaction)?.reply else { return nil }
    try writeEvent(reply, of: merchant, in: transaction)
    return reply
  }

  /// The sum of captures that are accepted and not yet resolved.
  private func sumOpen(on hold: Hold, besides reference: String, in transaction: Transaction) throws -> Int64 {
    try transaction.rows(
      """
      SELECT amount FROM operations
      WHERE hold = $1 AND kind = 'capture' AND response_code = '09' AND reference <> $2
      """, .text(hold.acquirerReference), .text(reference)
    ).reduce(0) { $0 + (try $1.integer("amount")) }
  }

  private func writeEvent(_ reply: AcquirerReply, of merchant: String, in transaction: Transaction) throws {
    guard case .object(var body) = reply.json else { return }
    body["id"] = .string(newName(transaction))
    try addEvent(JSONValue.object(body).serialized(), of: merchant, in: transaction)
  }

  /// Resolves what has been pending for longer than `delay`.
  func resolve(olderThan delay: Duration) async throws {
    try await database.write { transaction in
      let pending = try transaction.rows(
        "SELECT merchant, reference FROM operations WHERE response_code = '09' AND created_at <= $1 LIMIT 100",
        .integer(transaction.now.microseconds - delay.microseconds))
      for row in pending { _ = try resolve(try row.text("reference"), of: try row.text("merchant"), in: transaction) }
    }
  }
}

/// `t=<seconds>,v1=<hex>`: an HMAC-SHA256 of the seconds, a full stop and the body.
enum EventSignature {
  static func header(_ body: [UInt8], at time: Timestamp, _ secret: String) -> String {
    let code = HMAC<SHA256>.authenticationCode(
      for: Array("\(time.seconds).".utf8) + body, using: SymmetricKey(data: Array(secret.utf8)))
    return "t=\(time.seconds),v1=\(Hex.encode(Array(code)))"
  }
}
