import Ledger
package import Storage
package import TenderPayments

/// One event on its way to one endpoint of its merchant.
package struct Delivery: Sendable, Hashable {
  package enum State: String, Sendable, Hashable, Codable, CaseIterable {
    /// Waits for its first or next try.
    case waiting
    /// Acknowledged by the merchant's server.
    case delivered
    /// Given up after the last try; a replay brings it back.
    case dead
  }

  package let payment: PaymentID
  package let sequence: Int64
  /// The endpoint's id, which stays when its URL changes.
  package let endpoint: String
  /// Where the last try went, or where the first was to go.
  package let url: String
  package let merchant: MerchantID
  package let state: State
  /// How many tries have failed.
  package let tries: Int64
  package let nextTry: Timestamp
  /// The result of the last try: a status, or why there was none.
  package let result: String?
  /// Nil where it was not acknowledged.
  package let acknowledgedAt: Timestamp?
  let fence: Int64
}

/// The queue of deliveries to one endpoint of one merchant. An endpoint that is slow or down holds up no other.
struct EndpointQueue: Sendable, Hashable {
  let merchant: MerchantID
  let endpoint: String
}

/// The table `webhook_deliveries`.
enum Deliveries {
  static func add(_ event: OutboxEvent, to endpoint: WebhookEndpoint, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO webhook_deliveries (payment, seq, endpoint, url, merchant, state, tries, next_try, lease_until, fence,
        created_at)
      VALUES ($1, $2, $3, $4, $5, 'waiting', 0, $6, 0, 0, $6) ON CONFLICT DO NOTHING
      """,
      .text(event.payment.rawValue), .integer(event.sequence), .text(endpoint.id), .text(endpoint.url),
      .text(event.merchant.rawValue), .time(store.now))
  }

  static func queues(in store: Transaction) throws -> [EndpointQueue] {
    try store.rows(
      """
      SELECT DISTINCT merchant, endpoint FROM webhook_deliveries
      WHERE state = 'waiting' AND next_try <= $1 AND lease_until <= $1 ORDER BY merchant, endpoint
      """, .time(store.now)
    ).map { EndpointQueue(merchant: MerchantID(try $0.text("merchant")), endpoint: try $0.text("endpoint")) }
  }

  /// Claims what is due in a queue: of each payment only the first event that still waits, so that a merchant never
  /// receives the second before the first.
  static func claim(
    _ queue: EndpointQueue, limit: Int, until: Timestamp, in store: Transaction
  ) throws -> [Delivery] {
    let due = try store.unclaimedRows(
      """
      SELECT * FROM webhook_deliveries AS due
      WHERE merchant = $1 AND endpoint = $2 AND state = 'waiting' AND next_try <= $3 AND lease_until <= $3
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS earlier
          WHERE earlier.payment = due.payment AND earlier.endpoint = due.endpoint AND earlier.state = 'waiting'
            AND earlier.seq < due.seq)
      ORDER BY next_try, payment LIMIT $4
      """, .text(queue.merchant.rawValue), .text(queue.endpoint), .time(store.now), .integer(Int64(limit)))
    return try due.map { row in
      let delivery = try Delivery(row, fence: row.integer("fence") + 1)
      try store.run(
        "UPDATE webhook_deliveries SET lease_until = $4, fence = $5 WHERE payment = $1 AND seq = $2 AND endpoint = $3",
        .text(delivery.payment.rawValue), .integer(delivery.sequence), .text(delivery.endpoint), .time(until),
        .integer(delivery.fence))
      return delivery
    }
  }

  /// How a try ended.
  struct End: Sendable {
    let delivery: Delivery
    let state: Delivery.State
    /// Where the try went.
    let url: String
    let result: String
    /// Until the next try.
    let wait: Duration
  }

  /// Writes the results of tries; false for one whose lease another process has acquired in between.
  static func finish(_ ends: [End], in store: Transaction) throws -> [Bool] {
    try store.firstRows(of: ends.map(finishing)).map { $0 != nil }
  }

  private static func finishing(_ end: End) -> SQLStatement {
    SQLStatement(
      """
      UPDATE webhook_deliveries SET state = $5, result = $6, next_try = $7, lease_until = 0,
        tries = tries + CASE WHEN $5 = 'delivered' THEN 0 ELSE 1 END,
        finished_at = $8, url = $9
      WHERE payment = $1 AND seq = $2 AND endpoint = $3 AND fence = $4 AND state = 'waiting'
      RETURNING seq
      """,
      .text(end.delivery.payment.rawValue), .integer(end.delivery.sequence), .text(end.delivery.endpoint),
      .integer(end.delivery.fence), .text(end.state.rawValue), .text(end.result),
      .integer(end.wait.microseconds), .integer(optional: end.state == .waiting ? nil : 0), .text(end.url)
    ).fromNow(7, 8)
  }

  /// The newest payment first; of those that wait, the next try first.
  ///
  /// The state stands in the text, so that the indexes of dead and of waiting deliveries are used.
  static func list(
    _ state: Delivery.State, of merchants: [MerchantID]?, limit: Int, in store: Transaction
  ) throws -> [Delivery] {
    let order = state == .waiting ? "next_try" : "payment DESC, seq"
    let merchants = MerchantCondition(merchants)
    return try store.rows(
      """
      SELECT * FROM webhook_deliveries WHERE state = '\(state.rawValue)' AND \(merchants.sql)
      ORDER BY \(order) LIMIT \(limit)
      """, merchants.values
    ).map { try Delivery($0, fence: $0.integer("fence")) }
  }

  static func all(of payment: PaymentID, in store: Transaction) throws -> [Delivery] {
    try store.rows(
      "SELECT * FROM webhook_deliveries WHERE payment = $1 ORDER BY seq, endpoint", .text(payment.rawValue)
    ).map { try Delivery($0, fence: $0.integer("fence")) }
  }

  /// Brings dead letters back, with all of their tries before them; how many.
  ///
  /// - Parameter endpoint: nil leaves each at its endpoint. One that this endpoint was sent under its own name is not
  ///   sent there a second time; of two dead letters of one event the first moves.
  static func replay(
    _ payment: PaymentID?, _ sequence: Int64?, to endpoint: String?, in store: Transaction
  ) throws -> Int {
    try store.changes(
      """
      UPDATE webhook_deliveries SET state = 'waiting', tries = 0, next_try = $3, lease_until = 0, finished_at = NULL,
        endpoint = COALESCE($4, endpoint)
      WHERE state = 'dead' AND (payment = $1 OR $1 IS NULL) AND (seq = $2 OR $2 IS NULL)
        AND ($4 IS NULL OR endpoint = $4 OR NOT EXISTS (SELECT 1 FROM webhook_deliveries AS other
          WHERE other.payment = webhook_deliveries.payment AND other.seq = webhook_deliveries.seq
            AND (other.endpoint = $4 OR (other.state = 'dead' AND other.endpoint < webhook_deliveries.endpoint))))
      """, .text(optional: payment?.rawValue), .integer(optional: sequence), .time(store.now),
      .text(optional: endpoint))
  }

  static func backlog(in store: Transaction) throws -> WebhookBacklog {
    let row = try store.row(
      """
      SELECT (SELECT count(*) FROM webhook_deliveries WHERE state = 'waiting') AS waiting,
        (SELECT count(*) FROM webhook_deliveries WHERE state = 'dead') AS dead,
        (SELECT MIN(created_at) FROM webhook_deliveries WHERE state = 'waiting') AS oldest
      """)
    let oldest = try row?.integerOrNil("oldest").map { store.now.since(Timestamp(microseconds: $0)) }
    return WebhookBacklog(
      waiting: try row?.integer("waiting") ?? 0, dead: try row?.integer("dead") ?? 0,
      oldestWaiting: oldest ?? .zero)
  }
}

extension WebhookDispatcher {
  /// Why nothing of a payment can be brought back; nil where something can.
  ///
  /// - Parameters:
  ///   - isMoved: whether the events go to another endpoint than theirs.
  ///   - known: the names of the merchant's endpoints; nil where nobody knows them.
  package static func obstacle(
    toReplay payment: PaymentID, sequence: Int64?, isMoved: Bool = false, known: [String]?, in store: Transaction
  ) throws -> String? {
    let all = try deliveries(of: payment, in: store)
    let named = all.filter { sequence == nil || $0.sequence == sequence }
    guard !named.isEmpty else {
      let numbers = Set(all.map(\.sequence)).sorted().map { "\($0)" }.joined(separator: ", ")
      return all.isEmpty
        ? "The payment \(payment) has no event for an endpoint."
        : "The payment \(payment) has no event \(sequence ?? 0) for an endpoint; there are: \(numbers)."
    }
    let dead = named.filter { $0.state == .dead }
    guard let first = dead.first else {
      let waiting = named.filter { $0.state == .waiting }
      let states = (waiting + named.filter { $0.state != .waiting }).map {
        "event \($0.sequence) to \($0.endpoint) is \($0.state.rawValue)"
      }
      let more = states.count > 5 ? ", and \(states.count - 5) more" : ""
      return "No dead letter fits: \(states.prefix(5).joined(separator: ", "))\(more)."
        + (waiting.isEmpty ? "" : " What waits is tried again by itself.")
    }
    let isThere = dead.contains { letter in known?.contains { $0.utf8.elementsEqual(letter.endpoint.utf8) } ?? true }
    guard let known, !isMoved, !isThere else { return nil }
    return "\(first.merchant) has no endpoint \(first.endpoint) any more; there are: "
      + "\(known.isEmpty ? "none" : known.joined(separator: ", ")). Give it an endpoint of that name, or send the "
      + "event to another by `tender webhooks replay --to`."
  }
}

/// How many deliveries wait or are dead letters, for metrics.
package struct WebhookBacklog: Sendable, Hashable {
  package let waiting: Int64
  package let dead: Int64
  /// How long the oldest of the waiting has been waiting.
  package let oldestWaiting: Duration
}

extension Delivery {
  fileprivate init(_ row: Row, fence: Int64) throws {
    guard let state = State(rawValue: try row.text("state")) else { throw StorageError.column("state") }
    self.state = state
    payment = PaymentID(try row.text("payment"))
    sequence = try row.integer("seq")
    endpoint = try row.text("endpoint")
    url = try row.text("url")
    merchant = MerchantID(try row.text("merchant"))
    tries = try row.integer("tries")
    nextTry = try row.time("next_try")
    result = try row.textOrNil("result")
    let finishedAt = try row.integerOrNil("finished_at").map { Timestamp(microseconds: $0) }
    acknowledgedAt = state == .delivered ? finishedAt : nil
    self.fence = fence
  }
}
