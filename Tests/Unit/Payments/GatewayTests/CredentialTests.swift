import Acquiring
import ApplePayToken
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// What merchants' servers hand in beside whole payment tokens of a sheet of ours.
@Suite struct `A credential that a merchant's server hands in` {
  private func pay(
    _ credential: PaymentCredential, _ order: Order = Shop.order(), at shop: Shop,
    choosing choice: RouteChoice = RouteChoice()
  ) async throws -> Payment {
    let call = try shop.gateway.newCall()
    defer { call.end() }
    guard
      case .confirmed(let confirmed) = try await shop.gateway.confirm(
        credential, pays: order, choosing: choice, in: call)
    else { throw GatewayError.tokenReused }
    do {
      let attempt = try await shop.journal.database.write { try shop.gateway.claim(confirmed, for: call, in: $0) }
      return try await shop.gateway.authorize(confirmed, attempt, in: call).payment
    } catch is ClaimRefused {
      throw GatewayError.tokenReused
    }
  }

  private func unsigned(_ token: EncryptedPaymentToken) throws -> UnsignedPaymentData {
    try UnsignedPaymentData(
      data: Base64.encode(token.data), ephemeralPublicKey: Base64.encode(token.keyMaterial.bytes),
      publicKeyHash: Base64.encode(token.publicKeyHash))
  }

  private func card(_ cryptogram: String = "AAECAwQFBgc=", key: UInt8 = 1) throws -> DecryptedCard {
    DecryptedCard(
      NetworkToken(
        dpan: try #require(DPAN("4761739000000012")), expiry: try #require(CardExpiry(yymm: "3112")),
        cryptogram: Cryptogram(base64: cryptogram), eci: "7"), key: [UInt8](repeating: key, count: 32))
  }

  @Test func `as a whole token needs no application data, and says so`() async throws {
    let shop = try await Shop()
    let credential = PaymentCredential.handedIn(try shop.tokenWithoutApplicationData())
    #expect(credential.notVerified == ["applicationData"])
    #expect(try await pay(credential, at: shop).status == .authorized)
  }

  @Test func `for a pending total is signed for zero, and holds the order's amount`() async throws {
    let shop = try await Shop()
    let known = Shop.order()
    let order = Order(
      id: known.id, merchant: known.merchant, basket: known.basket, amount: .eur(5_000),
      applicationDataHash: known.applicationDataHash, merchantReference: known.merchantReference, capture: .manual,
      signedAmount: .eur(0))
    for amount in [Amount.eur(5_000), .eur(1)] {
      let token = try shop.token(for: order, amount: amount)
      await #expect(throws: PaymentTokenError.self) { try await pay(.token(token), order, at: shop) }
    }
    let payment = try await pay(.token(shop.token(for: order, amount: .eur(0))), order, at: shop)
    #expect(payment.status == .authorized && payment.authorized == 5_000)
    #expect(shop.fake.authorizations.map(\.amount) == [.eur(5_000)])
    #expect(shop.fake.authorizations.map(\.sale.authorization) == [.preliminary])
  }

  @Test func `as a whole token is refused for application data of another order`() async throws {
    let shop = try await Shop()
    let token = try shop.token(applicationData: "another basket")
    await #expect(throws: PaymentTokenError.self) { try await pay(.handedIn(token), at: shop) }
    #expect(shop.fake.authorizations.isEmpty)
    #expect(try await pay(.handedIn(shop.token()), at: shop).amountConfirmed)
  }

  @Test func `without a signature pays, says what was not verified, and pays once in either form`() async throws {
    let shop = try await Shop()
    let token = try shop.token()
    let credential = PaymentCredential.unsigned(try unsigned(token))
    #expect(credential.notVerified == ["signature", "signingTime", "applicationData"])
    #expect(try await pay(credential, at: shop).status == .authorized)
    let other = Order.sample("order-2", .eur(1250), applicationDataHash: Shop.order().applicationDataHash)
    for second in [credential, .handedIn(token)] {
      await #expect(throws: GatewayError.tokenReused) { try await pay(second, other, at: shop) }
    }
    #expect(shop.fake.authorizations.count == 1)
  }

  @Test func `without a signature must be for the order's amount and a key of the merchant's own`() async throws {
    let shop = try await Shop()
    let token = try shop.token(amount: .eur(1300))
    let error = await #expect(throws: PaymentTokenError.self) { try await pay(.unsigned(unsigned(token)), at: shop) }
    #expect(error?.code == .amountMismatch)
    let stranger = try UnsignedPaymentData(
      data: Base64.encode(token.data), ephemeralPublicKey: Base64.encode(token.keyMaterial.bytes),
      publicKeyHash: Base64.encode([UInt8](repeating: 7, count: 32)))
    let unknown = await #expect(throws: PaymentTokenError.self) { try await pay(.unsigned(stranger), at: shop) }
    #expect(unknown?.code == .unknownKey)
    #expect("\(stranger) \(stranger.debugDescription)".contains("•"))
  }

  @Test(arguments: [("?", "", ""), ("AA==", "AA==", "AA=="), ("", "AA==", "")])
  func `without a signature is refused where a part cannot be read`(data: String, key: String, hash: String) {
    #expect(throws: PaymentTokenError.self) {
      try UnsignedPaymentData(data: data, ephemeralPublicKey: key, publicKeyHash: hash)
    }
  }

  @Test func `decrypted pays once by its number and cryptogram, and its amount was not seen`() async throws {
    let shop = try await Shop()
    let credential = PaymentCredential.decrypted(try card())
    #expect(credential.notVerified == ["signature", "signingTime", "applicationData", "amount"])
    let payment = try await pay(credential, at: shop)
    #expect(payment.status == .authorized && !payment.amountConfirmed)
    #expect(payment.card.deviceAccountSuffix == "0012")
    await #expect(throws: GatewayError.tokenReused) { try await pay(credential, Shop.order("order-2"), at: shop) }
    #expect(try await pay(.decrypted(card("BBBBBBBB")), Shop.order("order-3"), at: shop).status == .authorized)
    #expect(try !shop.diskHolds("4761739000000012"))
  }

  @Test func `decrypted has a fingerprint that depends on the key, and prints masked`() throws {
    #expect(try card().use == card().use)
    #expect(try card().use != card(key: 2).use)
    #expect(try card().use != card("BBBBBBBB").use)
    #expect("\(try card())" == "DecryptedCard(•••)")
    #expect(Mirror(reflecting: try card()).children.isEmpty)
  }

  @Test func `is captured after the delay that was asked for, and not before`() async throws {
    let shop = try await Shop()
    let order = Shop.order(capture: .immediate)
    var choice = RouteChoice()
    choice.captureDelay = .seconds(3_600)
    let payment = try await pay(.handedIn(shop.token(for: order)), order, at: shop, choosing: choice)
    #expect(payment.status == .authorized)
    shop.clock.advance(.seconds(3_500))
    _ = try await shop.gateway.recover(.dueCaptures)
    #expect(shop.fake.captures.isEmpty)
    shop.clock.advance(.seconds(200))
    _ = try await shop.gateway.recover(.dueCaptures)
    #expect(try await shop.journal.payment(payment.id)?.status == .captured)
  }

  @Test(
    arguments: [(.final, .voided), (.preliminary, .authorized), (nil, .authorized)]
      as [(AuthorizationType?, PaymentStatus)])
  func `is held for seven days where a final authorization was asked for`(
    type: AuthorizationType?, status: PaymentStatus
  ) async throws {
    let shop = try await Shop(
      capabilities: AcquirerCapabilities(
        name: "fake", instruments: [.network], idempotency: .none, inquiry: true, reversal: true,
        settleHorizon: .seconds(10), holdLifetime: .seconds(30 * 86_400)))
    var choice = RouteChoice()
    choice.sale.authorization = type
    let payment = try await pay(.handedIn(shop.token()), at: shop, choosing: choice)
    shop.clock.advance(.seconds(7 * 86_400 + 100))
    _ = try await shop.gateway.recover(.expiredHolds)
    #expect(try await shop.journal.payment(payment.id)?.status == status)
  }

  @Test(arguments: AuthorizationType.allCases, [AuthorizationType.final, .preliminary, nil])
  func `is captured in parts and held as its own type allows, whatever the route's usual one is`(
    usual: AuthorizationType, asked: AuthorizationType?
  ) async throws {
    @Sendable func hold(_ type: AuthorizationType) -> AcquirerCapabilities.Hold {
      switch type {
      case .preliminary: .init(.all, lifetime: .seconds(30 * 86_400))
      case .final: .init([.refund], lifetime: .seconds(7 * 86_400))
      }
    }
    var capabilities = AcquirerCapabilities(
      name: "fake", instruments: [.network], parts: hold(usual).parts, idempotency: .none, inquiry: true,
      reversal: true, settleHorizon: .seconds(10), holdLifetime: hold(usual).lifetime)
    capabilities.usualAuthorizationType = usual
    capabilities.hold = hold
    let shop = try await Shop(capabilities: capabilities)
    var choice = RouteChoice()
    choice.sale.authorization = asked
    let isFinal = (asked ?? usual) == .final
    let payment = try await pay(.handedIn(shop.token()), at: shop, choosing: choice)
    let part = Amount(minorUnits: 100, currency: payment.amount.currency)
    if isFinal {
      await #expect(throws: GatewayError.self) { try await shop.gateway.capture(payment.id, part) }
      #expect(shop.fake.captures.isEmpty)
    } else {
      _ = try await shop.gateway.capture(payment.id, part)
      #expect(shop.fake.captures.count == 1)
    }
    shop.clock.advance(.seconds(7 * 86_400 + 100))
    _ = try await shop.gateway.recover(.expiredHolds)
    #expect(try await shop.journal.payment(payment.id)?.status == (isFinal ? .voided : .partiallyCaptured))
  }

  @Test func `tells the provider its payment token's own id`() async throws {
    let shop = try await Shop()
    let token = try shop.token()
    var choice = RouteChoice()
    choice.sale.transactionID = "5a5a"
    _ = try await pay(.handedIn(token), at: shop, choosing: choice)
    #expect(shop.fake.authorizations.map(\.sale.transactionID) == [Hex.encode(token.transactionID)])
  }
}

@Suite struct `A use case that opens the claim itself` {
  @Test func `finds the key's first call, and gives its answer to a second`() async throws {
    let shop = try await Shop()
    let key = IdempotentCall(merchant: "shop", call: "pay", key: IdempotencyKey("k"), requestHash: "h")
    #expect(try await shop.gateway.findAnswer(under: key) == nil)
    let call = try shop.gateway.newCall(under: key)
    defer { call.end() }
    guard
      case .confirmed(let confirmed) = try await shop.gateway.confirm(
        .token(shop.token()), pays: Shop.order(), in: call)
    else { return }
    let attempt = try await shop.journal.database.write { try shop.gateway.claim(confirmed, for: call, in: $0) }
    let outcome = try await shop.gateway.authorize(confirmed, attempt, in: call)
    let known = try await shop.gateway.findAnswer(under: key)
    #expect(known?.outcome == outcome && known?.firstCallAt == outcome.payment.createdAt)
    let first = try await shop.journal.database.read { try IdempotencyKeys.first(of: key, in: $0) }
    #expect(first?.payment == outcome.payment.id && first?.operation == attempt.reference)
    let status = try await shop.journal.status(of: key)
    #expect(try await shop.gateway.firstAnswer(under: key, KeyTaken(status: status)).outcome == outcome)
    #expect(confirmed.network == .visa)
  }

  @Test func `names an operation by the merchant's own reference, and counts them`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    _ = try await shop.gateway.perform(FollowUp.capture(payment.id, .eur(500)).named("C-1"))
    _ = try await shop.gateway.perform(FollowUp.capture(payment.id, .eur(100)))
    let operations = try await shop.journal.operations(of: payment.id)
    #expect(operations.map(\.merchantReference) == [nil, "C-1", nil])
    #expect(operations.map(\.number) == [0, 1, 2])
  }
}
