import AcquirerSandbox
import Acquiring
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

/// A shop with three routes loses the provider of the first for ten minutes, under load. The providers are emulators
/// behind HTTP; the minutes are those of the shop's clock.
@Suite struct `An outage of one of three providers` {
  @Test func `costs no shopper the payment when connections are refused`() async throws {
    let outage = try await Outage.run(.refused) { shop in
      try await shop.pass(minutes: 1, of: .before)
      shop.isDown = true
      try await shop.pass(minutes: 10, of: .during)
      shop.isDown = false
      try await shop.pass(minutes: 1, of: .after)
      try await shop.settle()
    }
    #expect(outage.violations == [])
    #expect(outage.routes(of: .before) == ["adyen"])
    #expect(outage.routes(of: .during) == ["stripe"])
    #expect(outage.unpaid(.before) + outage.unpaid(.during) + outage.unpaid(.after) == [])
    // The first payment after it may be sent elsewhere while the circuit is open.
    #expect(outage.routes(of: .after).contains("adyen"))
    // Five calls open the circuit; afterwards one call in five seconds tries.
    #expect(outage.callsWhileDown <= 5 + 10 * 60 / 5)
    #expect(outage.captured == outage.paid)
  }

  @Test func `is borne by the shoppers alone whose requests were sent and not answered`() async throws {
    let outage = try await Outage.run(.silent) { shop in
      try await shop.pass(minutes: 1, of: .before)
      shop.isDown = true
      try await shop.pass(minutes: 10, of: .during)
      shop.isDown = false
      try await shop.settle()
      try await shop.pass(minutes: 1, of: .after)
      try await shop.settle()
    }
    #expect(outage.violations == [])
    // Nobody can know what became of what was sent: it is neither sent elsewhere nor reported as failed.
    #expect(outage.open(.during) <= outage.callsWhileDown)
    #expect(outage.callsWhileDown <= 5 + 10 * 60 / 5)
    #expect(outage.routes(of: .during).contains("stripe"))
    #expect(outage.unpaid(.before) + outage.unpaid(.after) == [])
    #expect(outage.captured == outage.paid)
  }
}

/// What happened in a shop with three routes.
private struct Outage: Sendable {
  enum Phase: Sendable, Hashable { case before, during, after }
  /// What a request meets while the provider is lost.
  enum Kind: Sendable { case refused, silent }

  /// What a shopper was told at once.
  struct Visit: Sendable {
    let phase: Phase
    let order: OrderID
    let status: PaymentStatus
    var isPaid: Bool { status == .captured || status == .authorized }
  }

  fileprivate(set) var visits: [Visit] = []
  fileprivate(set) var callsWhileDown = 0
  /// When all was over: the route and the captured amount of each order's payment.
  fileprivate(set) var ended: [OrderID: (route: String, captured: Int64, authorized: Int64)] = [:]
  fileprivate(set) var violations: [Violation] = []
  fileprivate var evidence = Evidence()

  func routes(of phase: Phase) -> Set<String> {
    Set(visits.filter { $0.phase == phase && $0.isPaid }.compactMap { ended[$0.order]?.route })
  }

  /// What the shoppers were told who did not pay at once.
  func unpaid(_ phase: Phase) -> [PaymentStatus] {
    visits.filter { $0.phase == phase && !$0.isPaid }.map(\.status)
  }

  func open(_ phase: Phase) -> Int {
    visits.count { $0.phase == phase && [.unknown, .pending, .authorizing].contains($0.status) }
  }

  /// In minor units: what was captured, and what is owed by those who were told that they paid.
  var captured: Int64 { ended.values.reduce(0) { $0 + $1.captured } }
  var paid: Int64 { ended.values.reduce(0) { $0 + $1.authorized } }

  static func run(
    _ kind: Kind, _ body: @escaping @Sendable (BusyShop) async throws -> Void
  ) async throws -> Outage {
    let providers: [Provider] = [.adyen, .stripe, .checkoutCom]
    let files = try providers.map { _ in try TemporaryStore() }
    let clock = ManualClock(WallClock.system.now())
    let pki = try SandboxPKI(clock: clock.wall)
    let router = Router()
    var emulators: [Emulator] = []
    for (provider, store) in zip(providers, files) {
      emulators.append(try await Emulator(provider, store.path, pki, clock.wall, addingTo: router))
    }
    let client = try LiveHTTPClient(maximumResponseBytes: 1_048_576)
    let (running, sender) = (emulators, client.sender.patient)
    let result = Mutex(Outage())
    do {
      try await Application(router: router).test(.live) { test in
        let origin = "http://localhost:\(test.port ?? 0)"
        let shop = try await BusyShop(kind, providers, running, origin, sender, pki, clock)
        try await shop.subscribe()
        try await body(shop)
        let outcome = try await shop.outcome()
        result.withLock { $0 = outcome }
      }
    } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
    for emulator in emulators { await emulator.close() }
    return try await result.withLock { $0 }.audited(zip(providers, files))
  }

  /// With what the auditor says of the journal and the providers' ledgers.
  private func audited(_ ledgers: Zip2Sequence<[Provider], [TemporaryStore]>) async throws -> Outage {
    var outage = self
    for (provider, store) in ledgers {
      let evidence = outage.evidence
      outage.evidence = try await store.openFile().read { try evidence.beside(provider, $0) }
    }
    outage.violations = Auditor(outage.evidence).violations
    return outage
  }
}

/// The shop with its three routes: Adyen first, then Stripe, then Checkout.com, each behind a circuit breaker.
private final class BusyShop: Sendable {
  private let shop: Shop
  private let gateway: PaymentGateway
  private let providers: [(provider: Provider, emulator: Emulator)]
  private let origin: String
  private let http: HTTPSender
  private let wire: LosableWire
  private let visits = Mutex<[Outage.Visit]>([])

  init(
    _ kind: Outage.Kind, _ providers: [Provider], _ emulators: [Emulator], _ origin: String, _ http: HTTPSender,
    _ pki: SandboxPKI, _ clock: ManualClock
  ) async throws {
    let wire = LosableWire(kind, http)
    let acquirers = try providers.map { try $0.acquirer(at: origin, wire.sender, clock.wall) }
    let order = Shop.order()
    shop = try await Shop(acquirers[0], pki: pki, clock: clock)
    let routes = acquirers.map { ConfiguredRoute($0.guarded(by: CircuitBreaker(on: clock.scheduler))) }
    let rules = try providers.map { try RouteRule($0.rawValue) }
    gateway = shop.gateway(through: RouteTable(routes, rules: [order.merchant: rules]))
    self.providers = Array(zip(providers, emulators))
    (self.origin, self.http, self.wire) = (origin, http, wire)
  }

  /// Whether the first provider is lost. Its events do not come either.
  var isDown: Bool {
    get { wire.isDown }
    set { wire.isDown = newValue }
  }

  func subscribe() async throws {
    for (provider, _) in providers {
      guard let path = provider.subscription else { continue }
      let request = OutboundRequest(
        method: "PUT", url: origin + path, headers: provider.credentials,
        body: Array(#"{"url":"http://localhost/events"}"#.utf8))
      let status = try await http.send(request, TestRun.whole).status
      try #require(status == 200)
    }
  }

  /// Two shoppers every ten seconds, and recovery every half minute.
  func pass(minutes: Int, of phase: Outage.Phase) async throws {
    for tick in 0..<(minutes * 6) {
      shop.clock.advance(.seconds(10))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<2 {
          group.addTask { try await self.pay("\(phase)-\(tick)-\(number)", phase) }
        }
        try await group.waitForAll()
      }
      if tick.isMultiple(of: 3) { try await recover() }
    }
  }

  private func pay(_ name: String, _ phase: Outage.Phase) async throws {
    let order = Shop.order(name, capture: .immediate)
    let payment = try await gateway.pay(order, with: shop.token(for: order))
    visits.withLock { $0.append(Outage.Visit(phase: phase, order: order.id, status: payment.status)) }
  }

  private func recover() async throws {
    try await deliver()
    _ = try await gateway.recover()
    try await deliver()
  }

  private func deliver() async throws {
    for (provider, emulator) in providers where provider != .adyen || !isDown {
      try await emulator.deliver(gateway.inbox(of: provider.rawValue, at: shop.clock.now))
    }
  }

  func settle() async throws {
    for _ in 0..<12 {
      shop.clock.advance(.seconds(60))
      try await recover()
    }
  }

  /// After a day, so that what only a person can find out has its alarm.
  func outcome() async throws -> Outage {
    shop.clock.advance(.seconds(90_000))
    try await recover()
    var outage = Outage()
    outage.evidence = try await shop.journal.evidence()
    outage.ended = Dictionary(
      uniqueKeysWithValues: outage.evidence.payments.map {
        (OrderID($0.order), (route: $0.connector, captured: $0.captured, authorized: $0.authorized))
      })
    outage.visits = visits.withLock { $0 }
    outage.callsWhileDown = wire.callsWhileDown
    return outage
  }
}

/// The way to the providers, on which the first can be lost.
private final class LosableWire: Sendable {
  private let kind: Outage.Kind
  private let inner: HTTPSender
  private let state = Mutex((isDown: false, calls: 0))

  init(_ kind: Outage.Kind, _ inner: HTTPSender) { (self.kind, self.inner) = (kind, inner) }

  var isDown: Bool {
    get { state.withLock { $0.isDown } }
    set { state.withLock { $0.isDown = newValue } }
  }

  /// How many requests met the outage.
  var callsWhileDown: Int { state.withLock { $0.calls } }

  var sender: HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      guard request.url.contains("/v72/"), let number = self.noteLost() else {
        return try await self.inner.send(request, timeout)
      }
      guard self.kind == .silent else { throw .notSent("connection refused") }
      // Every second request arrives and is done, and its answer is lost.
      if number.isMultiple(of: 2) { _ = try? await self.inner.send(request, timeout) }
      throw .timedOut
    }
  }

  /// The number of the request that is lost; nil while the provider is there.
  private func noteLost() -> Int? {
    state.withLock { state in
      guard state.isDown else { return nil }
      state.calls += 1
      return state.calls
    }
  }
}
