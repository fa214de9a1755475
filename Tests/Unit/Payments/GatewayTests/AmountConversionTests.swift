import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// An acquirer that counts a currency in other units than ISO 4217 gets its own units, and its answers become ours.
@Suite struct `The units of an acquirer` {
  private func shop(decimalsOfEuros decimals: Int) async throws -> Shop {
    try await Shop(
      capabilities: AcquirerCapabilities(
        name: "fake", instruments: [.network], idempotency: .none, inquiry: true, reversal: true,
        settleHorizon: .seconds(10), exponent: { $0 == .euro ? decimals : nil }))
  }

  @Test(arguments: [(0, 12, 5), (2, 1200, 500), (3, 12_000, 5_000)] as [(Int, Int64, Int64)])
  func `are used for every request, and the ledger keeps ISO's`(decimals: Int, whole: Int64, part: Int64) async throws {
    let shop = try await shop(decimalsOfEuros: decimals)
    let order = Shop.order("order-1", 1200)
    let payment = try await shop.gateway.authorize(order, with: shop.token(for: order))
    #expect(payment.authorized == 1200)
    let captured = try await shop.gateway.capture(payment.id, .eur(500)).payment
    _ = try await shop.gateway.void(payment.id, .eur(500))
    shop.fake.refunds(.unknown(Interruption(.timeout)))
    _ = try await shop.gateway.refund(payment.id)
    shop.clock.advance(.seconds(5))
    _ = try await shop.gateway.recover()
    #expect(captured.captured == 500)
    #expect(shop.fake.authorizations.map(\.amount.minorUnits) == [whole])
    let followUps = shop.fake.captures + shop.fake.voids + shop.fake.refunds
    #expect(followUps.map(\.amount.minorUnits) == [part, part, part])
    #expect(shop.fake.inquiries.map(\.amount.minorUnits) == [part])
  }

  @Test func `change nothing else of an approval, also where it says the amount`() async throws {
    let shop = try await Shop()
    let stated = Approval(
      acquirerReference: "A1", authorizationCode: "123456", networkTransactionID: "T1", approvedAmount: .eur(1250),
      networkLinkID: "L1", storedReference: "S1")
    shop.fake.authorizes(.approved(stated))
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    let row = try await shop.journal.database.read { store in
      try store.row(
        "SELECT network_transaction_id, network_link_id, stored_reference FROM operations WHERE payment = $1",
        .text(payment.id.rawValue)
      ).map { row in
        try ["network_transaction_id", "network_link_id", "stored_reference"].map { try row.textOrNil($0) }
      }
    }
    #expect(row == ["T1", "L1", "S1"])
  }

  @Test func `that cannot count an amount refuse it before anything is written`() async throws {
    let shop = try await shop(decimalsOfEuros: 0)
    await #expect(throws: GatewayError.amountTooFine(.eur(1250))) {
      try await shop.gateway.authorize(Shop.order(), with: shop.token())
    }
    let order = Shop.order("order-2", 1200)
    let payment = try await shop.gateway.authorize(order, with: shop.token(for: order))
    await #expect(throws: GatewayError.amountTooFine(.eur(250))) {
      try await shop.gateway.capture(payment.id, .eur(250))
    }
    #expect(shop.fake.authorizations.count == 1 && shop.fake.captures.isEmpty)
    #expect(try await shop.journal.payments().count == 1)
  }

  @Test func `are converted back where the acquirer speaks by itself`() async throws {
    let shop = try await shop(decimalsOfEuros: 0)
    shop.fake.authorizes(.pending(Pending(acquirerReference: "P")))
    let order = Shop.order("order-1", 1200)
    let payment = try await shop.gateway.authorize(order, with: shop.token(for: order))
    let reference = try #require(shop.fake.authorizations.first).reference
    var speaking = shop.fake.acquirer
    speaking.readEvents = { _ in
      EventBatch(events: [
        AcquirerEvent(id: "e", reference: reference, amount: .eur(12), answer: FakeAcquirer.approval(reference))
      ])
    }
    let gateway = PaymentGateway(opener: shop.opener, journal: shop.journal, acquirer: speaking)
    _ = try await gateway.receive(
      InboundEvent(headers: [], body: [], arrivedAt: shop.clock.now), through: "fake")
    #expect(try await shop.gateway.payment(payment.id)?.authorized == 1200)
  }

  @Test func `keep none of a call's events back for another that they cannot count`() throws {
    let capabilities = AcquirerCapabilities(
      name: "fake", instruments: [.network], idempotency: .none, inquiry: true, reversal: true,
      settleHorizon: .seconds(10), exponent: { $0 == .euro ? 0 : nil })
    let yen = Amount(minorUnits: 5, currency: try #require(Currency(code: "JPY")))
    @Sendable func event(_ id: String, _ amount: Amount) -> AcquirerEvent {
      AcquirerEvent(id: id, subject: .authorization("A"), amount: amount, content: .movement(.refund))
    }
    var speaking = FakeAcquirer(capabilities).acquirer
    speaking.readEvents = { _ in
      var batch = EventBatch(events: [event("1", .eur(12)), event("2", yen), event("3", .eur(3))])
      (batch.passedOver, batch.otherAccounts) = (2, ["Another"])
      return batch
    }
    let call = InboundEvent(headers: [], body: [], arrivedAt: Timestamp(seconds: 0))
    let batch = try speaking.convertingAmounts().readEvents(call)
    #expect(batch.events.map(\.amount) == [.eur(1200), .eur(300)] && batch.refusal == .unintelligible)
    #expect(batch.passedOver == 2 && batch.otherAccounts == ["Another"])
    speaking.readEvents = { _ in EventBatch(events: [event("2", yen)]) }
    #expect(throws: EventRefusal.unintelligible) { try speaking.convertingAmounts().readEvents(call) }
  }
}
