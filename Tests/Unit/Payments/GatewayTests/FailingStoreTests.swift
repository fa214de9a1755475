import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// A store that takes no writes after the acquirer was asked. No caller gets the answer that nothing happened.
@Suite struct `An answer that the store does not take` {
  /// A store whose writes fail while the switch is on.
  private final class Disk: Sendable {
    private let state = Mutex((isFull: false, refusals: 0))

    func fill() { state.withLock { $0.isFull = true } }
    func makeRoom() { state.withLock { $0.isFull = false } }
    var refusals: Int { state.withLock { $0.refusals } }

    func open(_ store: MemoryStore, _ clock: WallClock) throws -> Database {
      let hooks = CommitHooks(before: {
        try self.state.withLock { state in
          guard state.isFull else { return }
          state.refusals += 1
          throw StorageError.full
        }
      })
      return try store.open(Journal.migrations, clock: clock, hooks: hooks)
    }
  }

  private let disk = Disk()
  private let clock = ManualClock(WallClock.system.now())
  private let store: MemoryStore

  init() throws { store = try MemoryStore() }

  /// Waiting makes time pass, and nothing else does. The disk gets room after so many waits.
  private func shop(roomAfter waits: Int = .max, policy: GatewayPolicy = GatewayPolicy()) async throws -> Shop {
    let (time, start) = (clock, clock.now)
    let count = Counter()
    let scheduler = Scheduler(
      uptime: { time.now.since(start) },
      sleep: { [disk] duration in
        time.advance(duration)
        if count.next() >= waits { disk.makeRoom() }
      }, finish: { await $0() })
    return try await Shop(
      policy: policy, scheduler: scheduler, database: disk.open(store, clock.wall), clock: clock)
  }

  private func fills(_ shop: Shop) {
    let filling: FakeAcquirer.Responder = { [disk] reference, _ in
      disk.fill()
      return FakeAcquirer.approval(reference)
    }
    shop.fake.authorizes(filling)
    shop.fake.captures(filling)
    shop.fake.refunds(filling)
  }

  @Test func `leaves the payment open for its shopper, and is recorded when there is room`() async throws {
    let shop = try await shop()
    fills(shop)
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    #expect((payment.status, payment.reportedOutcome) == (.authorizing, nil))
    #expect(disk.refusals > 1)
    shop.fake.captures { reference, _ in FakeAcquirer.approval(reference) }
    disk.makeRoom()
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment.id)?.status == .captured)
    #expect(shop.fake.authorizations.count == 1 && shop.fake.inquiries.isEmpty && shop.fake.reversals.isEmpty)
  }

  @Test func `is tried again while the shopper waits`() async throws {
    let shop = try await shop(roomAfter: 3)
    fills(shop)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect((payment.status, payment.reportedOutcome) == (.authorized, .success))
    #expect(disk.refusals == 3)
  }

  /// *Failure* that is not written down would not keep the next process from taking the money.
  @Test func `is never reported as a failure, because the report cannot be stored`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await shop(policy: policy)
    shop.fake.authorizes { [disk] _, _ in
      disk.fill()
      return .unknown(Interruption(.timeout))
    }
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect(payment.reportedOutcome == nil && !payment.status.isResolved)
    disk.makeRoom()
    shop.fake.finds { .answer(FakeAcquirer.approval($0)) }
    clock.advance(Journal.lease)
    let next = shop.reborn()
    _ = try await next.recover()
    #expect(try await next.payment(payment.id)?.status == .authorized)
  }

  @Test(arguments: [OperationKind.capture, .void, .refund])
  func `leaves a follow-up open, and its money set aside`(kind: OperationKind) async throws {
    let shop = try await shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    _ = try await shop.gateway.capture(payment, .eur(500))
    fills(shop)
    shop.fake.voids { [disk] reference, _ in
      disk.fill()
      return FakeAcquirer.approval(reference)
    }
    let outcome =
      switch kind {
      case .capture: try await shop.gateway.capture(payment, .eur(100))
      case .void: try await shop.gateway.void(payment, .eur(100))
      default: try await shop.gateway.refund(payment, .eur(100))
      }
    #expect(outcome.operation.state == .sending && !outcome.isFinal)
    disk.makeRoom()
    _ = try await shop.gateway.recover()
    #expect(try await shop.journal.outcome(of: outcome.operation.reference).operation.state == .approved)
    #expect(shop.fake.inquiries.isEmpty)
  }

  @Test func `leaves its idempotency key open, and then becomes its answer`() async throws {
    let shop = try await shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    _ = try await shop.gateway.capture(payment)
    fills(shop)
    let call = IdempotentCall(merchant: "shop", call: "refund", key: IdempotencyKey("k"), requestHash: "h")
    func refund() async throws -> KeyedAnswer {
      try await shop.gateway.perform(.refund(payment, .eur(10)), under: call)
    }
    let first = try await refund()
    #expect(!first.isFinal && first.outcome.operation.state == .sending)
    disk.makeRoom()
    _ = try await shop.gateway.recover()
    let second = try await refund()
    #expect(second.isFinal && second.outcome.operation.state == .approved)
    #expect(shop.fake.refunds.count == 1)
  }

  /// The call has asked the acquirer, so it is not told that it did not.
  @Test func `makes an inquiry one whose outcome was not recorded`() async throws {
    let shop = try await shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    shop.fake.captures(.unknown(Interruption(.timeout)))
    _ = try await shop.gateway.capture(payment)
    shop.fake.finds { [disk] reference in
      disk.fill()
      return .answer(FakeAcquirer.approval(reference))
    }
    await #expect(throws: GatewayError.outcomeNotRecorded(payment)) { try await shop.gateway.inquire(payment) }
    await #expect(throws: StorageError.full) { try await shop.gateway.capture(payment, .eur(1)) }
    #expect(shop.fake.inquiries.count == 1 && shop.fake.captures.count == 1)
  }

  @Test func `is asked for again by the next process when this one ends with it`() async throws {
    let shop = try await shop()
    fills(shop)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    disk.makeRoom()
    shop.fake.finds { .answer(FakeAcquirer.approval($0)) }
    clock.advance(Journal.lease)
    let next = shop.reborn()
    _ = try await next.recover()
    #expect(try await next.payment(payment.id)?.status == .authorized)
    #expect(shop.fake.authorizations.count == 1 && shop.fake.inquiries.count == 1)
  }
}
