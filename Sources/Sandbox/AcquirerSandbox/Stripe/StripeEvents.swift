import Crypto
import Storage
import StrictJSON
import TenderPayments

/// An event of the emulated Stripe.
struct StripeEvent: Sendable {
  /// What brought it about.
  enum Cause: Sendable, Hashable {
    /// A call to the API, under a key or none.
    case call(key: String?)
    /// A person in the dashboard, whose calls have keys of their own.
    case person
    /// Stripe itself, or the card's issuer.
    case itself
  }

  let type: String
  let object: JSONValue
  let cause: Cause

  init(_ type: String, _ object: JSONValue, _ cause: Cause) {
    self.type = type
    self.object = object
    self.cause = cause
  }

  /// - Parameter connected: the account that it is of, if it is not the platform's own.
  func json(id: String, request: String, connected: String?, at time: Timestamp) -> JSONValue {
    var json: JSONObject = [
      "id": .string(id), "object": "event", "api_version": .string(StripeVersion.current),
      "created": .integer(time.seconds), "data": ["object": object], "livemode": false, "pending_webhooks": 1,
      "type": .string(type),
    ]
    json["account"] = connected.map(JSONValue.string)
    switch cause {
    case .call(let key):
      json["request"] = ["id": .string(request), "idempotency_key": key.map(JSONValue.string) ?? .null]
    case .person:
      json["request"] = ["id": .string(request), "idempotency_key": .string("dashboard-\(request)")]
    case .itself: json["request"] = ["id": .null, "idempotency_key": .null]
    }
    return .object(json)
  }
}

/// The version of the API that the sandbox speaks.
enum StripeVersion {
  static let current = "2026-10-28.endive"
}

extension StripeStore {
  /// - Parameter account: whose event it is: a platform's own, or a connected one.
  func write(_ event: StripeEvent, of account: String, in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO events (sequence, account, body, tries, next_try)
      VALUES ((SELECT COALESCE(MAX(sequence), 0) + 1 FROM events), $1, $2, 0, $3)
      """, .text(account),
      Self.text(
        event.json(id: newID("evt"), request: newID("req"), connected: connectedName(account), at: transaction.now)),
      .time(transaction.now))
  }

  func sendEvents(of account: String, to url: String, isRolling: Bool) async throws {
    try await database.write {
      try $0.run(
        """
        INSERT INTO event_endpoints (account, url, is_rolling) VALUES ($1, $2, $3)
        ON CONFLICT (account) DO UPDATE SET url = $2, is_rolling = $3
        """, .text(account), .text(url), .integer(isRolling ? 1 : 0))
    }
  }

  struct DueEvent: Sendable {
    let sequence: Int64
    let account: String
    let url: String
    let body: [UInt8]
    let isRolling: Bool
    let tries: Int64
    let now: Timestamp
  }

  /// Events whose time has come, in the order in which they happened.
  func dueEvents() async throws -> [DueEvent] {
    try await database.read { transaction in
      try transaction.rows(
        """
        SELECT events.*, event_endpoints.url, event_endpoints.is_rolling FROM events
        JOIN event_endpoints ON event_endpoints.account = events.account
        WHERE delivered_at IS NULL AND next_try <= $1 ORDER BY sequence LIMIT 100
        """, .time(transaction.now)
      ).map { row in
        DueEvent(
          sequence: try row.integer("sequence"), account: try row.text("account"), url: try row.text("url"),
          body: Array(try row.text("body").utf8), isRolling: try row.integer("is_rolling") == 1,
          tries: try row.integer("tries"), now: transaction.now)
      }
    }
  }

  /// Retries after 1, 2, 4 … seconds, at most 4,096.
  func note(_ event: DueEvent, taken: Bool) async throws {
    try await database.write { transaction in
      let next = transaction.now.adding(.seconds(1 << min(event.tries, 12)))
      try transaction.run(
        "UPDATE events SET tries = tries + 1, next_try = $2, delivered_at = $3 WHERE sequence = $1",
        .integer(event.sequence), .time(next), taken ? .time(transaction.now) : .null)
    }
  }
}

extension StripeAccount {
  /// The header `Stripe-Signature`: `t=<seconds>,v1=<hex>`, an HMAC-SHA256 of the seconds, a full stop and the body;
  /// two of them while the secret is rolled.
  func signature(_ body: [UInt8], at time: Timestamp, isRolling: Bool) -> String {
    let secrets = isRolling ? [nextSigningSecret, signingSecret] : [signingSecret]
    let codes = secrets.map { secret in
      let code = HMAC<SHA256>.authenticationCode(
        for: Array("\(time.seconds).".utf8) + body, using: SymmetricKey(data: Array(secret.utf8)))
      return "v1=\(Hex.encode(Array(code)))"
    }
    return (["t=\(time.seconds)"] + codes).joined(separator: ",")
  }
}
