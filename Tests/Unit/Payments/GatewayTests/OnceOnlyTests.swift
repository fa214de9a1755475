import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A call with an idempotency key` {
  private let call = IdempotentCall(
    merchant: "shop", call: "capture", key: IdempotencyKey("k1"), requestHash: "h")

  /// A refund of 10 cents under the key.
  private func refund(
    _ payment: PaymentID, by gateway: PaymentGateway, _ call: IdempotentCall? = nil
  ) async throws -> KeyedAnswer {
    try await gateway.perform(.refund(payment, .eur(10)), under: call ?? self.call)
  }

  private func captured(_ shop: Shop) async throws -> PaymentID {
    let order = Shop.order(capture: .immediate)
    return try await shop.gateway.pay(order, with: shop.token(for: order)).id
  }

  private static func text(_ answer: KeyedAnswer) -> String {
    let (state, payment) = (answer.outcome.operation.state, answer.outcome.payment)
    return "\(state.rawValue) \(payment.status.rawValue) \(payment.captured) \(payment.refunded)"
  }

  @Test func `is done once, and answered with the first outcome`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    func capture() async throws -> KeyedAnswer {
      try await shop.gateway.perform(.capture(payment.id, .eur(500)), under: call)
    }
    let first = try await capture()
    let again = try await capture()
    #expect(!first.isReplay && again.isReplay)
    #expect(first.outcome == again.outcome)
    #expect(shop.fake.captures.count == 1)
  }

  /// A recorded signed refund can be sent again while its signature is accepted.
  @Test func `or none, but a signature, is done once for that signature and body`() async throws {
    let shop = try await Shop()
    let payment = try await captured(shop)
    func sent(_ signature: UInt8, _ body: String) -> IdempotentCall {
      IdempotentCall(
        merchant: "shop", signature: [UInt8](repeating: signature, count: 32), body: Array(body.utf8))
    }
    let first = try await refund(payment, by: shop.gateway, sent(1, "10"))
    shop.clock.advance(.seconds(599))
    let replayed = try await refund(payment, by: shop.gateway, sent(1, "10"))
    #expect(replayed.isReplay && replayed.sameRequest && replayed.outcome == first.outcome)
    #expect(shop.fake.refunds.count == 1)
    for other in [sent(2, "10"), sent(1, "11")] {
      #expect(try await !refund(payment, by: shop.gateway, other).isReplay)
    }
    #expect(try await shop.journal.payment(payment)?.refunded == 30)
  }

  @Test func `sixty-four at once are one execution`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    let call = call
    let answers = try await withThrowingTaskGroup(of: OperationOutcome?.self) { group in
      for _ in 0..<64 {
        group.addTask {
          do {
            return try await shop.gateway.perform(
              .capture(payment, .eur(10)), under: call
            ).outcome
          } catch GatewayError.callInProgress { return nil }
        }
      }
      return try await group.reduce(into: Set<OperationOutcome>()) { if let answer = $1 { $0.insert(answer) } }
    }
    #expect(answers.count == 1)
    #expect(shop.fake.captures.count == 1)
  }

  @Test func `whose process died returns the current state, and keeps only the final answer`() async throws {
    let shop = try await Shop(crashes: dying(at: .refundReserved))
    let payment = try await captured(shop)
    await #expect(throws: Died.self) { try await refund(payment, by: shop.gateway) }
    let next = shop.reborn()
    await #expect(throws: GatewayError.callInProgress) { try await refund(payment, by: next) }
    shop.clock.advance(Journal.lease)
    shop.fake.finds(.unavailable(Interruption(.timeout)))
    let early = try await refund(payment, by: next)
    #expect(Self.text(early) == "sending captured 1250 0" && !early.isFinal && early.sameRequest)
    shop.fake.finds(.answer(.approved(Approval(acquirerReference: "R-1"))))
    shop.clock.advance(.seconds(5))
    let late = try await refund(payment, by: next)
    #expect(Self.text(late) == "approved partially_refunded 1250 10" && late.isFinal)
    _ = try await next.refund(payment, .eur(20))
    #expect(try await refund(payment, by: next).outcome == late.outcome)
    #expect(shop.fake.refunds.map(\.amount) == [.eur(20)])
  }

  @Test func `whose outcome is open says so, and the same key gets the final answer`() async throws {
    let shop = try await Shop()
    let payment = try await captured(shop)
    shop.fake.refunds(.unknown(Interruption(.timeout)))
    let first = try await refund(payment, by: shop.gateway)
    #expect(Self.text(first) == "unknown captured 1250 0" && !first.isFinal)
    // Asked a moment ago: the acquirer is not asked again, and the answer is the same.
    #expect(try await refund(payment, by: shop.gateway).outcome == first.outcome)
    #expect(shop.fake.inquiries.isEmpty)
    shop.fake.finds(.answer(.approved(Approval(acquirerReference: "R-1"))))
    shop.clock.advance(.seconds(2))
    _ = try await shop.gateway.recover()
    let last = try await refund(payment, by: shop.gateway)
    #expect(Self.text(last) == "approved partially_refunded 1250 10" && last.isFinal)
    #expect(shop.fake.refunds.count == 1)
  }

  @Test func `is distinguished from another request under its key while it is open`() async throws {
    let shop = try await Shop()
    let payment = try await captured(shop)
    shop.fake.refunds(.pending(Pending(acquirerReference: "P-1")))
    _ = try await refund(payment, by: shop.gateway)
    let other = IdempotentCall(merchant: call.merchant, call: call.call, key: call.key, requestHash: "another")
    let answer = try await refund(payment, by: shop.gateway, other)
    #expect(!answer.sameRequest && Self.text(answer) == "pending captured 1250 0")
    #expect(shop.fake.refunds.count == 1)
  }

  @Test func `keeps nothing of an answer that came too late to be believed`() async throws {
    let shop = try await Shop()
    let payment = try await captured(shop)
    let (clock, other) = (shop.clock, Journal(shop.journal.database))
    shop.fake.refunds { _, _ in
      clock.advance(Journal.lease)
      _ = try? await other.leaseOpenOperation(of: payment)
      return .declined(Decline(reason: .other, code: "05"))
    }
    let answer = try await refund(payment, by: shop.gateway)
    #expect(Self.text(answer) == "sending captured 1250 0" && !answer.isFinal)
    shop.fake.finds(.answer(.approved(Approval(acquirerReference: "R-1"))))
    clock.advance(Journal.lease)
    #expect(Self.text(try await refund(payment, by: shop.gateway)) == "approved partially_refunded 1250 10")
  }

  @Test func `for an authorization gets its final answer when the payment is resolved`() async throws {
    let shop = try await Shop()
    let (order, token, call) = (Shop.order(), try shop.token(), call)
    shop.fake.authorizes(.unknown(Interruption(.timeout)))
    @Sendable func pay() async throws -> KeyedAnswer {
      try await shop.gateway.pay(order, with: token, under: call)
    }
    #expect(Self.text(try await pay()) == "unknown unknown 0 0")
    shop.fake.finds(.answer(.approved(Approval(acquirerReference: "A-1"))))
    shop.clock.advance(.seconds(2))
    let paid = try await pay()
    #expect(Self.text(paid) == "approved authorized 0 0" && paid.isFinal)
    _ = try await shop.gateway.capture(try #require(try await shop.journal.payment(of: order.id)).id)
    #expect(try await pay().outcome == paid.outcome)
  }

  @Test func `that was refused leaves the key free`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    await #expect(throws: GatewayError.self) {
      try await shop.gateway.perform(.refund(payment), under: call)
    }
    #expect(try await shop.journal.status(of: call) == .new)
  }
}
