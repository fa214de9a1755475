import Crypto
import DirectWire
import Storage
import StrictJSON
import TenderPayments

/// The database of the emulated Worldline Direct: payments, operations, answers to repeats, and events.
struct WorldlineDirectStore: Sendable {
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

  func fingerprint(_ text: String) -> String {
    Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
  }

  /// Ten digits, as Worldline's.
  func newPaymentID() -> String {
    "4" + random.next(9).map { String($0 % 10) }.joined()
  }
}

/// An answer of the emulated Worldline Direct.
struct WorldlineDirectReply: Sendable {
  let status: Int
  let body: [UInt8]
  /// When the first request under the key arrived; nil for the answer to that one.
  var firstAt: Timestamp?

  init(_ status: Int, _ body: some Encodable) throws {
    self.status = status
    self.body = try DirectJSON.bytes(body)
  }

  init(_ fault: PlatformFault, id: String) throws {
    try self.init(fault.httpStatusCode, PlatformError(errorId: id, fault))
  }

  fileprivate init(status: Int, body: [UInt8], firstAt: Timestamp) {
    (self.status, self.body, self.firstAt) = (status, body, firstAt)
  }

  /// What was decided is kept for repeats, and not who may not call.
  var isKept: Bool { [200, 201, 400, 402, 404].contains(status) }
}

/// Why a call is not done.
struct WorldlineDirectRefusal: Error {
  let fault: PlatformFault
  init(_ fault: PlatformFault) { self.fault = fault }
}

// Answers to repeats: the first one again for a day under one key of a merchant, whatever the repeat's contents.
extension WorldlineDirectStore {
  /// Runs `act` once for each key, in one commit with its answer.
  ///
  /// - Parameter key: nil when the caller sent none.
  func once(
    _ merchant: String, _ key: String?, _ act: @escaping @Sendable (Transaction) throws -> WorldlineDirectReply
  ) async throws -> WorldlineDirectReply {
    try await database.write { transaction in
      guard let key else { return try act(transaction) }
      if let known = try answer(to: key, of: merchant, in: transaction) { return known }
      let reply = try act(transaction)
      if reply.isKept { try keep(reply, key, merchant, in: transaction) }
      return reply
    }
  }

  private func answer(
    to key: String, of merchant: String, in transaction: Transaction
  ) throws -> WorldlineDirectReply? {
    let (merchant, key) = (SQLValue.text(merchant), SQLValue.text(key))
    let row = try transaction.row(
      "SELECT * FROM idempotent_answers WHERE merchant = $1 AND key = $2", merchant, key)
    guard let row else { return nil }
    let first = try row.time("created_at")
    guard transaction.now.since(first) < Idempotence.window else {
      try transaction.run("DELETE FROM idempotent_answers WHERE merchant = $1 AND key = $2", merchant, key)
      return nil
    }
    return WorldlineDirectReply(
      status: Int(try row.integer("status")), body: Array(try row.text("body").utf8), firstAt: first)
  }

  private func keep(
    _ reply: WorldlineDirectReply, _ key: String, _ merchant: String, in transaction: Transaction
  ) throws {
    try transaction.run(
      "INSERT INTO idempotent_answers (merchant, key, status, body, created_at) VALUES ($1, $2, $3, $4, $5)",
      .text(merchant), .text(key), .integer(Int64(reply.status)), .text(String(decoding: reply.body, as: UTF8.self)),
      .time(transaction.now))
  }
}
