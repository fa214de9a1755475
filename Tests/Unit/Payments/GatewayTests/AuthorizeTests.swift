import Acquiring
import ApplePayToken
import Gateway
import Ledger
import PaymentTesting
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Authorizing an order` {
  let shop: Shop
  let order = Shop.order()

  init() async throws { shop = try await Shop() }

  @Test func `asks the acquirer for exactly the order, and keeps its answer`() async throws {
    let payment = try await shop.gateway.authorize(order, with: shop.token())
    #expect(payment.status == .authorized)
    #expect(payment.authorized == 1250)
    #expect(payment.card.deviceAccountSuffix == "0012")
    let request = try #require(shop.fake.authorizations.first)
    #expect(request.amount == order.amount)
    #expect(request.merchantReference == order.merchantReference)
    let operations = try await shop.journal.operations(of: payment.id)
    #expect(operations.map(\.reference) == [request.reference])
    #expect(try await shop.journal.payment(payment.id)?.reportedOutcome == .success)
  }

  @Test func `the attempt is durable before the acquirer is asked`() async throws {
    let journal = shop.journal
    let seen = Mutex<Payment?>(nil)
    shop.fake.authorizes { reference, _ in
      let payment = try? await journal.payment(of: OrderID("order-1"))
      seen.withLock { $0 = payment }
      return FakeAcquirer.approval(reference)
    }
    _ = try await shop.gateway.authorize(order, with: shop.token())
    #expect(seen.withLock { $0 }?.status == .authorizing)
  }

  @Test func `a finished answer is given again, whatever the token's age`() async throws {
    let token = try shop.token()
    let first = try await shop.gateway.authorize(order, with: token)
    shop.clock.advance(.seconds(3_600))
    #expect(try await shop.gateway.authorize(order, with: token) == first)
    #expect(try await shop.gateway.authorize(order, with: shop.token()) == first)
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `a decline is given again for its token, and another card pays`() async throws {
    shop.fake.authorizes(.declined(Decline(reason: .insufficientFunds, code: "51")))
    let token = try shop.token()
    let declined = try await shop.gateway.authorize(order, with: token)
    #expect(declined.decline?.reason == .insufficientFunds)
    shop.clock.advance(.seconds(3_600))
    #expect(try await shop.gateway.authorize(order, with: token) == declined)
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    let paid = try await shop.gateway.authorize(order, with: shop.token(card: "mastercard-credit"))
    #expect(paid.status == .authorized)
    #expect(paid.id != declined.id)
  }

  @Test func `a timeout is unknown, stays unknown, and keeps a second token away`() async throws {
    shop.fake.authorizes(.unknown(Interruption(.timeout)))
    let payment = try await shop.gateway.authorize(order, with: shop.token())
    #expect(payment.status == .unknown)
    #expect(payment.decline == nil)
    shop.clock.advance(.seconds(86_400 * 7))
    await #expect(throws: GatewayError.paymentInProgress(payment)) {
      try await shop.gateway.authorize(order, with: shop.token())
    }
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `what was never sent fails, and the order is free`() async throws {
    shop.fake.authorizes(.notSent("connection refused"))
    #expect(try await shop.gateway.authorize(order, with: shop.token()).status == .failed)
    shop.fake.authorizes { reference, _ in FakeAcquirer.approval(reference) }
    #expect(try await shop.gateway.authorize(order, with: shop.token()).status == .authorized)
  }

  @Test func `thirty-two calls with one token ask the acquirer once`() async throws {
    let (gateway, order, token) = (shop.gateway, order, try shop.token())
    let payments = try await withThrowingTaskGroup(of: PaymentID?.self) { group in
      for _ in 0..<32 {
        group.addTask {
          do { return try await gateway.authorize(order, with: token).id } catch is GatewayError { return nil }
        }
      }
      return try await group.reduce(into: Set<PaymentID>()) { if let id = $1 { $0.insert(id) } }
    }
    #expect(payments.count == 1)
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `a shopper who leaves while the acquirer is asked has paid all the same`() async throws {
    let (gateway, order, token) = (shop.gateway, order, try shop.token())
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let (left, leave) = AsyncStream.makeStream(of: Void.self)
    shop.fake.authorizes { reference, _ in
      ask.finish()
      for await _ in left {}
      return Task.isCancelled ? .unknown(Interruption(.connectionLost)) : FakeAcquirer.approval(reference)
    }
    let call = Task { try await gateway.authorize(order, with: token) }
    for await _ in asked {}
    call.cancel()
    leave.finish()
    #expect(try await call.value.status == .authorized)
  }

  @Test func `a token that has paid one order does not pay another`() async throws {
    let token = try shop.token()
    _ = try await shop.gateway.authorize(order, with: token)
    // The same applicationData and amount: nothing but the use of the token tells the two orders apart.
    let second = Order(
      id: OrderID("order-2"), merchant: order.merchant, basket: order.basket, amount: order.amount,
      applicationDataHash: order.applicationDataHash, merchantReference: "R2", capture: .manual)
    await #expect(throws: GatewayError.tokenReused) { try await shop.gateway.authorize(second, with: token) }
  }

  @Test(.enabled(if: StoreEngineUnderTest.isFile))
  func `neither account number nor token is on the disk, and the search would find them`() async throws {
    let token = try shop.token()
    _ = try await shop.gateway.authorize(order, with: token)
    #expect(try shop.diskHolds("basket of order-1"))
    #expect(try !shop.diskHolds("4761739000000012"))
    #expect(try !shop.diskHolds(Base64.encode(token.data)))
  }
}

@Suite struct `Confirming the order` {
  let shop: Shop
  init() async throws { shop = try await Shop() }

  private func refusal(_ token: EncryptedPaymentToken, _ order: Order = Shop.order()) async throws -> PaymentTokenError?
  {
    let error = await #expect(throws: PaymentTokenError.self) { try await shop.gateway.authorize(order, with: token) }
    #expect(try await shop.journal.payments().isEmpty)
    #expect(shop.fake.authorizations.isEmpty)
    return error
  }

  @Test func `another amount is refused before the acquirer is asked`() async throws {
    let error = try await refusal(shop.token(amount: .eur(1249)))
    #expect(error?.code == .amountMismatch)
    #expect(error?.reason.contains("power of ten") == false)
  }

  @Test func `an amount that is off by a power of ten says so`() async throws {
    #expect(try await refusal(shop.token(amount: .eur(125_000)))?.reason.contains("power of ten") == true)
  }

  @Test func `another currency is refused`() async throws {
    let dollars = Amount(minorUnits: 1250, currency: try #require(Currency(code: "USD")))
    #expect(try await refusal(shop.token(amount: dollars))?.code == .currencyMismatch)
  }

  @Test func `a token for another basket is refused`() async throws {
    #expect(try await refusal(shop.token(applicationData: "basket of order-9"))?.code == .applicationDataMismatch)
  }

  @Test func `a token without application data is refused`() async throws {
    #expect(try await refusal(shop.tokenWithoutApplicationData())?.code == .applicationDataMissing)
  }

  @Test func `another merchant's keys do not open it`() async throws {
    let order = Order.sample(merchant: "other", applicationDataHash: Shop.order().applicationDataHash)
    #expect(try await refusal(shop.token(), order)?.stage == .key)
  }

  @Test func `a token of yesterday is refused`() async throws {
    let token = try shop.token()
    shop.clock.advance(.seconds(301))
    #expect(try await refusal(token)?.code == .tooOld)
  }

  @Test func `a token is known by the same two fingerprints before and after it is verified`() throws {
    let token = try shop.token()
    let opened = try shop.opener.open(token, for: "shop", at: shop.clock.now)
    #expect(TokenUse(of: token) == opened.verified.use)
    #expect(try TokenUse(of: shop.token()) != opened.verified.use)
  }
}
