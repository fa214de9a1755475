import Gateway
import Ledger
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A call with an idempotency key` {
  private let call = IdempotentCall(
    merchant: "shop", call: "capture", key: IdempotencyKey("k1"), requestHash: "h", subject: "order-1")

  private static func render(_ payment: Payment) -> StoredAnswer {
    StoredAnswer(status: 200, body: Array("\(payment.status.rawValue) \(payment.captured)".utf8))
  }

  @Test func `is done once, and answered with the same bytes`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    func capture() async throws -> KeyedAnswer {
      try await shop.gateway.once(call, render: Self.render) {
        try await shop.gateway.capture(payment.id, .eur(500), alongside: $0.alongside, answered: $0.answered)
      }
    }
    let first = try await capture()
    let again = try await capture()
    #expect(!first.isReplay && again.isReplay)
    #expect(first.answer == again.answer)
    #expect(shop.fake.captures.count == 1)
  }

  @Test func `sixty-four at once are one execution`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    let call = call
    let answers = try await withThrowingTaskGroup(of: StoredAnswer?.self) { group in
      for _ in 0..<64 {
        group.addTask {
          do {
            return try await shop.gateway.once(call, render: Self.render) {
              try await shop.gateway.capture(payment, .eur(10), alongside: $0.alongside, answered: $0.answered)
            }.answer
          } catch GatewayError.callInProgress { return nil }
        }
      }
      return try await group.reduce(into: Set<StoredAnswer>()) { if let answer = $1 { $0.insert(answer) } }
    }
    #expect(answers.count == 1)
    #expect(shop.fake.captures.count == 1)
  }

  @Test func `that was refused leaves the key free`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    await #expect(throws: GatewayError.self) {
      try await shop.gateway.once(call, render: Self.render) {
        try await shop.gateway.refund(payment, alongside: $0.alongside, answered: $0.answered)
      }
    }
    #expect(try await shop.journal.standing(of: call) == .new)
  }
}
