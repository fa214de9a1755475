import Ledger
import Storage
public import TenderPayments

/// One event on its way to one URL.
public struct Delivery: Sendable, Hashable {
  public enum State: String, Sendable, Hashable, Codable, CaseIterable {
    /// To be tried, for the first time or again.
    case waiting
    /// Taken by the merchant's server.
    case delivered
    /// Given up after the last try; a replay brings it back.
    case dead
  }

  public let payment: PaymentID
  public let sequence: Int64
  public let url: String
  public let merchant: MerchantID
  public let state: State
  /// How many tries have failed.
  public let tries: Int64
  public let nextTry: Timestamp
  /// What the last try met: a status, or why there was none.
  public let result: String?
  let fence: Int64
}

/// Where deliveries go: one merchant's one URL. What is slow or down there holds up nobody else.
struct Lane: Sendable, Hashable {
  let merchant: MerchantID
  let url: String
}

/// The table `webhook_deliveries`.
enum Deliveries {
  static func add(_ event: OutboxEvent, to url: String, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO webhook_deliveries (payment, seq, url, merchant, state, tries, next_try, lease_until, fence,
        created_at)
      VALUES ($1, $2, $3, $4, 'waiting', 0, $5, 0, 0, $5) ON CONFLICT DO NOTHING
      """,
      .text(event.payment.rawValue), .integer(event.sequence), .text(url), .text(event.merchant.rawValue),
      .time(store.now))
  }

  static func lanes(in store: Transaction) throws -> [Lane] {
    try store.rows(
      """
      SELECT DISTINCT merchant, url FROM webhook_deliveries
      WHERE state = 'waiting' AND next_try <= $1 AND lease_until <= $1 ORDER BY merchant, url
      """, .time(store.now)
    ).map { Lane(merchant: MerchantID(try $0.text("merchant")), url: try $0.text("url")) }
  }

  /// Takes what is due on a lane: of each payment only the first event that is not settled, so that a merchant never
  /// learns of the second before the first.
  static func claim(_ lane: Lane, limit: Int, until: Timestamp, in store: Transaction) throws -> [Delivery] {
    let due = try store.unclaimedRows(
      """
      SELECT * FROM webhook_deliveries AS due
      WHERE merchant = $1 AND url = $2 AND state = 'waiting' AND next_try <= $3 AND lease_until <= $3
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS earlier
          WHERE earlier.payment = due.payment AND earlier.url = due.url AND earlier.state = 'waiting'
            AND earlier.seq < due.seq)
      ORDER BY next_try, payment LIMIT $4
      """, .text(lane.merchant.rawValue), .text(lane.url), .time(store.now), .integer(Int64(limit)))
    return try due.map { row in
      let delivery = try Delivery(row, fence: row.integer("fence") + 1)
      try store.run(
        "UPDATE webhook_deliveries SET lease_until = $4, fence = $5 WHERE payment = $1 AND seq = $2 AND url = $3",
        .text(delivery.payment.rawValue), .integer(delivery.sequence), .text(delivery.url), .time(until),
        .integer(delivery.fence))
      return delivery
    }
  }

  /// Writes what came of a try; false when another process has taken the delivery over in between.
  static func settle(
    _ delivery: Delivery, _ state: Delivery.State, result: String, next: Timestamp, in store: Transaction
  ) throws -> Bool {
    try store.run(
      """
      UPDATE webhook_deliveries SET state = $5, result = $6, next_try = $7, lease_until = 0,
        tries = tries + CASE WHEN $5 = 'delivered' THEN 0 ELSE 1 END,
        settled_at = $8
      WHERE payment = $1 AND seq = $2 AND url = $3 AND fence = $4 AND state = 'waiting'
      """,
      .text(delivery.payment.rawValue), .integer(delivery.sequence), .text(delivery.url), .integer(delivery.fence),
      .text(state.rawValue), .text(result), .time(next),
      .integer(optional: state == .waiting ? nil : store.now.microseconds)) == 1
  }

  static func list(_ state: Delivery.State, limit: Int, in store: Transaction) throws -> [Delivery] {
    try store.rows(
      "SELECT * FROM webhook_deliveries WHERE state = $1 ORDER BY payment DESC, seq LIMIT $2", .text(state.rawValue),
      .integer(Int64(limit))
    ).map { try Delivery($0, fence: $0.integer("fence")) }
  }

  /// Brings dead letters back, with all of their tries before them; how many.
  static func replay(_ payment: PaymentID?, _ sequence: Int64?, in store: Transaction) throws -> Int {
    try store.run(
      """
      UPDATE webhook_deliveries SET state = 'waiting', tries = 0, next_try = $3, lease_until = 0, settled_at = NULL
      WHERE state = 'dead' AND (payment = $1 OR $1 IS NULL) AND (seq = $2 OR $2 IS NULL)
      """, .text(optional: payment?.rawValue), .integer(optional: sequence), .time(store.now))
  }

  static func standing(in store: Transaction) throws -> WebhookStanding {
    let row = try store.row(
      """
      SELECT (SELECT count(*) FROM webhook_deliveries WHERE state = 'waiting') AS waiting,
        (SELECT count(*) FROM webhook_deliveries WHERE state = 'dead') AS dead,
        (SELECT MIN(created_at) FROM webhook_deliveries WHERE state = 'waiting') AS oldest
      """)
    let oldest = try row?.integerOrNil("oldest").map { store.now.since(Timestamp(microseconds: $0)) }
    return WebhookStanding(
      waiting: try row?.integer("waiting") ?? 0, dead: try row?.integer("dead") ?? 0,
      oldestWaiting: oldest ?? .zero)
  }
}

/// How the deliveries stand, for whoever watches.
public struct WebhookStanding: Sendable, Hashable {
  public let waiting: Int64
  public let dead: Int64
  /// How long the oldest of the waiting has been waiting.
  public let oldestWaiting: Duration
}

extension Delivery {
  fileprivate init(_ row: Row, fence: Int64) throws {
    guard let state = State(rawValue: try row.text("state")) else { throw StorageError.column("state") }
    self.state = state
    payment = PaymentID(try row.text("payment"))
    sequence = try row.integer("seq")
    url = try row.text("url")
    merchant = MerchantID(try row.text("merchant"))
    tries = try row.integer("tries")
    nextTry = try row.time("next_try")
    result = try row.textOrNil("result")
    self.fence = fence
  }
}
