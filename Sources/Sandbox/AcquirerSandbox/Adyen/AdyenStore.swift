import Crypto
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// The database of the emulated Adyen: payments, modifications, answers to repeats, bookings and events.
struct AdyenStore: Sendable {
  let database: Database
  let random: RandomBytes
  /// Hashes cryptograms and requests; made once for each database.
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

  func fingerprint(_ text: String) -> String {
    Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
  }

  /// Sixteen letters and digits, as Adyen's.
  func newPSPReference() -> String {
    let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ23456789")
    return String(random.next(16).map { alphabet[Int($0) % alphabet.count] })
  }
}

/// An answer of the emulated Adyen.
struct AdyenReply: Sendable {
  let status: Int
  let body: JSONValue

  init(_ status: Int, _ body: JSONValue) {
    self.status = status
    self.body = body
  }

  init(_ problem: AdyenProblem) { self.init(problem.status, problem.json) }

  /// Adyen keeps what it has decided, and not who may not call.
  var isKept: Bool { [200, 201, 422].contains(status) }
}

// Answers to repeats: the first one again for seven days, under one key of one account.
extension AdyenStore {
  static let idempotencyWindow: Duration = .seconds(7 * 86_400)

  /// A request under an idempotency key.
  struct KeyedRequest: Sendable {
    let account: String
    /// Nil when the caller sent none.
    let key: String?
    /// Method, path and body.
    let contents: String
  }

  /// Runs `act` once for each key, in one commit with its answer.
  ///
  /// - Returns: the answer, and whether it is a repeated one.
  func once(
    _ request: KeyedRequest, _ act: @escaping @Sendable (Transaction) throws -> AdyenReply
  ) async throws -> (AdyenReply, isRepeated: Bool) {
    let digest = fingerprint(request.contents)
    return try await database.write { transaction in
      guard let key = request.key else { return (try act(transaction), false) }
      if let known = try answer(to: key, of: request.account, digest, in: transaction) { return (known, true) }
      let reply = try act(transaction)
      if reply.isKept { try keep(reply, key, request.account, digest, in: transaction) }
      return (reply, false)
    }
  }

  private func answer(
    to key: String, of account: String, _ digest: String, in transaction: Transaction
  ) throws -> AdyenReply? {
    let row = try transaction.row(
      "SELECT * FROM idempotent_answers WHERE account = $1 AND key = $2", .text(account), .text(key))
    guard let row else { return nil }
    guard transaction.now.since(try row.time("created_at")) < Self.idempotencyWindow else {
      try transaction.run(
        "DELETE FROM idempotent_answers WHERE account = $1 AND key = $2", .text(account), .text(key))
      return nil
    }
    guard try row.text("request") == digest else { throw AdyenProblem.keyUsed }
    return AdyenReply(
      Int(try row.integer("status")), try JSONReader.read(Array(try row.text("body").utf8)))
  }

  private func keep(
    _ reply: AdyenReply, _ key: String, _ account: String, _ digest: String, in transaction: Transaction
  ) throws {
    try transaction.run(
      "INSERT INTO idempotent_answers (account, key, request, status, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
      .text(account), .text(key), .text(digest), .integer(Int64(reply.status)),
      .text(String(decoding: reply.body.serialized(), as: UTF8.self)), .time(transaction.now))
  }
}
