import Crypto
package import Storage
package import TenderPayments

/// A call that its caller may repeat without a second effect.
package struct IdempotentCall: Sendable, Hashable {
  package let merchant: MerchantID
  /// Method, route and payment, or whatever else names the operation in one way only: the same key under another call is
  /// another key.
  package let call: String
  package let key: IdempotencyKey
  /// A hash of the request, which distinguishes a repeat from another request under the same key.
  package let requestHash: String

  package init(merchant: MerchantID, call: String, key: IdempotencyKey, requestHash: String) {
    self.merchant = merchant
    self.call = call
    self.key = key
    self.requestHash = requestHash
  }

  /// A signed call without an idempotency key. A repeat of the same signature with the same body, by its sender or an
  /// eavesdropper, gets the first answer: the keys are kept for longer than a signature is accepted.
  ///
  /// Neither method nor route is part of the name: the signature covers both.
  ///
  /// - Parameter signature: the bytes that were verified.
  package init(merchant: MerchantID, signature: [UInt8], body: [UInt8]) {
    let digest = Array(SHA256.hash(data: body))
    self.init(
      merchant: merchant, call: "signature", key: IdempotencyKey(Hex.encode(SHA256.hash(data: signature + digest))),
      requestHash: Hex.encode(digest))
  }

  /// A call under its caller's idempotency key.
  ///
  /// - Parameter call: as of ``call``.
  package init(merchant: MerchantID, call: String, key: IdempotencyKey, body: [UInt8]) {
    self.init(merchant: merchant, call: call, key: key, requestHash: Hex.encode(SHA256.hash(data: body)))
  }
}

/// The state of a key.
package enum KeyStatus: Sendable, Hashable {
  case new
  /// The first call is being worked on: 409.
  case running
  /// The first call is over, or its process died. Its answer is read from its operation. Whether another request under
  /// the same key may know it is the API's rule.
  case over(FirstCall, sameRequest: Bool)
}

/// The table `idempotency`: a key names the operation that its first call began. All of it runs in the caller's
/// transaction, so that a key is claimed in the commit that begins the work, and released in the commit that ends it.
package enum IdempotencyKeys {
  /// How long a key is kept at least: longer than clients retry. It is known until it is deleted by
  /// ``Journal/forgetKeys(_:by:)``, whatever the clock says meanwhile.
  package static let memory: Duration = .seconds(86_400 * 7)

  package static func status(of call: IdempotentCall, in store: Transaction) throws -> KeyStatus {
    guard let row = try row(of: call, in: store) else { return .new }
    guard try row.time("lease_until") <= store.now else { return .running }
    return .over(try FirstCall(row), sameRequest: try row.text("request_hash") == call.requestHash)
  }

  /// Claims the key in the commit that begins the work.
  ///
  /// - Parameters:
  ///   - operation: what the call asks for, from which its answer can be read again.
  ///   - time: from when the key is kept, if that is later than the store's own time.
  /// - Throws: ``KeyTaken`` when it is not new any more, which rolls the work's beginning back.
  package static func begin(
    _ call: IdempotentCall, _ operation: AttemptReference, of payment: PaymentID, notBefore time: Timestamp? = nil,
    in store: Transaction
  ) throws {
    let start = max(store.now, time ?? store.now)
    let added = try store.changes(
      """
      INSERT INTO idempotency (merchant, call, key, request_hash, subject, operation, lease_until, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
      """,
      .text(call.merchant.rawValue), .text(call.call), .text(call.key.rawValue), .text(call.requestHash),
      .text(payment.rawValue), .text(operation.rawValue), .time(store.now.adding(Journal.lease)), .time(store.now),
      .time(start.adding(memory)))
    guard added == 1 else { throw KeyTaken(status: try status(of: call, in: store)) }
  }

  /// The first call under a key; nil for a new key.
  package static func first(of call: IdempotentCall, in store: Transaction) throws -> FirstCall? {
    try row(of: call, in: store).map(FirstCall.init)
  }

  private static func row(of call: IdempotentCall, in store: Transaction) throws -> Row? {
    try store.row(
      "SELECT * FROM idempotency WHERE merchant = $1 AND call = $2 AND key = $3", .text(call.merchant.rawValue),
      .text(call.call), .text(call.key.rawValue))
  }

  /// Lets the key of a call name the operation that took the place of its first one.
  static func `continue`(_ call: IdempotentCall, as operation: AttemptReference, in store: Transaction) throws {
    try store.run(
      "UPDATE idempotency SET operation = $4 WHERE merchant = $1 AND call = $2 AND key = $3",
      .text(call.merchant.rawValue), .text(call.call), .text(call.key.rawValue), .text(operation.rawValue))
  }

  /// Releases the key in the commit that ends the call, whatever its outcome: from now on a repeat is answered.
  package static func release(_ call: IdempotentCall, in store: Transaction) throws {
    try store.run(
      "UPDATE idempotency SET lease_until = 0 WHERE merchant = $1 AND call = $2 AND key = $3",
      .text(call.merchant.rawValue), .text(call.call), .text(call.key.rawValue))
  }

  /// Deletes keys that are too old to be retried; at most `limit` at a time, and none that another process deletes or
  /// uses at this moment.
  static func forget(_ limit: Int, by end: Timestamp?, in store: Transaction) throws {
    let old = try store.unclaimedRows(
      "SELECT merchant, call, key FROM idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2",
      .time(min(store.now, end ?? store.now)), .integer(Int64(limit)))
    for row in old {
      try store.run(
        "DELETE FROM idempotency WHERE merchant = $1 AND call = $2 AND key = $3", .text(row.text("merchant")),
        .text(row.text("call")), .text(row.text("key")))
    }
  }
}

/// What the first call under a key began, and when.
package struct FirstCall: Sendable, Hashable {
  package let payment: PaymentID
  package let operation: AttemptReference
  package let begunAt: Timestamp

  fileprivate init(_ row: Row) throws {
    payment = try row.value("subject")
    operation = try row.value("operation")
    begunAt = try row.time("created_at")
  }
}

/// Leaves the transaction that claims a key, and so rolls it back.
package struct KeyTaken: Error, Sendable, Hashable {
  package let status: KeyStatus
  package init(status: KeyStatus) { self.status = status }
}

extension Journal {
  package func status(of call: IdempotentCall) async throws -> KeyStatus {
    try await database.read { try IdempotencyKeys.status(of: call, in: $0) }
  }

  /// Deletes old keys.
  ///
  /// - Parameter end: the moment by which a key is old; nil, or a later one, for the store's own time.
  package func forgetKeys(_ limit: Int, by end: Timestamp? = nil) async throws {
    try await database.write { try IdempotencyKeys.forget(limit, by: end, in: $0) }
  }
}
