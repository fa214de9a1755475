import Foundation
import PassKit
import StrictJSON
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The servers started by `scripts/test-app-kit`.
struct World: Sendable {
  let sandbox: URL
  let server: URL
  let shop: URL

  static func running() throws -> World {
    func address(_ name: String) throws -> URL {
      let text = ProcessInfo.processInfo.environment["TENDER_TEST_\(name)"]
      return try #require(text.flatMap { URL(string: $0) }, "the servers do not run: use scripts/test-app-kit")
    }
    return World(sandbox: try address("SANDBOX"), server: try address("SERVER"), shop: try address("SHOP"))
  }

  /// Whether another program has put a basket, and says with which card it is paid.
  static var isJudged: Bool { ProcessInfo.processInfo.environment["TENDER_TEST_BASKET"] != nil }

  static func judged(_ name: String) throws -> String {
    try #require(ProcessInfo.processInfo.environment["TENDER_TEST_\(name)"])
  }

  static let merchant = MerchantConfiguration(
    merchantIdentifier: "merchant.test.harbour", networks: [.visa, .masterCard])

  /// What an app asks its own backend for.
  func basket(_ service: ServiceType, _ items: [String: Int64] = ["fish": 1]) async throws -> BasketID {
    let order: JSONValue = [
      "serviceType": .string(service.rawValue),
      "items": .array(items.map { ["id": .string($0.key), "quantity": .integer($0.value)] }),
    ]
    let reply = try await call(shop, .post, "/api/baskets", order)
    return BasketID(try #require(reply["basketId"]?.word))
  }

  /// What the shop's backend knows of the order; nil when nothing was ordered.
  func order(_ basket: BasketID) async throws -> JSONValue? {
    let reply = try await call(shop, .get, "/api/orders/\(basket)")
    return reply["orderId"] == nil ? nil : reply
  }

  /// What the acquirer's own ledger says of an order: what it holds or has taken, in minor units.
  func ledger(_ reference: String) async throws -> [(authorized: Int64, captured: Int64)] {
    let key = try #require(try await call(sandbox, .get, "/sandbox/ca.json")["acquirerKey"]?.word)
    var request = URLRequest(url: sandbox.appendingPathComponent("acquirer/v1/authorizations"))
    request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
    let (data, _) = try await URLSession.shared.data(for: request)
    let rows = try JSONReader.read(Array(data))["authorizations"]?.elements ?? []
    return rows.filter { $0["merchantReference"]?.word == reference && ($0["authorized"]?.whole ?? 0) > 0 }
      .map { ($0["authorized"]?.whole ?? 0, $0["captured"]?.whole ?? 0) }
  }

  private func call(
    _ base: URL, _ method: CheckoutCall.Method, _ path: String, _ body: JSONValue? = nil
  ) async throws -> JSONValue {
    let transport = CheckoutTransport.urlSession(server: base)
    let reply = try await transport.send(CheckoutCall(method, path, body: body?.serialized()), TestRun.whole)
    return try JSONReader.read(reply.body)
  }
}

extension JSONValue {
  var word: String? { if case .string(let text) = self { text } else { nil } }
  var whole: Int64? { if case .integer(let number) = self { number } else { nil } }
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}

/// An app at its first payment: the kit over PassKit, and a wallet that the test operates.
struct App: Sendable {
  let world: World
  let wallet: SandboxWallet
  let service: ApplePayService
  let flow: PaymentFlowController
  let client: CheckoutClient

  /// - Parameters:
  ///   - basket: one that is there already; otherwise the shop makes one.
  ///   - network: stands between the app and the server.
  init(
    _ world: World, items: [String: Int64] = ["fish": 1], checks: AddressChecks = .standard,
    abilities: SandboxWallet.Abilities = .init(), merchant: MerchantConfiguration = World.merchant,
    clock: SheetClock = .system, basket: BasketID? = nil,
    network: (CheckoutTransport) -> CheckoutTransport = { $0 }, service kind: ServiceType = .delivery
  ) {
    self.world = world
    wallet = SandboxWallet(sandbox: world.sandbox, abilities)
    client = CheckoutClient(network(.urlSession(server: world.server)))
    service = ApplePayService(
      merchant: merchant, client: client, sheet: .passKit, device: .passKit, checks: checks, clock: clock,
      tracking: { order in
        OrderTracking(
          orderTypeIdentifier: "order.com.example", orderIdentifier: order.id.rawValue,
          webServiceURL: "https://example.com/orders", authenticationToken: "0123456789abcdef")
      })
    flow = PaymentFlowController(service: service, checkout: CheckoutService(client: client, checks: checks)) { _ in
      if let basket { return basket }
      return try await world.basket(kind, items)
    }
  }

  /// Taps the button, plays the shopper, and returns the outcome of the checkout.
  func checkout(
    _ details: OrderDetails = OrderDetails(service: .delivery), agreement: PaymentAgreement? = nil,
    _ shopper: @escaping @MainActor @Sendable (ShopperSheet) async throws -> Void
  ) async throws -> CheckoutOutcome {
    try await SandboxWallet.$current.withValue(wallet) {
      async let outcome = flow.pay(details, agreement: agreement)
      var sheets = wallet.sheets.makeAsyncIterator()
      let sheet = try #require(await sheets.next())
      try await shopper(sheet)
      return await outcome
    }
  }

  /// The order at the shop's backend and at the acquirer, which must agree with the app. A payment that was recovered is
  /// captured a moment after the app has heard of it.
  func agrees(_ outcome: CheckoutOutcome, paid minorUnits: Int64) async throws {
    guard case .ordered(let order) = outcome else {
      Issue.record("not ordered: \(outcome)")
      return
    }
    try await waitUntil("a capture") { try await world.order(order.basket)?["status"]?.word == "captured" }
    let known = try #require(try await world.order(order.basket))
    #expect(known["orderId"]?.word == order.id.rawValue)
    let ledger = try await world.ledger(try #require(known["reference"]?.word))
    #expect(ledger.map(\.captured) == [minorUnits])
    #expect(ledger.map(\.authorized) == [minorUnits])
    let amount = Amount(minorUnits: minorUnits, currency: try #require(Currency(code: "EUR")))
    #expect(order.receipt.amount == amount.decimalString)
    #expect(known["amount"]?.word == amount.decimalString)
  }
}

extension World {
  /// Waits until the server has an attempt for the basket.
  func waitUntilPaying(_ basket: BasketID, _ client: CheckoutClient) async throws {
    try await waitUntil("an attempt") { (try? await client.outcome(of: basket)) != nil }
  }
}

extension URL {
  /// A port without a listener.
  static var closedPort: URL { URL(string: "http://127.0.0.1:9") ?? URL(fileURLWithPath: "/") }
}
