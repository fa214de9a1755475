import AcquirerSandbox
import Acquiring
import Connectors
import Auditing
import Gateway
import HTTPTransport
import Hummingbird
import HummingbirdTesting
import Ledger
import PaymentTesting
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// A merchant with an account at an emulated provider.
struct ProviderVisit: Sendable {
  /// One provider with one kind of credential.
  struct Kind: Sendable, CustomTestStringConvertible {
    let provider: Provider
    let isSealed: Bool
    var testDescription: String { provider.rawValue + (isSealed ? ", sealed" : "") }
  }

  static let kinds = Provider.allCases.flatMap { provider in
    (provider.takesSealed ? [false, true] : [false]).map { Kind(provider: provider, isSealed: $0) }
  }

  let provider: Provider
  let isSealed: Bool
  let shop: Shop
  let gateway: PaymentGateway
  let acquirer: Acquirer
  let http: HTTPSender
  let origin: String
  /// Lets the provider decide what it has accepted, and send its events.
  let deliver: @Sendable (EventDelivery) async throws -> Void

  /// The provider's events arrive at the gateway.
  func events() async throws {
    try await deliver(gateway.inbox(of: provider.rawValue, at: shop.clock.now))
  }

  func held(_ name: String, _ units: Int64, card: String = "visa-debit") async throws -> Payment {
    let order = Shop.order(name, units)
    return try await authorize(order, shop.token(for: order, card: card), card.hasPrefix("visa") ? .visa : .masterCard)
  }

  /// As for a page, which says the card's name and network.
  func authorize(
    _ order: Order, _ token: EncryptedPaymentToken, _ network: CardNetwork = .visa
  ) async throws -> Payment {
    let call = try gateway.newCall()
    defer { call.end() }
    let choice = RouteChoice(sale: SaleDetails(cardName: "Card 0492", cardNetwork: network))
    switch try await gateway.confirm(token, pays: order, choosing: choice, in: call) {
    case .answered(let payment): return payment
    case .confirmed(let confirmed):
      let gateway = gateway
      let attempt = try await shop.journal.database.write { try gateway.claim(confirmed, for: call, in: $0) }
      return try await gateway.authorize(confirmed, attempt, in: call).payment
    }
  }

  /// The payment when what was asked for is done.
  func done(_ outcome: OperationOutcome) async throws -> Payment {
    try await events()
    for operation in outcome.operations {
      let state = try await shop.journal.outcome(of: operation.reference).operation.state
      #expect(state == .approved, "\(operation.kind) of \(operation.amount) is \(state)")
    }
    return try #require(try await gateway.payment(outcome.payment.id))
  }

  /// 10.00 and 2.50 of 12.50; then 3.00 and 8.00 of it are refunded: together more than each capture took.
  func capturesInParts() async throws {
    let payment = try await held("order-1", 1250)
    #expect(payment.status == .authorized && payment.amountConfirmed == !isSealed)
    #expect(try await done(gateway.capture(payment.id, .eur(1000))).captured == 1000)
    #expect(try await done(gateway.capture(payment.id, .eur(250))).status == .captured)
    try await settle(payment.id)
    #expect(try await done(gateway.refund(payment.id, .eur(300))).refunded == 300)
    let spanning = try await gateway.refund(payment.id, .eur(800))
    let parts: [Amount] = provider == .braintree ? [.eur(700), .eur(100)] : [.eur(800)]
    #expect(spanning.operations.map(\.amount) == parts)
    #expect(try await done(spanning).refunded == 1100)
  }

  func voids() async throws {
    let payment = try await held("order-2", 990)
    #expect(try await done(gateway.void(payment.id)).status == .voided)
  }

  func paysAfterDecline() async throws {
    #expect(try await held("order-3", 700, card: "visa-lost").status == .declined)
    let payment = try await held("order-3", 700, card: "mastercard-credit")
    #expect(try await done(gateway.capture(payment.id)).captured == 700)
  }

  /// Braintree refunds what it has settled.
  func settle(_ payment: PaymentID) async throws {
    guard provider == .braintree else { return }
    for capture in try await shop.journal.operations(of: payment) where capture.kind == .capture {
      let name = try #require(capture.acquirerReference)
      _ = try await call("PUT", "/merchants/tender_sandbox/transactions/\(name)/settle")
    }
  }

  /// What the provider's own report, or listing, has otherwise than the journal. Worldline Direct has none.
  func differences() async throws -> [Difference.Kind] {
    let period = shop.clock.now.adding(.seconds(-600))..<shop.clock.now.adding(.seconds(600))
    guard let source = acquirer.convertingAmounts().report else {
      guard let path = provider.report else { return [] }
      let report = try AcquirerReport(try await call("GET", path))
      return try await shop.journal.differences(from: report, through: provider.rawValue).map(\.kind)
    }
    let (journal, route) = (shop.journal, provider.rawValue)
    let report = try await source(
      period,
      { operation, name in
        guard let kind = OperationKind(rawValue: operation.rawValue) else { return nil }
        return try await journal.reference(of: kind, called: name, through: route)
      }, .after(TestRun.whole))
    return try await journal.differences(from: report, in: period, through: route).map(\.kind)
  }

  @discardableResult
  func call(_ method: String, _ path: String, _ body: String = "") async throws -> [UInt8] {
    let request = OutboundRequest(
      method: method, url: origin + path, headers: provider.credentials, body: Array(body.utf8))
    let answer = try await http.send(request, TestRun.whole)
    try #require(answer.status == 200, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
    return answer.body
  }
}

extension PaymentGateway {
  /// Where the events of a provider arrive.
  func inbox(of route: String, at now: Timestamp) -> EventDelivery {
    let receive: @Sendable ([UInt8], [HTTPField]) async -> Bool = { body, headers in
      let event = InboundEvent(headers: headers, body: body, arrivedAt: now)
      guard let received = try? await self.receive(event, through: route) else { return false }
      return !received.isEarly
    }
    return EventDelivery(
      form: { _, body in await receive(body, []) },
      headers: { _, headers, body in await receive(body, headers.map { HTTPField($0.name, $0.value) }) },
      post: { _, _, body in await receive(body, []) })
  }
}

extension Provider {
  /// - Parameter wire: between the connector and the provider.
  /// - Returns: what the auditor says of both ledgers in the end.
  func visit(
    isSealed: Bool, through wire: @escaping @Sendable (HTTPSender) -> HTTPSender = { $0 },
    _ body: @escaping @Sendable (ProviderVisit) async throws -> Void
  ) async throws -> [Violation] {
    let files = try TemporaryStore()
    let evidence = Mutex(Evidence())
    let clock = ManualClock(WallClock.system.now())
    let pki = try SandboxPKI(clock: clock.wall)
    let router = Router()
    let emulator = try await Emulator(self, files.path, pki, clock.wall, addingTo: router)
    let client = try LiveHTTPClient(maximumResponseBytes: 1_048_576)
    let http = client.sender.patient
    do {
      try await Application(router: router).test(.live) { test in
        let origin = "http://localhost:\(test.port ?? 0)"
        let csr = isSealed ? try await emulator.certificateRequest() : nil
        let acquirer = try acquirer(at: origin, wire(http), clock.wall)
        // An access token is not what breaks.
        _ = await acquirer.checkCredentials(.after(TestRun.whole))
        let shop = try await Shop(acquirer, pki: pki, sealedTo: csr, clock: clock)
        let visit = ProviderVisit(
          provider: self, isSealed: isSealed, shop: shop, gateway: try shop.gateway(at: acquirer, isSealed: isSealed),
          acquirer: acquirer, http: http, origin: origin,
          deliver: emulator.deliver)
        if let subscription {
          try await visit.call("PUT", subscription, #"{"url":"http://localhost/events"}"#)
        }
        try await body(visit)
        let journal = try await shop.journal.evidence()
        evidence.withLock { $0 = journal }
      }
    } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
    await emulator.close()
    let ours = evidence.withLock { $0 }
    return Auditor(try await files.openFile().read { try ours.beside(self, $0) }).violations
  }
}

extension Shop {
  /// With the one route, which takes the payment tokens that are encrypted to its provider's key.
  fileprivate func gateway(at acquirer: Acquirer, isSealed: Bool) throws -> PaymentGateway {
    let keys: Set<[UInt8]> = isSealed ? [try token().publicKeyHash] : []
    return gateway(through: RouteTable([ConfiguredRoute(acquirer, sealedKeys: keys)]))
  }
}
