import DirectWire
import Storage
import StrictJSON
import TenderPayments

// An event for every change of a state, sent to the merchant's address until it is acknowledged.
extension WorldlineDirectStore {
  func write(
    _ type: String, of account: WorldlineDirectAccount, in transaction: Transaction,
    _ fill: (inout DirectEvent) -> Void
  ) throws {
    var event = DirectEvent(id: errorID(), type, of: account.merchantID, at: transaction.now)
    fill(&event)
    try transaction.run(
      """
      INSERT INTO events (sequence, merchant, body, tries, next_try)
      VALUES ((SELECT COALESCE(MAX(sequence), 0) + 1 FROM events), $1, $2, 0, $3)
      """, .text(account.merchantID), .text(String(decoding: try DirectJSON.bytes(event), as: UTF8.self)),
      .time(transaction.now))
  }

  func sendEvents(of merchant: String, to url: String) async throws {
    try await database.write {
      try $0.run(
        """
        INSERT INTO event_endpoints (merchant, url) VALUES ($1, $2) ON CONFLICT (merchant) DO UPDATE SET url = $2
        """, .text(merchant), .text(url))
    }
  }

  struct DueEvent: Sendable {
    let sequence: Int64
    let merchant: String
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
        JOIN event_endpoints ON event_endpoints.merchant = events.merchant
        WHERE delivered_at IS NULL AND next_try <= $1 ORDER BY sequence LIMIT 100
        """, .time(transaction.now)
      ).map { row in
        DueEvent(
          sequence: try row.integer("sequence"), merchant: try row.text("merchant"), url: try row.text("url"),
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

extension WorldlineDirectSandbox: RecentlyActive {
  package func recentOperations(limit: Int64) async throws -> [RecentOperation] {
    try await store.database.read { store in
      try store.rows(
        """
        SELECT 'authorize' AS kind, reference, amount, currency, card_suffix, status, created_at FROM payments
        UNION ALL
        SELECT operations.kind, COALESCE(operations.reference, payments.reference), operations.amount, currency,
          card_suffix, operations.status, operations.created_at
        FROM operations JOIN payments ON payments.id = operations.payment
        ORDER BY created_at DESC LIMIT $1
        """, .integer(limit)
      ).compactMap { try RecentOperation(worldlineDirect: $0) }
    }
  }

  package func recentEvents(limit: Int64) async throws -> [RecentEvent] {
    try await store.database.read { store in
      try store.rows("SELECT * FROM events ORDER BY sequence DESC LIMIT $1", .integer(limit)).map { row in
        let event = try DirectJSON.read(DirectEvent.self, Array(try row.text("body").utf8))
        return try RecentEvent(row, reference: event.payment?.id ?? event.refund?.id ?? "", result: event.type)
      }
    }
  }
}

extension RecentOperation {
  /// Nil for an amount in a currency that is none.
  fileprivate init?(worldlineDirect row: Row) throws {
    guard let currency = Currency(code: try row.text("currency")) else { return nil }
    let status = DirectStatus(rawValue: try row.integer("status"))
    self.init(
      time: try row.time("created_at"), reference: try row.textOrNil("reference") ?? "", kind: try row.text("kind"),
      amount: Amount(minorUnits: try row.integer("amount"), currency: currency),
      cardSuffix: try row.text("card_suffix"), result: status.map { "\($0.rawValue) \($0.word)" } ?? "",
      isRefused: status?.progress == .refused)
  }
}
