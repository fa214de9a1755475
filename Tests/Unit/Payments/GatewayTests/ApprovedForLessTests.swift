import Acquiring
import Connectors
import Gateway
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

@Suite struct `An authorization that is approved for less` {
  private static let half = AcquirerAnswer.approved(Approval(acquirerReference: "A-half", approvedAmount: .eur(500)))

  private static let withoutReversal = AcquirerCapabilities(
    name: "fake", instruments: [.network], idempotency: .none, inquiry: true, reversal: false,
    settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))

  /// In another currency than the order.
  private static let another = Amount(minorUnits: 500, currency: Currency(code: "USD") ?? .euro)

  private func reference(_ shop: Shop) throws -> AttemptReference {
    try #require(shop.fake.authorizations.first).reference
  }

  /// The payment of an order with immediate capture, after this answer.
  private func paid(_ shop: Shop, _ answer: AcquirerAnswer) async throws -> Payment {
    shop.fake.authorizes(answer)
    let order = Shop.order(capture: .immediate)
    return try await shop.gateway.pay(order, with: shop.token(for: order))
  }

  private func event(_ shop: Shop, _ answer: AcquirerAnswer, id: String = "e1") throws -> ProviderEvent {
    guard case .approved(let approval) = answer else { throw Died() }
    return ProviderEvent(
      route: "fake", id: id, reference: try reference(shop), amount: .eur(1250), outcome: .approved(approval))
  }

  private func expectReversed(_ shop: Shop, _ payment: Payment) async throws {
    let after = try #require(try await shop.gateway.payment(payment.id))
    #expect(after.status == .declined)
    #expect(after.decline == Decline(reason: .approvedForLess, code: "10"))
    #expect((after.authorized, after.captured) == (0, 0))
    #expect(shop.fake.captures.isEmpty)
    #expect(try await shop.journal.operations(of: payment.id).map(\.state) == [.declined, .approved])
    #expect(try await shop.gateway.recover().isEmpty)
    let audit = try await shop.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
  }

  @Test func `declines the payment, and its hold is reversed`() async throws {
    let shop = try await Shop()
    shop.fake.reverses(.reversed)
    let payment = try await paid(shop, Self.half)
    #expect(payment.status == .declined)
    #expect(payment.reportedOutcome == .failure)
    #expect(payment.decline?.reason == .approvedForLess)
    #expect(try await shop.gateway.recover().resolved == 1)
    #expect(shop.fake.reversals.map(\.reference) == [try reference(shop)])
    #expect(shop.fake.reversals.map(\.amount) == [.eur(1250)])
    try await expectReversed(shop, payment)
    #expect(try await shop.journal.alarms().isEmpty)
  }

  @Test func `leaves the order free for another card at once`() async throws {
    let shop = try await Shop()
    let declined = try await paid(shop, Self.half)
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    let order = Shop.order(capture: .immediate)
    let payment = try await shop.gateway.pay(order, with: shop.token(for: order, card: "mastercard-credit"))
    #expect(payment.status == .captured)
    shop.fake.reverses(.reversed)
    _ = try await shop.gateway.recover()
    #expect(shop.fake.reversals.map(\.reference) == [try reference(shop)])
    #expect(try await shop.gateway.payment(declined.id)?.status == .declined)
  }

  @Test func `is not adopted when an inquiry finds it`() async throws {
    let shop = try await Shop()
    let payment = try await paid(shop, .unknown(Interruption(.timeout)))
    shop.fake.finds(.answer(Self.half))
    shop.fake.reverses(.reversed)
    shop.clock.advance(.seconds(1))
    for _ in 0..<2 { _ = try await shop.gateway.recover() }
    #expect(shop.fake.reversals.count == 1)
    try await expectReversed(shop, payment)
  }

  @Test func `is not adopted when an event reports it, however often`() async throws {
    let shop = try await Shop()
    let payment = try await paid(shop, .pending(Pending(acquirerReference: "P")))
    guard case .applied(let after) = try await shop.journal.receive(event(shop, Self.half)) else { throw Died() }
    #expect(after.status == .declined)
    shop.fake.reverses(.reversed)
    _ = try await shop.gateway.recover()
    #expect(try await shop.journal.receive(event(shop, Self.half, id: "e2")) == .known)
    #expect(try await shop.journal.alarms().isEmpty)
    try await expectReversed(shop, payment)
  }

  @Test func `is undone also when an event says later that the whole was approved`() async throws {
    let shop = try await Shop()
    let payment = try await paid(shop, Self.half)
    shop.fake.reverses(.reversed)
    _ = try await shop.gateway.recover()
    let whole = try await shop.journal.receive(event(shop, FakeAcquirer.approval(reference(shop))))
    #expect(whole == .contradicted("held_after_end"))
    _ = try await shop.gateway.recover()
    #expect(shop.fake.reversals.count == 2)
    #expect(try await shop.gateway.payment(payment.id)?.status == .declined)
  }

  @Test func `is reversed although the answer was lost and failure was reported`() async throws {
    var policy = GatewayPolicy()
    policy.reportUnknownAs = .failure
    let shop = try await Shop(policy: policy)
    let payment = try await paid(shop, .unknown(Interruption(.timeout)))
    _ = try await shop.journal.receive(event(shop, Self.half))
    shop.fake.reverses(.reversed)
    _ = try await shop.gateway.recover()
    #expect(shop.fake.reversals.count == 1)
    try await expectReversed(shop, payment)
  }

  @Test func `is reversed again and again until the acquirer has done it`() async throws {
    let shop = try await Shop()
    let payment = try await paid(shop, Self.half)
    for reversal in [Reversal.unavailable(Interruption(.timeout)), .nothingFound, .refused(code: "12")] {
      shop.fake.reverses(reversal)
      _ = try await shop.gateway.recover()
      shop.clock.advance(.seconds(5))
    }
    // A refusal is given again under the same reference, so the next try is another operation, a minute later.
    #expect(try await shop.journal.alarms().map(\.reason) == ["reversal_refused"])
    shop.fake.reverses(.reversed)
    shop.clock.advance(.seconds(60))
    _ = try await shop.gateway.recover()
    #expect(try await shop.journal.operations(of: payment.id).map(\.state) == [.declined, .declined, .approved])
    #expect(try await shop.gateway.recover().isEmpty)
  }

  @Test func `is voided by the amount that is held, where nothing can be reversed`() async throws {
    let shop = try await Shop(capabilities: Self.withoutReversal)
    let payment = try await paid(shop, Self.half)
    let authorization = try reference(shop)
    shop.fake.finds { $0 == authorization ? .answer(Self.half) : .notFound }
    shop.fake.voids(.unknown(Interruption(.timeout)))
    _ = try await shop.gateway.recover()
    #expect(shop.fake.voids.map(\.amount) == [.eur(500)])
    // What became of the void is asked by the amount of the void.
    shop.fake.finds { $0 == authorization ? .answer(Self.half) : .answer(FakeAcquirer.approval($0)) }
    shop.clock.advance(.seconds(5))
    _ = try await shop.gateway.recover()
    #expect(shop.fake.inquiries.map(\.amount) == [.eur(1250), .eur(500)])
    #expect(shop.fake.voids.count == 1)
    try await expectReversed(shop, payment)
  }

  @Test(arguments: [Amount.eur(1251), .eur(0), .eur(-500), another])
  func `is no answer when the amount makes no sense`(amount: Amount) async throws {
    let shop = try await Shop()
    let answer = AcquirerAnswer.approved(Approval(acquirerReference: "A", approvedAmount: amount))
    let payment = try await paid(shop, answer)
    shop.fake.finds(.answer(answer))
    shop.clock.advance(.seconds(5))
    #expect(try await shop.gateway.recover().open == 1)
    #expect(try await shop.gateway.payment(payment.id)?.status == .unknown)
    #expect(try await shop.journal.receive(event(shop, answer)) == .contradicted("event_amount_mismatch"))
    #expect(shop.fake.captures.isEmpty)
  }

  @Test func `is an approval when the amount is what was asked for`() async throws {
    let shop = try await Shop()
    let whole = Approval(acquirerReference: "A", approvedAmount: .eur(1250))
    #expect(try await paid(shop, .approved(whole)).status == .captured)
  }

  @Test func `is counted in the acquirer's own units`() async throws {
    let shop = try await Shop(
      capabilities: AcquirerCapabilities(
        name: "fake", instruments: [.network], idempotency: .none, inquiry: true, reversal: false,
        settleHorizon: .seconds(10), exponent: { _ in 0 }))
    let half = AcquirerAnswer.approved(Approval(acquirerReference: "A", approvedAmount: .eur(5)))
    shop.fake.authorizes(half)
    shop.fake.finds(.answer(half))
    let order = Shop.order("order-1", 1200)
    let payment = try await shop.gateway.authorize(order, with: shop.token(for: order))
    _ = try await shop.gateway.recover()
    #expect(shop.fake.voids.map(\.amount) == [.eur(5)])
    #expect(try await shop.journal.operations(of: payment.id).map(\.amount) == [.eur(1200), .eur(500)])
  }

  @Test func `differs from the acquirer's report only until it is reversed`() async throws {
    let shop = try await Shop()
    _ = try await paid(shop, Self.half)
    let name = try reference(shop)
    let rest = "500,EUR,approved,2026-11-23T00:00:00Z\n"
    let held = "reference,operation,amount,currency,result,time\n\(name),authorize,\(rest)"
    let undone = held + "\(name),reverse,\(rest)"
    func kinds(_ report: String) async throws -> [Difference.Kind] {
      try await shop.journal.differences(from: AcquirerReport(Array(report.utf8))).map(\.kind)
    }
    #expect(try await kinds(held) == [.status])
    #expect(try await kinds(undone) == [])
  }
}

/// The gateway asks for no capture, void or refund in part, so it does not believe that one was done in part.
@Suite struct `A capture or refund that is approved for less` {
  private static let part = Approval(acquirerReference: "C", approvedAmount: .eur(100))

  @Test(arguments: [OperationKind.capture, .refund])
  func `leaves the outcome unknown and the amount reserved, and calls a person`(kind: OperationKind) async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    if kind == .refund { _ = try await shop.gateway.capture(payment.id) }
    shop.fake.captures(.approved(Self.part))
    shop.fake.refunds(.approved(Self.part))
    shop.fake.finds(.answer(.approved(Self.part)))
    let outcome = try await kind == .capture ? shop.gateway.capture(payment.id) : shop.gateway.refund(payment.id)
    #expect(outcome.operation.state == .unknown)
    #expect(outcome.payment.captured == (kind == .capture ? 0 : 1250))
    #expect(outcome.payment.refunded == 0)
    await #expect(throws: GatewayError.self) {
      try await kind == .capture ? shop.gateway.capture(payment.id) : shop.gateway.refund(payment.id)
    }
    shop.clock.advance(.seconds(86_400))
    #expect(try await shop.gateway.recover().open == 1)
    #expect(try await shop.journal.alarms().map(\.reason) == ["\(kind.rawValue)_unknown"])
    let verdict = try await shop.journal.receive(
      ProviderEvent(
        route: "fake", id: "e1", reference: outcome.operation.reference, amount: .eur(1250),
        outcome: .approved(Self.part)))
    #expect(verdict == .contradicted("event_amount_mismatch"))
  }
}
