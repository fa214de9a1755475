package import Storage
package import TenderPayments

/// An event of an emulated provider whose time has come.
package struct DueEvent: Sendable {
  package let sequence: Int64
  package let account: String
  package let url: String
  package let body: String
  package let tries: Int64
  package let now: Timestamp

  package var bytes: [UInt8] { Array(body.utf8) }
}

// Events, sent to an account's address until they are acknowledged.
extension ProviderStore {
  package func addEvent(_ body: [UInt8], of account: String, in transaction: Transaction) throws {
    try transaction.run(
      """
      INSERT INTO events (sequence, account, body, tries, next_try)
      VALUES ((SELECT COALESCE(MAX(sequence), 0) + 1 FROM events), $1, $2, 0, $3)
      """, .text(account), .text(String(decoding: body, as: UTF8.self)), .time(transaction.now))
  }

  package func sendEvents(of account: String, to url: String) async throws {
    try await database.write {
      try $0.run(
        """
        INSERT INTO event_endpoints (account, url) VALUES ($1, $2) ON CONFLICT (account) DO UPDATE SET url = $2
        """, .text(account), .text(url))
    }
  }

  /// In the order in which they happened.
  package func dueEvents() async throws -> [DueEvent] {
    try await database.read { transaction in
      try transaction.rows(
        """
        SELECT events.*, event_endpoints.url FROM events
        JOIN event_endpoints ON event_endpoints.account = events.account
        WHERE delivered_at IS NULL AND next_try <= $1 ORDER BY sequence LIMIT 100
        """, .time(transaction.now)
      ).map { row in
        DueEvent(
          sequence: try row.integer("sequence"), account: try row.text("account"), url: try row.text("url"),
          body: try row.text("body"), tries: try row.integer("tries"), now: transaction.now)
      }
    }
  }

  /// Retries after 1, 2, 4 … seconds, at most 4,096.
  package func record(_ event: DueEvent, isDelivered: Bool) async throws {
    try await database.write { transaction in
      let next = transaction.now.adding(.seconds(1 << min(event.tries, 12)))
      try transaction.run(
        "UPDATE events SET tries = tries + 1, next_try = $2, delivered_at = $3 WHERE sequence = $1",
        .integer(event.sequence), .time(next), isDelivered ? .time(transaction.now) : .null)
    }
  }

  /// Sends the events that are due, or what the injected faults make of them.
  ///
  /// - Parameter send: returns whether the recipient acknowledged it; nil for an account that is no longer known.
  package func deliver(_ faults: ProviderFaults, _ send: (DueEvent) async -> Bool?) async throws {
    var due = try await dueEvents()
    if let first = due.first, faults.take(.eventLost) {
      try await record(first, isDelivered: true)
      due.removeFirst()
    }
    if let first = due.first, faults.take(.eventTwice) { due.insert(first, at: 0) }
    if due.count > 1, faults.take(.eventsReversed) { due.reverse() }
    for event in due {
      guard let isDelivered = await send(event) else { continue }
      try await record(event, isDelivered: isDelivered)
    }
  }

  /// The newest events of all accounts, the newest first.
  package func recentEvents(
    limit: Int64, _ read: @escaping @Sendable ([UInt8]) throws -> (reference: String, result: String)
  ) async throws -> [RecentEvent] {
    try await database.read { transaction in
      try transaction.rows("SELECT * FROM events ORDER BY sequence DESC LIMIT $1", .integer(limit)).map { row in
        let (reference, result) = try read(Array(try row.text("body").utf8))
        let delivered = try row.integerOrNil("delivered_at")
        return RecentEvent(
          time: Timestamp(microseconds: try delivered ?? row.integer("next_try")), reference: reference,
          result: result, tries: try row.integer("tries"), isDelivered: delivered != nil)
      }
    }
  }
}
