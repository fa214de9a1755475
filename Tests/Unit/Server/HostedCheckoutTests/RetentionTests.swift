import HostedCheckout
import Orders
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A checkout that has ended` {
  private static let noon = Timestamp(rfc3339: "2026-11-21T12:00:00Z") ?? Timestamp(seconds: 0)
  private static let day = Duration.seconds(86_400)

  private let file: TemporaryStore
  private let database: Database
  private let clock = HeldClock(noon)

  init() async throws {
    file = try TemporaryStore()
    database = try await file.open(OrderService.migrations + HostedCheckouts.migrations, clock: clock.wall)
  }

  @Test func `is deleted with its basket and its codes when its time is over, and not before`() async throws {
    try await add("unpaid", isOrdered: false)
    #expect(try await !forget())
    #expect(try await counts() == [1, 1, 1, 1, 0])
    clock.move(.seconds(1))
    #expect(try await !forget())
    #expect(try await counts() == [0, 0, 0, 0, 0])
  }

  @Test func `is kept where an order was made of it, and is not looked at again`() async throws {
    try await add("paid", isOrdered: true)
    clock.move(Self.day)
    #expect(try await forget(1))
    #expect(try await counts() == [1, 1, 1, 0, 1])
    #expect(try await !forget(1))
  }

  @Test func `is deleted a batch at a time`() async throws {
    for number in 1...5 { try await add("\(number)", isOrdered: false) }
    clock.move(Self.day)
    #expect(try await forget(2))
    #expect(try await counts()[0] == 3)
    while try await forget(2) {}
    #expect(try await counts() == [0, 0, 0, 0, 0])
  }

  @Test func `is kept while the caller's clock says that it has not ended`() async throws {
    try await add("unpaid", isOrdered: false)
    clock.move(Self.day * 100)
    _ = try await database.write { try HostedCheckout.forget(10, by: Self.noon, in: $0) }
    #expect(try await counts()[0] == 1)
  }

  private func forget(_ limit: Int = 10) async throws -> Bool {
    let now = clock.wall.now()
    return try await database.write { try HostedCheckout.forget(limit, by: now, in: $0) }
  }

  private func counts() async throws -> [Int64] {
    try await database.read { store in
      try ["hosted_checkouts", "baskets", "quotes", "hosted_handovers", "orders"].map {
        try store.row("SELECT COUNT(*) AS count FROM \($0)")?.integer("count") ?? -1
      }
    }
  }

  /// Rows of a checkout, to be forgotten a second after noon.
  private func add(_ id: String, isOrdered: Bool) async throws {
    let soon = Self.noon.adding(.seconds(1)).microseconds
    try await database.write { store in
      for statement in [
        """
        INSERT INTO baskets (id, merchant, document, order_id, service, destination, cancelled, hosted,
          merchant_reference, created_at, expires_at)
          VALUES ('\(id)', 'm', '{}', 'o-\(id)', 'none', '{}', 0, 1, 'r', 0, 0)
        """,
        """
        INSERT INTO quotes (id, basket, total, currency, pending, payable, sheet_state, lines, created_at)
        VALUES ('q-\(id)', '\(id)', 1, 'EUR', 0, 1, '{}', '[]', 0)
        """,
        """
        INSERT INTO hosted_checkouts (id, merchant, kind, return_mac, locale, variant, shows_result, merchant_reference,
          created_at, expires_at, forget_at) VALUES ('\(id)', 'm', 'session', '', 'en', '', 1, 'r', 0, 0, \(soon))
        """,
        "INSERT INTO hosted_handovers (code_hash, checkout, expires_at) VALUES ('h-\(id)', '\(id)', \(soon))",
      ] { try store.run(statement) }
      guard isOrdered else { return }
      try store.run(
        """
        INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, created_at,
          updated_at) VALUES ('o-\(id)', 'm', '\(id)', 'q-\(id)', 'r', 1, 'EUR', 'none', 0, 0)
        """)
    }
  }
}

private final class HeldClock: Sendable {
  private let time: Mutex<Timestamp>

  init(_ time: Timestamp) { self.time = Mutex(time) }

  var wall: WallClock { WallClock { self.time.withLock { $0 } } }
  func move(_ duration: Duration) { time.withLock { $0 = $0.adding(duration) } }
}
