import Crypto
import Storage
import StrictJSON
import TenderPayments

/// The database of the emulated Stripe: intents, refunds, answers to repeats and events.
struct StripeStore: Sendable {
  let database: Database
  let random: RandomBytes
  /// The accounts that events have to name, because they are not a platform's own.
  let connected: Set<String>
  /// Hashes cryptograms and requests; made once for each database.
  private let key: SymmetricKey

  init(database: Database, random: RandomBytes, connected: Set<String>) async throws {
    self.database = database
    self.connected = connected
    self.random = random
    let fresh = random.next(32)
    let bytes = try await database.write { transaction in
      try transaction.run(
        "INSERT INTO keys (name, value) VALUES ('fingerprint', $1) ON CONFLICT DO NOTHING", .blob(fresh))
      return try transaction.row("SELECT value FROM keys WHERE name = 'fingerprint'")?.blob("value") ?? fresh
    }
    key = SymmetricKey(data: bytes)
  }

  func fingerprint(_ text: String) -> String {
    Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
  }

  /// `pi_` and 24 letters and digits.
  func newID(_ prefix: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    return "\(prefix)_" + String(random.next(24).map { alphabet[Int($0) % alphabet.count] })
  }

  func connectedName(_ account: String) -> String? { connected.contains(account) ? account : nil }

  static func text(_ value: JSONValue) -> SQLValue { .text(String(decoding: value.serialized(), as: UTF8.self)) }

  static func map(_ text: String) throws -> [String: String] {
    try JSONField(JSONReader.read(Array(text.utf8))).object.members.reduce(into: [:]) { map, member in
      if case .string(let text) = member.value { map[member.key] = text }
    }
  }
}

// Answers to repeats: the first one again for 24 hours, under one key of one account.
extension StripeStore {
  static let idempotencyWindow: Duration = .seconds(86_400)

  /// A request under an idempotency key.
  struct KeyedRequest: Sendable {
    let account: String
    /// Nil when the caller sent none.
    let key: String?
    /// Method, path and body.
    let contents: String
  }

  /// Runs `act` once for each key, in one commit with its answer. What it refuses is an answer too: Stripe keeps every
  /// result once it has begun to execute a call.
  ///
  /// - Parameter isFailing: keeps a 500 in place of the answer, as when Stripe fails after the act.
  /// - Returns: the answer, and whether it is a repeated one.
  func once(
    _ request: KeyedRequest, isFailing: Bool, _ act: @escaping @Sendable (Transaction) throws -> StripeReply
  ) async throws -> (StripeReply, isRepeated: Bool) {
    let digest = fingerprint(request.contents)
    return try await database.write { transaction in
      if let key = request.key, let known = try answer(to: key, of: request.account, digest, in: transaction) {
        return (known, true)
      }
      let done: StripeReply
      do { done = try act(transaction) } catch let problem as StripeProblem { done = StripeReply(problem) }
      let reply = isFailing ? StripeReply(.internalError) : done
      if let key = request.key { try keep(reply, key, request.account, digest, in: transaction) }
      return (reply, false)
    }
  }

  private func answer(
    to key: String, of account: String, _ digest: String, in transaction: Transaction
  ) throws -> StripeReply? {
    let row = try transaction.row(
      "SELECT * FROM idempotent_answers WHERE account = $1 AND key = $2", .text(account), .text(key))
    guard let row else { return nil }
    guard transaction.now.since(try row.time("created_at")) < Self.idempotencyWindow else {
      try transaction.run(
        "DELETE FROM idempotent_answers WHERE account = $1 AND key = $2", .text(account), .text(key))
      return nil
    }
    guard try row.text("request") == digest else { throw StripeProblem.keyUsed }
    return StripeReply(Int(try row.integer("status")), try JSONReader.read(Array(try row.text("body").utf8)))
  }

  private func keep(
    _ reply: StripeReply, _ key: String, _ account: String, _ digest: String, in transaction: Transaction
  ) throws {
    try transaction.run(
      "INSERT INTO idempotent_answers (account, key, request, status, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
      .text(account), .text(key), .text(digest), .integer(Int64(reply.status)), Self.text(reply.body),
      .time(transaction.now))
  }
}
