import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The budget of a call` {
  @Test func `is one for the authorization and the capture together`() async throws {
    let time = Mutex(Duration.zero)
    let scheduler = Scheduler(
      uptime: { time.withLock { $0 } }, sleep: { _ in }, finish: { await $0() })
    let shop = try await Shop(scheduler: scheduler)
    shop.fake.authorizes { reference, _ in
      time.withLock { $0 += .seconds(15) }
      return FakeAcquirer.approval(reference)
    }
    let order = Shop.order(capture: .immediate)
    #expect(try await shop.gateway.pay(order, with: shop.token(for: order)).status == .captured)
    #expect(shop.fake.deadlines == [.seconds(20), .seconds(10)])
  }

  @Test func `begins with the shopper's call, and with too little left nothing is begun`() async throws {
    let time = Mutex(Duration.zero)
    let scheduler = Scheduler(
      uptime: { time.withLock { $0 } }, sleep: { _ in }, finish: { await $0() })
    let shop = try await Shop(scheduler: scheduler)
    let (early, late) = (shop.gateway.newDeadline(), Shop.order("order-2"))
    time.withLock { $0 += .seconds(15) }
    _ = try await shop.gateway.pay(Shop.order(), with: shop.token(), before: early)
    #expect(shop.fake.deadlines == [.seconds(10)])
    time.withLock { $0 += .milliseconds(8_001) }
    await #expect(throws: GatewayError.outOfTime) {
      try await shop.gateway.pay(late, with: shop.token(for: late), before: early)
    }
    #expect(try await shop.gateway.payment(for: late.id) == nil)
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `that is spent leaves the capture to recovery`() async throws {
    let time = Mutex(Duration.zero)
    let scheduler = Scheduler(
      uptime: { time.withLock { $0 } }, sleep: { _ in }, finish: { await $0() })
    let shop = try await Shop(scheduler: scheduler)
    shop.fake.authorizes { reference, _ in
      time.withLock { $0 += .seconds(24) }
      return FakeAcquirer.approval(reference)
    }
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order))
    #expect(payment.status == .authorized)
    shop.clock.advance(Journal.lease)
    #expect(try await shop.gateway.recover().captures == 1)
    #expect(try await shop.gateway.payment(payment.id)?.status == .captured)
  }

  @Test func `a call too many is refused before anything is written`() async throws {
    var policy = GatewayPolicy()
    policy.maximumInFlight = 0
    let shop = try await Shop(policy: policy)
    await #expect(throws: GatewayError.overloaded) {
      try await shop.gateway.authorize(Shop.order(), with: shop.token())
    }
    #expect(try await shop.journal.payments().isEmpty)
  }
}
