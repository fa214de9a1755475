import PassKit
import Synchronization
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `Cancelling and losing the network` {
  let world: World

  init() throws { world = try World.running() }

  @Test func `a sheet that is closed before the shopper agrees leaves the basket payable`() async throws {
    let app = App(world, service: .collection)
    let outcome = try await app.checkout(OrderDetails(service: .collection)) { $0.close() }
    #expect(outcome == .cancelled)
    #expect(!app.wallet.isShowing)
  }

  @Test func `cancelling in time ends the basket, and nothing is paid`() async throws {
    let gate = Gate()
    let app = App(world, network: gate.holding("/applepay/payment"), service: .collection)
    let outcome = try await app.checkout(OrderDetails(service: .collection)) { sheet in
      async let status = sheet.authorize(card: "visa-debit", contact: "gb-london")
      try await gate.reached()
      #expect(await app.service.payment?.attemptCancellation() == .cancelled)
      gate.open()
      let shown = try await status
      #expect(shown == .failure)
    }
    #expect(outcome == .cancelled)
    let basket = try #require(gate.basket)
    let order = try await world.order(basket)
    #expect(order == nil)
    // The payment that was held arrives after the cancellation, and is refused.
    await #expect(throws: CheckoutFailure.self) { try await app.client.outcome(of: basket) }
  }

  @Test func `a cancellation that comes too late does not stop the payment, and the app gets its order`() async throws {
    // 20.70: the sandbox's acquirer takes five seconds.
    let app = App(world, items: ["peas": 5, "lemonade": 1], service: .collection)
    let outcome = try await app.checkout(OrderDetails(service: .collection)) { sheet in
      async let status = sheet.authorize(card: "visa-debit", contact: "gb-london")
      try await waitUntil("a payment") { await app.service.payment != nil }
      let payment = try #require(await app.service.payment)
      try await world.waitUntilPaying(try #require(await app.service.basket), app.client)
      #expect(await payment.attemptCancellation() == .tooLate)
      _ = try await status
    }
    try await app.agrees(outcome, paid: 2070)
  }

  @Test func `an answer that is lost after sending is asked for, and paid once`() async throws {
    let losses = Mutex(1)
    let app = App(
      world,
      network: { real in
        CheckoutTransport { call, time async throws(CheckoutInterruption) in
          let reply = try await real.send(call, time)
          let isLost =
            call.path == "/applepay/payment"
            && losses.withLock { left in
              left -= 1
              return left >= 0
            }
          if isLost { throw .lost }
          return reply
        }
      }, service: .collection)
    let outcome = try await app.checkout(OrderDetails(service: .collection)) { sheet in
      let status = try await sheet.authorize(card: "visa-debit", contact: "gb-london")
      #expect(status == .success)
    }
    try await app.agrees(outcome, paid: 1290)
  }

  @Test func `a network that is gone before sending pays when it is back`() async throws {
    let failures = Mutex(2)
    let app = App(
      world,
      network: { real in
        CheckoutTransport { call, time async throws(CheckoutInterruption) in
          let isGone =
            call.path.hasPrefix("/applepay/payment")
            && failures.withLock { left in
              left -= 1
              return left >= 0
            }
          if isGone { throw .notSent("no network") }
          return try await real.send(call, time)
        }
      }, service: .collection)
    let outcome = try await app.checkout(OrderDetails(service: .collection)) { sheet in
      try await sheet.authorize(card: "visa-debit", contact: "gb-london")
    }
    try await app.agrees(outcome, paid: 1290)
  }

  @Test func `a server that is not there sends the shopper to the standard checkout`() async throws {
    let app = App(world, network: { _ in .urlSession(server: .closedPort) }, service: .collection)
    let outcome = await SandboxWallet.$current.withValue(app.wallet) {
      await app.flow.pay(OrderDetails(service: .collection))
    }
    guard case .standardCheckout(.failure(let failure)) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(failure.code == "server_unreachable")
  }
}

/// Holds one kind of call until it is opened.
private final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var isReached = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var basket: BasketID?
  }

  private let state = Mutex(State())

  var basket: BasketID? { state.withLock { $0.basket } }

  func holding(_ path: String) -> (CheckoutTransport) -> CheckoutTransport {
    { real in
      CheckoutTransport { call, time async throws(CheckoutInterruption) in
        if call.method == .put { self.note(call.path) }
        if call.method == .post, call.path == path { await self.pass() }
        return try await real.send(call, time)
      }
    }
  }

  /// `/applepay/basket/{id}/details`
  private func note(_ path: String) {
    let id = path.split(separator: "/").dropFirst(2).first.map(String.init)
    state.withLock { $0.basket = id.map { BasketID($0) } }
  }

  private func pass() async {
    await withCheckedContinuation { waiting in
      let isOpen = state.withLock { state in
        state.isReached = true
        if !state.isOpen { state.waiting.append(waiting) }
        return state.isOpen
      }
      if isOpen { waiting.resume() }
    }
  }

  func reached() async throws {
    try await waitUntil("the call that is held") { state.withLock { $0.isReached } }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.resume() }
  }
}
