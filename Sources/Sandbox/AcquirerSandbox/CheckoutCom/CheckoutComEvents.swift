import Crypto
import Storage
import StrictJSON
import TenderPayments

// Events of the workflow: one a call, signed over the body's bytes.
extension CheckoutComStore {
  func write(_ type: String, _ data: JSONObject, of channel: String, in transaction: Transaction) throws {
    let event: JSONValue = [
      "id": .string(newName("evt")), "type": .string(type), "version": "1.0.1",
      "created_on": .string(transaction.now.description), "data": .object(data),
    ]
    try transaction.run(
      """
      INSERT INTO events (sequence, channel, body, tries, next_try)
      VALUES ((SELECT COALESCE(MAX(sequence), 0) + 1 FROM events), $1, $2, 0, $3)
      """, .text(channel), .text(String(decoding: event.serialized(), as: UTF8.self)), .time(transaction.now))
  }

  func sendEvents(of channel: String, to url: String) async throws {
    try await database.write {
      try $0.run(
        """
        INSERT INTO event_endpoints (channel, url) VALUES ($1, $2) ON CONFLICT (channel) DO UPDATE SET url = $2
        """, .text(channel), .text(url))
    }
  }

  struct DueEvent: Sendable {
    let sequence: Int64
    let channel: String
    let url: String
    let body: [UInt8]
    let tries: Int64
  }

  /// Events whose time has come, in the order in which they happened.
  func dueEvents() async throws -> [DueEvent] {
    try await database.read { transaction in
      try transaction.rows(
        """
        SELECT events.*, event_endpoints.url FROM events
        JOIN event_endpoints ON event_endpoints.channel = events.channel
        WHERE delivered_at IS NULL AND next_try <= $1 ORDER BY sequence LIMIT 100
        """, .time(transaction.now)
      ).map { row in
        DueEvent(
          sequence: try row.integer("sequence"), channel: try row.text("channel"), url: try row.text("url"),
          body: Array(try row.text("body").utf8), tries: try row.integer("tries"))
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

extension CheckoutComAccount {
  /// The header `Cko-Signature` of an event with this body.
  func signature(_ body: [UInt8]) -> String {
    Hex.encode(HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Array(signatureKey.utf8))))
  }
}
