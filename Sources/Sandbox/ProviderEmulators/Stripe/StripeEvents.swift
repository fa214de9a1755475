import AcquirerSandbox
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
    let body = event.json(
      id: newID("evt"), request: newID("req"), connected: connectedName(account), at: transaction.now)
    try addEvent(body.serialized(), of: account, in: transaction)
  }

  /// Signs an account's events with the next secret too, while the secret is being rolled.
  func rollSecret(of account: String, _ isRolling: Bool) async throws {
    try await database.write {
      try $0.run(
        isRolling
          ? "INSERT INTO rolling_secrets (account) VALUES ($1) ON CONFLICT DO NOTHING"
          : "DELETE FROM rolling_secrets WHERE account = $1", .text(account))
    }
  }

  /// The accounts whose secret is being rolled.
  func rollingSecrets() async throws -> Set<String> {
    try await database.read { Set(try $0.rows("SELECT account FROM rolling_secrets").map { try $0.text("account") }) }
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
