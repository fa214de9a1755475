import Foundation
import Ledger
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Processes that share a store` {
  @Test(arguments: StoreEngineUnderTest.present) func `leave an intact audit of 64 payments at once`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    // There are as many chains as payments: several make the head of one only if that takes a while.
    if engine == .postgres { try await store.pauseAfterInserts(into: "audit_heads") }
    let payments = try await store.atOnce { number, _ in try await store.authorized(number) }
    let report = try await store.journal(0).verifyAudit()
    #expect(report.isIntact, "\(report.violations)")
    #expect((report.payments, report.entries) == (64, 128))
    #expect(engine == .sqlite ? Set(report.heads.keys) == ["main"] : report.heads.count > 4)
    let first = try #require(payments.first)
    let lines = try await store.journal(1).database.read { try AuditLine.all(of: first, in: $0) }
    #expect(lines.map(\.event).map { $0.prefix(9) } == ["authorize", "authorize"])
  }

  @Test(.enabled(if: PostgresUnderTest.isPresent))
  func `leave an intact audit where commits take a while after their entries`() async throws {
    let store = try await SharedStore(.postgres)
    // Of two payments in one chain, the second meets the first one's entry before that is committed.
    try await store.pauseAfterInserts(into: "audit")
    _ = try await store.atOnce { number, _ in try await store.authorized(number) }
    let report = try await store.journal(0).verifyAudit()
    #expect(report.isIntact, "\(report.violations)")
    #expect((report.payments, report.entries) == (64, 128))
  }

  @Test(.enabled(if: PostgresUnderTest.isPresent))
  func `commit payments beside a transaction that stays open after its audit entry`() async throws {
    let store = try await SharedStore(.postgres)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let mayEnd = DispatchSemaphore(value: 0)
    // The threads of a pool are its own: one may wait.
    let open = Task {
      defer { begin.finish() }
      try await store.journal(0).database.write { transaction in
        _ = try store.journal(0).claim(.sample("open"), spending: .sample(999), card: .sample, in: transaction)
        begin.finish()
        mayEnd.wait()
      }
    }
    for await _ in begun {}
    let committed = Mutex(0)
    let others = Task {
      try await store.atOnce { number, _ in
        guard number < 16 else { return }
        // The other process has all of its connections.
        _ = try await store.journals[1].claim(.sample("order-\(number)"), spending: .sample(number), card: .sample)
        committed.withLock { $0 += 1 }
      }
    }
    do {
      defer { mayEnd.signal() }
      try await waitFor("four payments", { committed.withLock { $0 } }) { $0 >= 4 }
    }
    _ = try await (open.value, others.value)
    #expect(try await store.journal(0).verifyAudit().isIntact)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `hand each event over once, in order within its payment`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    _ = try await store.atOnce { number, _ in try await store.authorized(number) }
    var taken: [OutboxEvent] = []
    for _ in 0..<20 { taken += try await store.handOver() }
    #expect(taken.count == 128 && Set(taken).count == 128)
    let placed = try await store.journal(0).database.read { try OutboxEvent.after(.start, limit: 200, in: $0) }
    #expect(placed.map(\.cursor.position) == Array(1...128))
    for (_, events) in Dictionary(grouping: placed.compactMap(\.event), by: \.payment) {
      #expect(events.map(\.sequence) == [1, 2])
    }
  }

  @Test(arguments: StoreEngineUnderTest.present) func `hand each event to mail once, whatever webhooks have taken`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    _ = try await store.atOnce { number, _ in try await store.authorized(number) }
    // Both consumers at once, and then mail alone.
    var taken: [OutboxEvent] = []
    for round in 0..<20 {
      taken += try await store.atOnce { number, journal in
        try await journal.database.write { transaction -> [OutboxEvent] in
          guard number % 4 < 2 || round > 10 else {
            _ = try OutboxEvent.take(for: .webhooks, payments: 4, in: transaction)
            return []
          }
          let events = try OutboxEvent.take(for: .mail, payments: 4, in: transaction)
          if engine == .postgres { Thread.sleep(forTimeInterval: 0.002) }
          return events
        }
      }.flatMap { $0 }
    }
    #expect(taken.count == 128 && Set(taken).count == 128)
    let placed = try await store.journal(0).database.read { try OutboxEvent.after(.start, limit: 200, in: $0) }
    #expect(placed.map(\.cursor.position) == Array(1...128))
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `let a reader of events miss none, although commits overtake one another`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    let isDone = Mutex(false)
    let reader = Task { () -> [OutboxEvent] in
      var (found, place) = ([OutboxEvent](), OutboxEvent.Cursor.start)
      while true {
        let wasDone = isDone.withLock { $0 }
        let from = place
        let page = try await store.journal(1).database.read { try OutboxEvent.after(from, limit: 5, in: $0) }
        found += page.compactMap(\.event)
        place = page.last?.cursor ?? place
        if page.isEmpty, wasDone { return found }
        // It reads often, also between two commits.
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    defer { isDone.withLock { $0 = true } }
    _ = try await store.atOnce { number, journal in
      // Its time is that of its beginning; it commits later than others that began after it.
      try await journal.database.write { transaction in
        _ = try journal.claim(.sample("order-\(number)"), spending: .sample(number), card: .sample, in: transaction)
        if engine == .postgres { Thread.sleep(forTimeInterval: Double(number % 7) / 200) }
      }
      _ = try await journal.database.write { try OutboxEvent.take(for: .webhooks, payments: 4, in: $0) }
    }
    for _ in 0..<20 { _ = try await store.handOver() }
    isDone.withLock { $0 = true }
    let found = try await reader.value
    #expect(found.count == 64 && Set(found.map(\.payment)).count == 64)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `leave the events of merchants that are not served, for a month`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let clock = ManualClock()
    let store = try await SharedStore(engine, clock: clock.wall)
    let (served, unserved) = (try await store.authorized(1, at: "served"), try await store.authorized(2))
    @Sendable func taken() async throws -> [OutboxEvent] {
      let left = LeftEvents(merchants: ["shop"])
      return try await store.journal(0).database.write {
        try OutboxEvent.take(for: .webhooks, payments: 1, butOf: left, in: $0)
      }
    }
    #expect(try await taken().map(\.payment) == [served, served])
    #expect(try await taken() == [])
    clock.advance(OutboxEvent.longestWait)
    let late = try await taken()
    #expect(late.map(\.payment) == [unserved, unserved] && late.map(\.sequence) == [1, 2])
  }

  @Test(arguments: StoreEngineUnderTest.present) func `keep the latest use of a processing key`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let store = try await SharedStore(engine)
    _ = try await store.atOnce { number, journal in
      try await ProcessingKeyStore(journal.database).write(
        .init(
          owner: "harbour", publicKeyHash: "hash", version: .ecV1, state: "active", since: nil,
          lastUsed: number == 0 ? nil : Timestamp(seconds: Int64(100 * ((number * 37) % 64)))))
    }
    let records = try await ProcessingKeyStore(store.journal(0).database).records()
    #expect(records.map(\.lastUsed) == [Timestamp(seconds: 6_300)])
  }
}
