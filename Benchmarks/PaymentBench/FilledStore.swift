import Administration
import Foundation
import Storage
import TenderPayments
import TenderServer

/// A store as a year of business leaves it: orders with contacts, payments that were authorized and captured, their
/// operations, payment tokens that were used, events that were delivered, audit entries.
///
/// Written by SQL alone, from a seed, because nothing else fills a store with a million payments in minutes. Everything
/// is there as the server writes it but for the audit chain's hashes, which do not link.
struct FilledStore: Sendable {
  let path: String
  let payments: Int
  /// Transactions, so that a random page of a primary key is written as often, however large the store is.
  private static let parts = 50

  func make() async throws {
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    let database = try await Database.sqlite(path: path, migrations: ServerStore.migrations)
    try await database.write { try keepPages($0) }
    let indexes = try await database.write { try dropIndexes($0) }
    let start = WallClock.system.now().adding(.seconds(-365 * 86_400))
    let chunk = max(20_000, payments / Self.parts)
    for first in stride(from: 1, through: payments, by: chunk) {
      let last = min(first + chunk - 1, payments)
      try await database.write { try fill($0, first...last, from: start) }
    }
    for index in indexes { try await database.write { try $0.run(index) } }
    try await database.write { try finishAudit($0) }
    await database.close()
  }

  /// Sets the writer's cache to 0.8 KiB a payment. Pages that do not fit are written several times in one transaction.
  private func keepPages(_ store: Transaction) throws {
    _ = try store.row("PRAGMA cache_size = -\(max(2_000, payments * 4 / 5))")
  }

  /// Sorting all keys at the end is many times faster than inserting each at a random place.
  ///
  /// - Returns: the statements that make the indexes again.
  private func dropIndexes(_ store: Transaction) throws -> [String] {
    let indexes = try store.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    for index in indexes { try store.run("DROP INDEX \(try index.text("name"))") }
    return try indexes.map { try $0.text("sql") }
  }

  private func fill(_ store: Transaction, _ numbers: ClosedRange<Int>, from start: Timestamp) throws {
    let pause = Int64(365 * 86_400) * 1_000_000 / Int64(payments)
    for statement in Self.statements {
      try store.run(
        Self.numbers + statement, .integer(Int64(numbers.lowerBound)), .integer(Int64(numbers.upperBound)),
        .time(start), .integer(pause))
    }
  }

  /// Reads the indexes to which a payment adds at random places, so that they are in the kernel's page cache.
  func readIndexes() async throws {
    let database = try await Database.sqlite(path: path, migrations: [])
    for (table, column) in [
      ("baskets", "id"), ("quotes", "basket"), ("orders", "basket"), ("payments", "basket"),
      ("token_uses", "transaction_id"), ("token_uses", "payload_hash"),
    ] {
      _ = try await database.read { try $0.row("SELECT count(*) AS n FROM \(table) WHERE \(column) > ''") }
    }
    await database.close()
  }

  private func finishAudit(_ store: Transaction) throws {
    try store.run(
      "INSERT INTO audit_heads (chain, seq, hash) VALUES ('main', $1, $2)",
      .integer(Int64(payments) * 4), .text(String(repeating: "0", count: 64)))
  }

  /// `n`: the payment's number. `at`: when it was, in microseconds. `id`: what begins with the time, as every
  /// identifier of the ledger does. `r1` to `r4`: 8 hex digits that look random, of which the rest is made.
  private static let numbers = """
    WITH RECURSIVE counted(n) AS (SELECT $1 UNION ALL SELECT n + 1 FROM counted WHERE n < $2),
    timed AS (
      SELECT n, $3 + n * $4 AS at, printf('%08x', n * 2654435761 % 4294967296) AS r1,
        printf('%08x', n * 2246822519 % 4294967291) AS r2, printf('%08x', n * 3266489917 % 4294967279) AS r3,
        printf('%08x', n * 668265263 % 4294967231) AS r4
      FROM counted),
    numbered AS (SELECT *, printf('%012x', at / 1000) || r1 || r2 || substr(r3, 1, 4) AS id FROM timed)

    """

  private static let statements = orders + money + traces

  private static let orders = [
    """
    INSERT INTO baskets (id, merchant, merchant_reference, document, order_id, service, destination, cancelled, hosted,
      current_quote, created_at, expires_at)
    SELECT r1 || r2 || r3 || r4, 'harbour', 'R-' || id,
      '{"businessName":"Harbour Kitchen","capture":"immediate","countryCode":"IE",'
      || '"currencyCode":"EUR","items":[{"id":"item","label":"One of everything","quantity":1,"unitAmount":1250}],'
      || '"merchantReference":"R-' || id || '","serviceTypes":["collection"]}', 'o' || id, 'storePickup',
      '{}', 0, 0, 'q' || id, at, at + 3600000000 FROM numbered
    """,
    """
    INSERT INTO quotes (id, basket, total, currency, pending, payable, sheet_state, lines, created_at)
    SELECT 'q' || id, r1 || r2 || r3 || r4, 1250, 'EUR', 0, 1, '{"destination":{},"service":"storePickup"}',
      '{"lines":[{"amount":1250,"kind":"final","label":"One of everything"}],"unavailable":[]}', at FROM numbered
    """,
    """
    INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, created_at,
      updated_at)
    SELECT 'o' || id, 'harbour', r1 || r2 || r3 || r4, 'q' || id, 'R-' || id, 1250, 'EUR', 'storePickup', at, at
    FROM numbered
    """,
    """
    INSERT INTO order_contacts (order_id, contact, updated_at)
    SELECT 'o' || id, '{"email":"shopper-' || r1 || '@example.com","name":"Ada ' || r2 || '","phone":"+353 1 ' || r3
      || '"}', at FROM numbered
    """,
  ]

  private static let money = [
    """
    INSERT INTO payments (id, order_id, merchant, basket, route, status, live, amount, currency, amount_confirmed,
      capture_mode, authorized, captured, refunded, reserved_capture, reserved_void, reserved_refund,
      authorization_code, card_suffix, card_expiry, card_has_eci, reported_outcome, version, created_at, updated_at)
    SELECT id, 'o' || id, 'harbour', r1 || r2 || r3 || r4, 'sandbox', 'captured', 1, 1250, 'EUR', 1, 'immediate', 1250,
      1250, 0, 0, 0, 0, 'Z01234', '0012', '3112', 1, 'success', 4, at, at + 90000 FROM numbered
    """,
    operation("authorize", "a", 0), operation("capture", "c", 1),
    """
    INSERT INTO token_uses (transaction_id, payload_hash, payment, used_at)
    SELECT r1 || r2 || r3 || r4 || r2 || r1 || r4 || r3, r4 || r3 || r2 || r1 || r3 || r4 || r1 || r2, id, at
    FROM numbered
    """,
  ]

  private static let traces =
    [("authorizing", 0), ("authorized", 1), ("captured", 2)].map { event($0, $1) }
    + ["authorize begins", "authorize approved", "capture begins", "capture approved"].enumerated().map {
      auditEntry($1, $0)
    }

  private static func operation(_ kind: String, _ letter: String, _ number: Int) -> String {
    """
    INSERT INTO operations (reference, payment, route, kind, amount, released_amount, is_final, cause, state,
      is_whole, number, acquirer_reference, network_transaction_id, tries, next_try, lease_owner, lease_until, fence,
      sent_at, answered_at)
    SELECT substr(id, 1, 12) || '\(letter)' || substr(id, 14), id, 'sandbox', '\(kind)', 1250, 0, 0, 'shopper', 'approved',
      1, \(number), 'A' || id, 'N' || r4, 0, at, '0123456789abcdef', 0, 1, at, at + 45000 FROM numbered
    """
  }

  private static func event(_ status: String, _ number: Int) -> String {
    """
    INSERT INTO outbox (payment, merchant, seq, operation, status, authorized, captured, refunded, happened_at, delivered_at)
    SELECT id, 'harbour', \(number + 1), substr(id, 1, 12) || 'a' || substr(id, 14), '\(status)', 1250, 0, 0, at, at + 1000000
    FROM numbered
    """
  }

  private static func auditEntry(_ event: String, _ number: Int) -> String {
    """
    INSERT INTO audit (chain, seq, payment, operation, event, status_before, status_after, authorized, captured,
      refunded, recorded_at, hash, version)
    SELECT 'main', n * 4 - 3 + \(number), id, substr(id, 1, 12) || 'a' || substr(id, 14), '\(event)', '', 'authorizing',
      1250, 0, 0, at, r1 || r2 || r3 || r4 || r4 || r3 || r2 || r1, \(number + 1) FROM numbered
    """
  }
}
