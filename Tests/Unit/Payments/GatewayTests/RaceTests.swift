import Acquiring
import Gateway
import Ledger
import PaymentTesting
import TenderPayments
import TenderTesting
import Testing

/// What an acquirer sees of a payment: the network token, or the payment token as it came.
enum CardForm: String, CaseIterable {
  case network, sealed

  var capabilities: AcquirerCapabilities {
    switch self {
    case .network: FakeAcquirer.plain
    case .sealed:
      AcquirerCapabilities(
        name: "fake", instruments: [.sealed], idempotency: .none, inquiry: true, reversal: true,
        settleHorizon: .seconds(10))
    }
  }
}

/// Sixty-four at the same moment, on one thing that there is once.
@Suite struct `Sixty-four at once` {
  private static let callers = 64
  /// A callers on a busy machine may take longer than a shopper waits.
  private static let patient = {
    var policy = GatewayPolicy()
    policy.budget = TestRun.whole
    return policy
  }()

  /// What each of them came to: a payment, or the code of a refusal.
  private func all(
    _ work: @escaping @Sendable (Int) async throws -> Payment
  ) async throws -> [Result<Payment, GatewayError>] {
    try await withThrowingTaskGroup(of: Result<Payment, GatewayError>.self) { group in
      for number in 0..<Self.callers {
        group.addTask {
          do { return .success(try await work(number)) } catch let error as GatewayError { return .failure(error) }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test(arguments: CardForm.allCases)
  func `with one payment token for one order ask the acquirer once`(form: CardForm) async throws {
    let shop = try await Shop(capabilities: form.capabilities, policy: Self.patient)
    let (order, token) = (Shop.order(), try shop.token())
    let answers = try await all { _ in try await shop.gateway.authorize(order, with: token) }
    #expect(shop.fake.authorizations.count == 1)
    #expect(Set(answers.compactMap { try? $0.get().id }).count == 1)
    for case .failure(let error) in answers { #expect(error.code == "payment_in_progress") }
  }

  @Test(arguments: CardForm.allCases)
  func `with one payment token for an order each pay one of them`(form: CardForm) async throws {
    let shop = try await Shop(capabilities: form.capabilities, policy: Self.patient)
    let token = try shop.token()
    let hash = Shop.order().applicationDataHash
    let answers = try await all { number in
      try await shop.gateway.authorize(
        .sample("order-\(number)", .eur(1250), applicationDataHash: hash), with: token)
    }
    #expect(shop.fake.authorizations.count == 1)
    #expect(answers.compactMap { try? $0.get() }.count == 1)
    for case .failure(let error) in answers { #expect(error == .tokenReused) }
  }

  @Test(arguments: CardForm.allCases)
  func `with a payment token each for one order hold the money once`(form: CardForm) async throws {
    let shop = try await Shop(capabilities: form.capabilities, policy: Self.patient)
    let tokens = try (0..<Self.callers).map { _ in try shop.token() }
    _ = try await all { number in try await shop.gateway.authorize(Shop.order(), with: tokens[number]) }
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test(arguments: CardForm.allCases)
  func `on one refund balance give back what there is, and not a cent more`(form: CardForm) async throws {
    let shop = try await Shop(capabilities: form.capabilities, policy: Self.patient)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    _ = try await shop.gateway.capture(payment)
    let answers = try await all { _ in try await shop.gateway.refund(payment, .eur(100)).payment }
    #expect(answers.compactMap { try? $0.get() }.count == 12)
    #expect(shop.fake.refunds.count == 12)
    let after = try #require(try await shop.gateway.payment(payment))
    #expect((after.captured, after.refunded, after.status) == (1250, 1200, .partiallyRefunded))
  }

  @Test(arguments: CardForm.allCases)
  func `who capture and release one hold never move more than was held`(form: CardForm) async throws {
    let shop = try await Shop(capabilities: form.capabilities, policy: Self.patient)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    _ = try await all { number in
      number.isMultiple(of: 2)
        ? try await shop.gateway.capture(payment, .eur(90)).payment
        : try await shop.gateway.void(payment, .eur(110)).payment
    }
    let (taken, freed) = (shop.fake.captures.count * 90, shop.fake.voids.count * 110)
    #expect(taken + freed <= 1250)
    #expect(1250 - taken - freed < 110)
    let after = try #require(try await shop.gateway.payment(payment))
    #expect((after.captured, after.authorized) == (Int64(taken), Int64(1250 - freed)))
  }
}
