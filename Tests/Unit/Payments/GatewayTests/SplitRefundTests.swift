import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// Refunds at an acquirer that refunds one capture at a time, of a payment of which 10.00 and 2.50 were captured.
@Suite struct `A refund of several captures` {
  private static let single = AcquirerCapabilities(
    name: "single", instruments: [.network], idempotency: .none, refundsOneCapture: true, inquiry: true,
    reversal: true, settleHorizon: .seconds(10))

  private struct Till {
    let shop: Shop
    let fake: FakeAcquirer
    let gateway: PaymentGateway
    let payment: PaymentID

    init(_ capabilities: AcquirerCapabilities = single) async throws {
      shop = try await Shop()
      fake = FakeAcquirer(capabilities)
      gateway = shop.gateway(asking: fake)
      payment = try await gateway.authorize(Shop.order(), with: shop.token()).id
      for units in [1000, 250] { _ = try await gateway.capture(payment, .eur(Int64(units))) }
    }

    func balances() async throws -> [Int64] {
      let payment = try #require(try await gateway.payment(payment))
      return [payment.captured, payment.refunded]
    }
  }

  private static let call = IdempotentCall(
    merchant: "shop", call: "refund", key: IdempotencyKey("k1"), requestHash: "all")

  private func refundsAll(_ till: Till) async throws -> KeyedAnswer {
    try await till.gateway.perform(.refund(till.payment), under: Self.call)
  }

  private static func text(_ answer: KeyedAnswer) -> String {
    let states = answer.outcome.operations.map { "\($0.amount.minorUnits) \($0.state.rawValue)" }
    return "\(states.joined(separator: ", ")): \(answer.outcome.payment.refunded)"
  }

  @Test func `is one refund for each, the oldest first, under references of their own`() async throws {
    let till = try await Till()
    let outcome = try await till.gateway.refund(till.payment, .eur(1100))
    #expect(outcome.operations.map(\.amount) == [.eur(1000), .eur(100)])
    #expect(outcome.operations.allSatisfy { $0.state == .approved } && outcome.isFinal)
    let sent = till.fake.refunds.sorted { $0.amount.minorUnits > $1.amount.minorUnits }
    #expect(Set(sent.map(\.reference)) == Set(outcome.operations.map(\.reference)) && sent.count == 2)
    #expect(sent.map(\.capture) == till.fake.captures.map { "A-\($0.reference)" })
    #expect(sent.map(\.isWhole) == [true, false])
    #expect(try await till.balances() == [1250, 1100])
    #expect(try await till.gateway.refund(till.payment).operations.map(\.amount) == [.eur(150)])
    #expect(try await till.gateway.payment(till.payment)?.status == .refunded)
    #expect(try await till.shop.journal.verifyAudit().isIntact)
  }

  @Test func `names one capture where one has enough left: the smallest`() async throws {
    let till = try await Till()
    for units in [200, 900] {
      #expect(try await till.gateway.refund(till.payment, .eur(Int64(units))).parts.isEmpty)
    }
    #expect(till.fake.refunds.map(\.capture) == till.fake.captures.reversed().map { "A-\($0.reference)" })
  }

  @Test func `stays one at an acquirer that refunds a payment`() async throws {
    let till = try await Till(FakeAcquirer.plain)
    #expect(try await till.gateway.refund(till.payment, .eur(1100)).operations.map(\.amount) == [.eur(1100)])
  }

  @Test func `that is declined in part says what was refunded and what was not, and repeats nothing`() async throws {
    let till = try await Till()
    till.fake.refunds { reference, amount in
      amount == .eur(250) ? .declined(Decline(reason: .other, code: "05")) : FakeAcquirer.approval(reference)
    }
    let first = try await refundsAll(till)
    #expect(Self.text(first) == "1000 approved, 250 declined: 1000" && first.isFinal)
    #expect(try await refundsAll(till).outcome == first.outcome)
    till.shop.clock.advance(.seconds(3_600))
    _ = try await till.gateway.recover()
    #expect(till.fake.refunds.count == 2)
    #expect(try await till.balances() == [1250, 1000])
    till.fake.refunds { reference, _ in FakeAcquirer.approval(reference) }
    #expect(try await till.gateway.refund(till.payment).operations.map(\.amount) == [.eur(250)])
    #expect(try await refundsAll(till).outcome == first.outcome)
  }

  @Test func `of which one part is open has its final answer when that part has`() async throws {
    let till = try await Till()
    till.fake.refunds { reference, amount in
      amount == .eur(250) ? .unknown(Interruption(.timeout)) : FakeAcquirer.approval(reference)
    }
    let first = try await refundsAll(till)
    #expect(Self.text(first) == "1000 approved, 250 unknown: 1000" && !first.isFinal)
    till.fake.finds { .answer(FakeAcquirer.approval($0)) }
    till.shop.clock.advance(.seconds(5))
    let last = try await refundsAll(till)
    #expect(Self.text(last) == "1000 approved, 250 approved: 1250" && last.isFinal)
    #expect(try await refundsAll(till).outcome == last.outcome)
    #expect((till.fake.refunds.count, till.fake.inquiries.count) == (2, 1))
  }

  @Test func `whose process dies before it sends is resolved part by part`() async throws {
    let till = try await Till()
    let dead = PaymentGateway(
      opener: till.shop.opener, journal: till.shop.journal, acquirer: till.fake.acquirer, clock: till.shop.clock.wall,
      scheduler: till.shop.clock.scheduler, crashes: dying(at: .refundReserved))
    await #expect(throws: Died.self) {
      try await dead.perform(.refund(till.payment), under: Self.call)
    }
    await #expect(throws: GatewayError.callInProgress) { try await refundsAll(till) }
    till.shop.clock.advance(Journal.lease * 2)
    _ = try await till.gateway.recover()
    let answer = try await refundsAll(till)
    #expect(Self.text(answer) == "1000 failed, 250 failed: 0" && answer.isFinal)
    #expect(till.fake.refunds.isEmpty)
    #expect(try await till.balances() == [1250, 0])
  }

  @Test func `is not begun at all where the acquirer cannot do one part of it`() async throws {
    let till = try await Till(
      AcquirerCapabilities(
        name: "single", instruments: [.network], parts: [.capture, .furtherCaptures], idempotency: .none,
        refundsOneCapture: true, inquiry: true, reversal: true, settleHorizon: .seconds(10)))
    await #expect(throws: GatewayError.partNotPossible(.refund, "single")) {
      try await till.gateway.refund(till.payment, .eur(1100))
    }
    #expect(try await till.shop.journal.operations(of: till.payment).count == 3)
    #expect(try await till.gateway.refund(till.payment).operations.map(\.amount) == [.eur(1000), .eur(250)])
  }

  @Test func `is refused above what is left, and while another one reserves it`() async throws {
    let till = try await Till()
    await #expect(throws: GatewayError.operationRefused(.exceeds(available: .eur(1250)))) {
      try await till.gateway.refund(till.payment, .eur(1251))
    }
    till.fake.refunds(.pending(Pending(acquirerReference: "P")))
    _ = try await till.gateway.refund(till.payment, .eur(1100))
    await #expect(throws: GatewayError.operationRefused(.inFlight(available: .eur(150)))) {
      try await till.gateway.refund(till.payment, .eur(200))
    }
    #expect(till.fake.refunds.count == 2)
  }
}
