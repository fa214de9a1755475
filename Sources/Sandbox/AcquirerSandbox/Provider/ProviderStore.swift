package import Crypto
package import Storage
package import TenderPayments
import TokenIssuer

/// The database of an emulated provider. Beside the provider's own tables it holds a secret, the cryptograms that were
/// used, the answers to repeats, and the events.
package protocol ProviderStore: Sendable {
  /// The provider's own tables.
  static var tables: Migration { get }
  /// What came to them later.
  static var additions: [Migration] { get }
  /// How long a key gets the first answer again; nil for ever.
  static var idempotencyWindow: Duration? { get }

  var database: Database { get }
  var random: RandomBytes { get }
  /// Hashes cryptograms and requests, so that a stolen list of card numbers does not help to guess them.
  var secret: SymmetricKey { get }

  /// Whether an answer of this status is given again.
  static func keeps(_ status: Int) -> Bool
  /// What a key gets that was used for another request. Nil gives it the first answer.
  static var keyUsed: (any Error)? { get }
}

extension ProviderStore {
  package static var idempotencyWindow: Duration? { .seconds(86_400) }
  package static var keyUsed: (any Error)? { nil }
  package static var additions: [Migration] { [] }
  package static func keeps(_ status: Int) -> Bool { true }

  /// Opens the SQLite file at `path`, and makes its secret the first time.
  package static func open(
    path: String, clock: WallClock, random: RandomBytes
  ) async throws -> (Database, secret: SymmetricKey) {
    let database = try await Database.sqlite(path: path, migrations: [sharedTables, tables] + additions, clock: clock)
    let fresh = random.next(32)
    let bytes = try await database.write { transaction in
      try transaction.run(
        "INSERT INTO keys (name, value) VALUES ('fingerprint', $1) ON CONFLICT DO NOTHING", .blob(fresh))
      return try transaction.row("SELECT value FROM keys WHERE name = 'fingerprint'")?.blob("value") ?? fresh
    }
    return (database, SymmetricKey(data: bytes))
  }

  package func fingerprint(_ bytes: [UInt8]) -> String {
    Hex.encode(HMAC<SHA256>.authenticationCode(for: bytes, using: secret))
  }

  /// Whether the cryptogram comes for the first time. It is accepted once, whatever becomes of the payment.
  package func accept(_ cryptogram: Cryptogram, of dpan: DPAN, in transaction: Transaction) throws -> Bool {
    try transaction.changes(
      "INSERT INTO cryptograms (fingerprint, used_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
      .text(fingerprint(Array("\(dpan.revealed):\(cryptogram.revealed)".utf8))), .time(transaction.now)) == 1
  }

  private static var sharedTables: Migration {
    Migration(
      "provider-1",
      """
      CREATE TABLE keys (name TEXT PRIMARY KEY NOT NULL, value BYTEA NOT NULL);
      CREATE TABLE cryptograms (fingerprint TEXT PRIMARY KEY NOT NULL, used_at BIGINT NOT NULL);
      CREATE TABLE idempotent_answers (
        account TEXT NOT NULL,
        key TEXT NOT NULL,
        request TEXT NOT NULL,
        status BIGINT NOT NULL,
        body TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (account, key)
      );
      CREATE TABLE event_endpoints (account TEXT PRIMARY KEY NOT NULL, url TEXT NOT NULL);
      CREATE TABLE events (
        sequence BIGINT PRIMARY KEY NOT NULL,
        account TEXT NOT NULL,
        body TEXT NOT NULL,
        tries BIGINT NOT NULL,
        next_try BIGINT NOT NULL,
        delivered_at BIGINT
      );
      CREATE INDEX events_due ON events (next_try) WHERE delivered_at IS NULL;
      """)
  }
}

/// A request to an emulated provider under an idempotency key.
package struct KeyedRequest: Sendable {
  package let account: String
  /// Nil when the caller sent none.
  package let key: String?
  /// What a repeat has to be equal in; empty where the provider does not look.
  package var contents = ""

  package init(account: String, key: String?, contents: String = "") {
    self.account = account
    self.key = key
    self.contents = contents
  }
}

// Answers to repeats.
extension ProviderStore {
  /// Runs `act` once for each key, in one commit with its answer.
  package func once(
    _ request: KeyedRequest, _ act: @escaping @Sendable (Transaction) throws -> ProviderReply
  ) async throws -> ProviderReply {
    let digest = fingerprint(Array(request.contents.utf8))
    return try await database.write { transaction in
      guard let key = request.key else { return try act(transaction) }
      if let known = try answer(to: key, of: request.account, digest, in: transaction) { return known }
      let reply = try act(transaction)
      if Self.keeps(reply.status) { try keep(reply, key, of: request.account, digest, in: transaction) }
      return reply
    }
  }

  private func answer(
    to key: String, of account: String, _ digest: String, in transaction: Transaction
  ) throws -> ProviderReply? {
    let row = try transaction.row(
      "SELECT * FROM idempotent_answers WHERE account = $1 AND key = $2", .text(account), .text(key))
    guard let row else { return nil }
    let first = try row.time("created_at")
    if let window = Self.idempotencyWindow, transaction.now.since(first) >= window {
      try transaction.run(
        "DELETE FROM idempotent_answers WHERE account = $1 AND key = $2", .text(account), .text(key))
      return nil
    }
    if let keyUsed = Self.keyUsed, try row.text("request") != digest { throw keyUsed }
    var reply = ProviderReply(Int(try row.integer("status")), bytes: Array(try row.text("body").utf8))
    reply.firstAt = first
    return reply
  }

  private func keep(
    _ reply: ProviderReply, _ key: String, of account: String, _ digest: String, in transaction: Transaction
  ) throws {
    try transaction.run(
      "INSERT INTO idempotent_answers (account, key, request, status, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
      .text(account), .text(key), .text(digest), .integer(Int64(reply.status)),
      .text(String(decoding: reply.body, as: UTF8.self)), .time(transaction.now))
  }
}
