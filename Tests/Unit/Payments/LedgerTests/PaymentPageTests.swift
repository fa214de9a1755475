import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A page of payments` {
  let bench: Bench
  init() async throws { bench = try await Bench() }

  private func page(
    before: PaymentID? = nil, limit: Int = 50, reach: Int = PaymentFilter.reach,
    _ change: (inout PaymentFilter) -> Void = { _ in }
  ) async throws -> PaymentPage {
    var filter = PaymentFilter()
    change(&filter)
    return try await bench.database.read { [filter] in
      try filter.page(before: before, limit: limit, reach: reach, in: $0)
    }
  }

  private func ids(_ change: (inout PaymentFilter) -> Void) async throws -> [PaymentID] {
    try await page(change).items.map(\.payment.id)
  }

  /// One a minute, each of its own order, the oldest first.
  private func payments(_ count: Int) async throws -> [PaymentID] {
    var ids: [PaymentID] = []
    for number in 0..<count {
      bench.clock.advance(.seconds(60))
      ids.append(try await bench.attempt(.sample("order-\(number)"), token: number).payment)
    }
    return ids
  }

  @Test func `holds what fits every condition that is set`() async throws {
    let id = try await bench.authorized()
    let (start, order) = (bench.clock.now, try #require(try await bench.journal.payment(id)).order)
    let fitting: [(inout PaymentFilter) -> Void] = [
      { _ in }, { $0.merchants = ["shop"] }, { $0.merchants = ["shop", "other"] }, { $0.orders = [order] },
      { $0.status = .authorized }, { $0.route = "sandbox" }, { ($0.amount, $0.currency) = (1250, "EUR") },
      { $0.lastFour = "0012" }, { $0.from = start }, { $0.until = start.adding(.seconds(1)) },
    ]
    for change in fitting { #expect(try await ids(change) == [id]) }
    let others: [(inout PaymentFilter) -> Void] = [
      { $0.merchants = [] }, { $0.merchants = ["other"] }, { $0.orders = [] }, { $0.status = .voided },
      { $0.route = "other" }, { $0.amount = 1 }, { $0.currency = "USD" }, { $0.lastFour = "0013" },
      { $0.from = start.adding(.seconds(1)) }, { $0.until = start }, { $0.isAlarmed = true },
    ]
    for change in others { #expect(try await ids(change).isEmpty) }
  }

  @Test func `goes on where the one before ended, until all were shown once`() async throws {
    let all = try await payments(7)
    var (found, place): ([PaymentID], PaymentID?) = ([], nil)
    repeat {
      let page = try await page(before: place, limit: 3)
      found += page.items.map(\.payment.id)
      place = page.next
    } while place != nil
    #expect(found == all.reversed())
  }

  @Test func `looks no further than its reach, and says where to go on`() async throws {
    let all = try await payments(5)
    let first = try await page(reach: 2) { $0.orders = [OrderID("order-0")] }
    #expect(first.items.isEmpty && first.next == all[3])
    let last = try await page(before: all[3], reach: 10) { $0.orders = [OrderID("order-0")] }
    #expect(last.items.map(\.payment.id) == [all[0]] && last.next == nil)
  }

  @Test func `looks as far at each of several merchants, whatever others have paid since`() async throws {
    let all = try await payments(9)
    try await bench.database.write { store in
      for (payment, merchant) in [(all[0], "first"), (all[1], "second"), (all[2], "first")] {
        try store.run(
          "UPDATE payments SET merchant = $2 WHERE id = $1", .text(payment.rawValue), .text(merchant))
      }
    }
    let mine: (inout PaymentFilter) -> Void = { $0.merchants = ["first", "second"] }
    #expect(try await page(reach: 2, mine).items.map(\.payment.id) == [all[2], all[1], all[0]])
    let newest = try await page(limit: 2, reach: 2, mine)
    #expect(newest.items.map(\.payment.id) == [all[2], all[1]] && newest.next == all[1])
    #expect(try await page(before: all[1], limit: 2, reach: 2, mine).items.map(\.payment.id) == [all[0]])
    // The second payment of the first merchant is not looked at yet, so an older one of the second is not shown yet.
    let short = try await page(reach: 1, mine)
    #expect(short.items.map(\.payment.id) == [all[2]] && short.next == all[2])
  }

  @Test func `lists what is open, alarmed and about to expire`() async throws {
    let open = try await payments(1)[0]
    try await bench.journal.raise(.captureOverdue, on: open)
    let now = bench.clock.now
    let (found, alarmed, expiring, order) = try await bench.database.read { store in
      (
        try PaymentPage.Item.open(limit: 5, in: store), try PaymentPage.Item.withAlarm(limit: 5, in: store),
        try PaymentPage.Item.expiring(before: now.adding(.seconds(86_400 * 90)), limit: 5, in: store),
        try PaymentPage.Item.all(.order, "order-0", of: nil, in: store)
      )
    }
    #expect(found.map(\.payment.id) == [open] && order.map(\.payment.id) == [open])
    #expect(alarmed.map(\.alarm) == ["capture_overdue"])
    #expect(expiring.allSatisfy { $0.holdUntil != nil })
  }

  @Test func `looks at the payments of one's merchants alone before the list is cut`() async throws {
    let all = try await payments(3)
    for payment in all { try await bench.journal.raise(.captureOverdue, on: payment) }
    // Neither the newest nor the oldest, which a list that is cut first would hold.
    let middle = all[1]
    try await bench.database.write { store in
      try store.run("UPDATE payments SET merchant = 'another' WHERE id = $1", .text(middle.rawValue))
    }
    let (mine, noones) = try await bench.database.read { store in
      (
        try PaymentPage.Item.withAlarm(of: [MerchantID("another")], limit: 1, in: store)
          + PaymentPage.Item.open(of: [MerchantID("another")], limit: 1, in: store),
        try PaymentPage.Item.withAlarm(of: [], limit: 1, in: store) + PaymentPage.Item.open(of: [], limit: 1, in: store)
      )
    }
    #expect(mine.map(\.payment.id) == [middle, middle] && noones.isEmpty)
  }
}

@Suite struct `The history of a payment` {
  @Test func `has its operations, its events and its entries of the audit chain, oldest first`() async throws {
    let bench = try await Bench()
    let id = try await bench.authorized()
    _ = try await bench.done(.capture, nil, id)
    let (operations, events, audit) = try await bench.database.read { store in
      (
        try OperationRecord.all(of: id, in: store), try OutboxEvent.all(of: id, in: store),
        try AuditLine.all(of: id, in: store)
      )
    }
    #expect(operations.map(\.kind) == [.authorize, .capture])
    #expect(events.map(\.sequence) == Array(1...Int64(events.count)) && events.last?.status == .captured)
    #expect(audit.first?.before == nil && audit.last?.after == .captured && audit.last?.captured == 1250)
    #expect(Set(audit.map(\.hash)).count == audit.count)
  }
}
