import PassKit
import StrictJSON
import Synchronization
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

/// The acquirer is silent: the sheet's thirty seconds end before anybody knows. Server and acquirer take their own time;
/// the device's clock is set forward.
@Suite struct `An outcome that is not known in time` {
  let world: World
  let clock = ClockThatJumps()

  init() throws { world = try World.running() }

  @Test func `is reported as unknown, then as an order, and is charged once`() async throws {
    let app = App(world, clock: clock.clock, service: .collection)
    let reports = await app.service.reports()
    let basket = try await paysInSilence("mastercard-answer-lost", app)

    // The app is killed and restarted; it keeps only the basket's id.
    let restarted = App(world)
    let later = await restarted.service.reports()
    await restarted.service.resume(basket)

    let outcome = try await ending(reports, of: basket)
    try await app.agrees(outcome, paid: 1290)
    guard case .ordered(let order) = outcome, case .ordered(let same) = try await ending(later, of: basket) else {
      Issue.record("the restarted app received another report")
      return
    }
    #expect(same.id == order.id && same.payment == order.payment)
  }

  @Test func `may turn out to be no payment at all, and then the basket can be paid`() async throws {
    let app = App(world, clock: clock.clock, service: .collection)
    let reports = await app.service.reports()
    let basket = try await paysInSilence("visa-no-answer", app)
    guard case .standardCheckout(.failure(let failure)) = try await ending(reports, of: basket) else {
      Issue.record("there is an order")
      return
    }
    #expect(failure.code == "acquirer_unreachable")
    let order = try #require(try await world.order(basket))
    #expect(order["status"]?.word == "failed")
    #expect(try await world.ledger(try #require(order["reference"]?.word)).isEmpty)

    let again = App(world, basket: basket)
    let outcome = try await again.checkout(OrderDetails(service: .collection)) { sheet in
      try await sheet.authorize(card: "visa-debit", contact: "gb-london")
    }
    try await again.agrees(outcome, paid: 1290)
  }

  /// Pays with a card whose issuer does not answer, until the app reports an unknown outcome.
  private func paysInSilence(_ card: String, _ app: App) async throws -> BasketID {
    let outcome = try await app.checkout(OrderDetails(service: .collection)) { sheet in
      async let status = sheet.authorize(card: card, contact: "gb-london")
      try await waitUntil("a payment") { await app.service.payment != nil }
      try await world.waitUntilPaying(try #require(await app.service.basket), app.client)
      clock.jump(.seconds(28))
      let shown = try await status
      #expect(shown == .failure)
      #expect(sheet.errors.isEmpty)
    }
    guard case .unknown(let basket) = outcome else { throw NeverSo(what: "unknown, but \(outcome)") }
    #expect(!app.wallet.isShowing)
    return basket
  }

  /// The final report of a payment with an unknown outcome.
  private func ending(_ reports: AsyncStream<ApplePayReport>, of basket: BasketID) async throws -> CheckoutOutcome {
    for await report in reports {
      switch report {
      case .completed(let order): return .ordered(order)
      case .failed(let failure): return .standardCheckout(.failure(failure))
      case .presented, .cancelled, .unknown, .unavailable, .finished: continue
      }
    }
    throw NeverSo(what: "an end of \(basket)")
  }
}

private struct NeverSo: Error { let what: String }

/// The device's clock, which a test advances.
final class ClockThatJumps: Sendable {
  private let ahead = Mutex(Duration.zero)

  var clock: SheetClock {
    let now: @Sendable () -> Timestamp = { SheetClock.system.now().adding(self.ahead.withLock { $0 }) }
    return SheetClock(now: now) { until in
      while now() < until, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
    }
  }

  func jump(_ span: Duration) { ahead.withLock { $0 += span } }
}
