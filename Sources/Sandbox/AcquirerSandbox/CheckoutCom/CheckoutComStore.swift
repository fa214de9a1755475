import Crypto
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// The database of the emulated Checkout.com: payments, actions, answers to repeats and events.
struct CheckoutComStore: Sendable {
  let database: Database
  let random: RandomBytes
  /// Hashes cryptograms; made once for each database.
  private let key: SymmetricKey

  init(database: Database, random: RandomBytes) async throws {
    self.database = database
    self.random = random
    let fresh = random.next(32)
    let bytes = try await database.write { transaction in
      try transaction.run(
        "INSERT INTO keys (name, value) VALUES ('fingerprint', $1) ON CONFLICT DO NOTHING", .blob(fresh))
      return try transaction.row("SELECT value FROM keys WHERE name = 'fingerprint'")?.blob("value") ?? fresh
    }
    key = SymmetricKey(data: bytes)
  }

  /// Whether the cryptogram comes for the first time.
  func accept(_ card: NetworkToken, in transaction: Transaction) throws -> Bool {
    let text = Array("\(card.dpan.revealed):\(card.cryptogram.revealed)".utf8)
    let fingerprint = Hex.encode(HMAC<SHA256>.authenticationCode(for: text, using: key))
    return try transaction.changes(
      "INSERT INTO cryptograms (fingerprint, used_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(fingerprint),
      .time(transaction.now)) == 1
  }

  /// A name of Checkout.com's: `pay_` and 26 characters.
  func newName(_ prefix: String) -> String {
    let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
    return prefix + "_" + String(random.next(26).map { alphabet[Int($0) % alphabet.count] })
  }
}

/// An answer of the emulated Checkout.com.
struct CheckoutComReply: Sendable {
  let status: Int
  /// Nil for an empty body.
  let body: JSONValue?

  init(_ status: Int, _ body: JSONValue?) {
    self.status = status
    self.body = body
  }

  init(_ problem: CheckoutComProblem) { self.init(problem.status, problem.json) }
}

// Answers to repeats: the first one again for a day, under one key of one account. Only what was done is kept: after a
// refusal or a failure the same request is tried anew.
extension CheckoutComStore {
  static let idempotencyWindow: Duration = .seconds(86_400)

  /// Runs `act` once for each key, in one commit with its answer.
  ///
  /// - Parameter key: nil when the caller sent none.
  /// - Returns: the answer, and whether it is a repeated one.
  func once(
    _ key: String?, of channel: String, _ act: @escaping @Sendable (Transaction) throws -> CheckoutComReply
  ) async throws -> (CheckoutComReply, isRepeated: Bool) {
    try await database.write { transaction in
      guard let key else { return (try act(transaction), false) }
      if let known = try answer(to: key, of: channel, in: transaction) { return (known, true) }
      let reply = try act(transaction)
      if (200..<300).contains(reply.status) { try keep(reply, key, channel, in: transaction) }
      return (reply, false)
    }
  }

  private func answer(to key: String, of channel: String, in transaction: Transaction) throws -> CheckoutComReply? {
    let row = try transaction.row(
      "SELECT * FROM idempotent_answers WHERE channel = $1 AND key = $2", .text(channel), .text(key))
    guard let row else { return nil }
    guard transaction.now.since(try row.time("created_at")) < Self.idempotencyWindow else {
      try transaction.run(
        "DELETE FROM idempotent_answers WHERE channel = $1 AND key = $2", .text(channel), .text(key))
      return nil
    }
    return CheckoutComReply(
      Int(try row.integer("status")), try JSONReader.read(Array(try row.text("body").utf8)))
  }

  private func keep(
    _ reply: CheckoutComReply, _ key: String, _ channel: String, in transaction: Transaction
  ) throws {
    try transaction.run(
      "INSERT INTO idempotent_answers (channel, key, status, body, created_at) VALUES ($1, $2, $3, $4, $5)",
      .text(channel), .text(key), .integer(Int64(reply.status)),
      .text(String(decoding: (reply.body ?? .null).serialized(), as: UTF8.self)), .time(transaction.now))
  }
}
