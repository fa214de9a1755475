import Acquiring
import Gateway
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

/// The time of day can be set. What ends at a date does not end because the clock was set.
@Suite struct `A clock that is set by days` {
  private static let days = Duration.seconds(86_400 * 8)

  @Test(arguments: [1, -1]) func `releases no hold, until it is right again`(direction: Int) async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    _ = try await shop.gateway.recover()
    // Back first, so that it is ahead of the start or of what it was.
    shop.clock.set(ahead: Self.days * direction)
    _ = try await shop.gateway.recover()
    #expect(!shop.gateway.clocksAgree)
    shop.clock.advance(Self.days * (1 - direction))
    #expect(try await shop.gateway.recover().expiries == 0)
    #expect(try await shop.gateway.payment(payment)?.status == .authorized)
    #expect(shop.fake.voids.isEmpty)
    shop.clock.set(ahead: Self.days * -direction)
    shop.clock.advance(Self.days)
    #expect(shop.gateway.clocksAgree)
    #expect(try await shop.gateway.recover().expiries == 1)
  }

  @Test func `ends nothing, nor does a clock that may yet be corrected after the start`() async throws {
    let shop = try await Shop()
    #expect(shop.gateway.clocksAgree && !shop.gateway.allowsEnding)
    shop.clock.advance(.seconds(899))
    #expect(!shop.gateway.allowsEnding)
    shop.clock.advance(.seconds(1))
    #expect(shop.gateway.allowsEnding)
    shop.clock.set(ahead: Self.days)
    #expect(!shop.gateway.allowsEnding)
  }

  @Test func `forgets no idempotency key, so a repeated part refund stays one`() async throws {
    let shop = try await Shop()
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order)).id
    let call = IdempotentCall(merchant: "shop", call: "refund", key: IdempotencyKey("k"), requestHash: "h")
    func refund() async throws -> KeyedAnswer {
      try await shop.gateway.perform(.refund(payment, .eur(10)), under: call)
    }
    let first = try await refund()
    shop.clock.set(ahead: Self.days)
    _ = try await shop.gateway.recover()
    #expect(try await refund().outcome == first.outcome)
    #expect(shop.fake.refunds.count == 1)
    shop.clock.set(ahead: .zero - Self.days)
    shop.clock.advance(Self.days)
    _ = try await shop.gateway.recover()
    #expect(try await shop.journal.status(of: call) == .new)
  }

  @Test func `back ends no hold and forgets no key when it is right again`() async throws {
    let shop = try await Shop()
    let order = Shop.order(capture: .manual)
    shop.clock.set(ahead: .zero - Self.days)
    let payment = try await shop.gateway.authorize(order, with: shop.token()).id
    let call = IdempotentCall(merchant: "shop", call: "capture", key: IdempotencyKey("k"), requestHash: "h")
    _ = try await shop.gateway.perform(.capture(payment, .eur(10)), under: call)
    shop.clock.set(ahead: Self.days)
    #expect(try await shop.gateway.recover().expiries == 0)
    #expect(try await shop.journal.status(of: call) != .new)
  }

  @Test func `takes nothing over from a call that is still running in the same process`() async throws {
    let shop = try await Shop()
    shop.fake.authorizes { reference, _ in
      shop.clock.set(ahead: Self.days)
      _ = try? await shop.gateway.recover()
      if let payment = try? await shop.gateway.payment(for: OrderID("order-1")) {
        _ = try? await shop.gateway.inquire(payment.id)
      }
      return FakeAcquirer.approval(reference)
    }
    #expect(try await shop.gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
    #expect(shop.fake.inquiries.isEmpty && shop.fake.reversals.isEmpty)
  }

  @Test func `takes over from another process as before`() async throws {
    let shop = try await Shop(crashes: dying(at: .authorizeClaimed))
    await #expect(throws: Died.self) { try await shop.gateway.authorize(Shop.order(), with: shop.token()) }
    shop.clock.set(ahead: Self.days)
    _ = try await shop.reborn().recover()
    #expect(shop.fake.inquiries.count == 1)
  }

  /// A clock that starts wrong looks like a long standstill, until it is corrected.
  @Test func `is given a quarter of an hour to be corrected after a start`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    shop.clock.set(ahead: Self.days)
    let next = shop.reborn()
    #expect(try await next.recover().expiries == 0)
    shop.clock.advance(.seconds(700))
    #expect(try await next.recover().expiries == 0)
    #expect(try await shop.gateway.payment(payment)?.status == .authorized)
    shop.clock.advance(.seconds(200))
    #expect(try await next.recover().expiries == 1)
  }

  @Test func `dates the end of a hold that a returned capture leaves by the right time`() async throws {
    let shop = try await Shop()
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order)).id
    let capture = try #require(try await shop.journal.operations(of: payment).first { $0.kind == .capture })
    let end = shop.clock.now.adding(Self.days)
    shop.clock.set(ahead: .zero - Self.days)
    _ = try await shop.journal.receive(
      ProviderEvent(
        route: "fake", id: "e1", reference: capture.reference, amount: capture.amount,
        outcome: .declined(Decline(reason: .doNotHonor, code: "05"))), notBefore: end)
    shop.clock.set(ahead: Self.days)
    #expect(try await shop.journal.expiredHolds(10, through: ["fake"], by: end).isEmpty)
  }

  /// A process that started with its clock behind knows no later time than the authorization's.
  @Test func `ends that hold no sooner than the authorization's, whatever the clock says`() async throws {
    let shop = try await Shop()
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order)).id
    let capture = try #require(try await shop.journal.operations(of: payment).first { $0.kind == .capture })
    let sixDays = shop.clock.now.adding(.seconds(86_400 * 6))
    shop.clock.set(ahead: .zero - Self.days)
    _ = try await shop.journal.receive(
      ProviderEvent(
        route: "fake", id: "e1", reference: capture.reference, amount: capture.amount,
        outcome: .declined(Decline(reason: .doNotHonor, code: "05"))))
    shop.clock.set(ahead: Self.days)
    #expect(try await shop.journal.expiredHolds(10, through: ["fake"], by: sixDays).isEmpty)
  }
}
