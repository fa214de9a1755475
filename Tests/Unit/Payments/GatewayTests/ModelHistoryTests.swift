import Acquiring
import Connectors
import Gateway
import HTTPTransport
import Ledger
import PaymentTesting
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// Histories that Spin finds in Tests/Model when a rule is taken out, played against the gateway.
@Suite struct `A history of the model` {
  /// What the acquirer received, over a network on which nothing is lost: it knows nothing.
  private final class Wire: Sendable {
    private let sent = Mutex<[String]>([])
    var requests: [String] { sent.withLock { $0 } }

    var acquirer: Acquirer {
      .sandbox(
        baseURL: "http://acquirer.example", apiKey: "k",
        http: HTTPSender { request, _ throws(TransportError) in
          self.sent.withLock { $0.append("\(request.method) \(request.url)") }
          return Self.answer(request)
        })
    }

    /// Nothing is found, and there is nothing to reverse.
    private static func answer(_ request: OutboundRequest) -> InboundResponse {
      guard request.url.hasSuffix("/reversal") else {
        return InboundResponse(status: 404, body: Array(#"{"code":"not_found"}"#.utf8))
      }
      // The reference of the request, and the code of a reversal that finds nothing.
      return InboundResponse(status: 200, body: request.body.dropLast() + Array(#","responseCode":"25"}"#.utf8))
    }
  }

  /// A node that sleeps at a point while the other one recovers.
  private final class Sleeper: Sendable {
    let clock = ManualClock(WallClock.system.now())
    private let other = Mutex<PaymentGateway?>(nil)

    func points(at place: CrashPoint) -> CrashPoints {
      CrashPoints { point in
        guard point == place else { return }
        for _ in 0..<8 {
          self.clock.advance(.seconds(70))
          _ = try await self.other.withLock { $0 }?.recover()
        }
      }
    }

    func begin(_ shop: Shop, _ acquirer: Acquirer) {
      other.withLock {
        $0 = PaymentGateway(
          opener: shop.opener, journal: Journal(shop.journal.database), acquirer: acquirer, clock: clock.wall,
          scheduler: clock.scheduler)
      }
    }
  }

  /// DEADLINE
  @Test func `a call that slept until recovery had failed its payment asks for nothing`() async throws {
    let (wire, sleeper) = (Wire(), Sleeper())
    let shop = try await Shop(wire.acquirer, crashes: sleeper.points(at: .authorizeClaimed), clock: sleeper.clock)
    sleeper.begin(shop, wire.acquirer)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect(try await shop.journal.payment(payment.id)?.status == .failed)
    #expect(!wire.requests.isEmpty && !wire.requests.contains { $0.hasSuffix("/authorizations") })
  }

  /// SENT_IN_TIME: a connector sends nothing without time, as the test before this one shows.
  @Test func `a capture that slept until recovery had failed it has no time left to be sent`() async throws {
    let sleeper = Sleeper()
    let shop = try await Shop(crashes: sleeper.points(at: .captureReserved), clock: sleeper.clock)
    sleeper.begin(shop, shop.fake.acquirer)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    _ = try await shop.gateway.capture(payment, .eur(1000))
    #expect(shop.fake.deadlines.last == .zero)
    let capture = try #require(try await shop.journal.operations(of: payment).first { $0.kind == .capture })
    #expect(capture.state == .failed)
  }

  /// NOT_FOUND_YET
  @Test func `a capture that is not found before the settle horizon stays open, and is found later`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    shop.fake.captures(.unknown(Interruption(.timeout)))
    _ = try await shop.gateway.capture(payment, .eur(1000))
    shop.clock.advance(.seconds(5))
    _ = try await shop.gateway.recover()
    #expect(shop.fake.inquiries.count == 1)
    shop.fake.finds { .answer(FakeAcquirer.approval($0)) }
    shop.clock.advance(.seconds(70))
    _ = try await shop.gateway.recover()
    #expect(try await shop.gateway.payment(payment)?.captured == 1000)
  }

  /// LEASED_OPERATION
  @Test func `a capture that a node is asking about is left alone by the others`() async throws {
    let shop = try await Shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    shop.fake.captures { reference, _ in
      _ = try? await shop.reborn().recover()
      _ = try? await shop.reborn().inquire(payment)
      return FakeAcquirer.approval(reference)
    }
    _ = try await shop.gateway.capture(payment, .eur(1000))
    #expect(shop.fake.captures.count == 1 && shop.fake.inquiries.isEmpty)
    #expect(try await shop.gateway.payment(payment)?.captured == 1000)
  }

  /// DATABASE_TIME
  @Test func `a node whose clock is an hour ahead ends no lease of another`() async throws {
    let shop = try await Shop()
    let clock = shop.clock
    let other = PaymentGateway(
      opener: shop.opener, journal: Journal(shop.journal.database), acquirer: shop.fake.acquirer,
      clock: WallClock { clock.now.adding(.seconds(3_600)) }, scheduler: clock.scheduler)
    shop.fake.authorizes { reference, _ in
      _ = try? await other.recover()
      if let payment = try? await other.payment(for: OrderID("order-1")) { _ = try? await other.inquire(payment.id) }
      return FakeAcquirer.approval(reference)
    }
    #expect(try await shop.gateway.authorize(Shop.order(), with: shop.token()).status == .authorized)
    #expect(shop.fake.inquiries.isEmpty && shop.fake.reversals.isEmpty)
  }

  /// What becomes of the next commit: it happens or not, and the caller does not learn it.
  private enum Doubt: CaseIterable { case done, notDone }

  private final class DoubtfulStore: Sendable {
    private let next = Mutex<Doubt?>(nil)
    /// Whether the store is lost after that commit, and whether it is lost now.
    private let lost = Mutex((after: false, now: false))
    private let store: MemoryStore
    let clock = ManualClock(WallClock.system.now())

    init() throws { store = try MemoryStore() }

    func doubt(_ doubt: Doubt, thenLost: Bool = false) {
      lost.withLock { $0.after = thenLost }
      next.withLock { $0 = doubt }
    }

    func comeBack() { lost.withLock { $0 = (false, false) } }

    private func take(_ doubt: Doubt) throws {
      try next.withLock { next in
        guard next == doubt else { return }
        next = nil
        lost.withLock { $0.now = $0.after }
        throw StorageError.outcomeUnknown
      }
    }

    private func beFound() throws {
      if lost.withLock(\.now) { throw StorageError.connection("lost") }
    }

    func shop() async throws -> Shop {
      let (time, start) = (clock, clock.now)
      let database = try store.open(
        Journal.migrations, clock: clock.wall,
        hooks: CommitHooks(
          writing: { try self.beFound() }, inside: { _ in try self.take(.notDone) },
          after: { try self.take(.done) }))
      let scheduler = Scheduler(
        uptime: { time.now.since(start) }, sleep: { time.advance($0) }, finish: { await $0() })
      return try await Shop(scheduler: scheduler, database: database, clock: clock)
    }
  }

  /// COMMIT_IN_DOUBT
  @Test(arguments: Doubt.allCases) private func `a claim whose commit is in doubt is looked for, and sent once`(
    _ doubt: Doubt
  ) async throws {
    let store = try DoubtfulStore()
    let shop = try await store.shop()
    store.doubt(doubt)
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect(payment.status == .authorized)
    #expect(shop.fake.authorizations.count == 1)
    #expect(try await shop.journal.operations(of: payment.id).count == 1)
  }

  /// COMMIT_IN_DOUBT
  @Test(arguments: Doubt.allCases) private func `a claim that stays in doubt asks for nothing`(
    _ doubt: Doubt
  ) async throws {
    let store = try DoubtfulStore()
    let shop = try await store.shop()
    store.doubt(doubt, thenLost: true)
    await #expect(throws: StorageError.outcomeUnknown) {
      try await shop.gateway.authorize(Shop.order(), with: shop.token())
    }
    #expect(shop.fake.authorizations.isEmpty)
    // What is claimed by then is found by recovery, and what is not is paid.
    store.comeBack()
    store.clock.advance(.seconds(120))
    _ = try await shop.gateway.recover()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect(payment.status == .authorized)
    #expect(shop.fake.authorizations.count == 1)
  }

  /// DOUBTFUL_RESERVATION
  @Test(arguments: Doubt.allCases, [OperationKind.capture, .void, .refund])
  private func `an operation whose reservation is in doubt is looked for, and sent once`(
    _ doubt: Doubt, _ kind: OperationKind
  ) async throws {
    let store = try DoubtfulStore()
    let shop = try await store.shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    _ = try await shop.gateway.capture(payment, .eur(500))
    let before = shop.fake.captures.count
    store.doubt(doubt)
    let outcome =
      switch kind {
      case .capture: try await shop.gateway.capture(payment, .eur(100))
      case .void: try await shop.gateway.void(payment, .eur(100))
      default: try await shop.gateway.refund(payment, .eur(100))
      }
    #expect(outcome.operation.state == .approved)
    #expect(shop.fake.captures.count - before + shop.fake.voids.count + shop.fake.refunds.count == 1)
    #expect(try await shop.journal.operations(of: payment).count == 3)
  }

  /// DOUBTFUL_RESERVATION
  @Test(arguments: Doubt.allCases) private func `a capture whose reservation stays in doubt is not sent`(
    _ doubt: Doubt
  ) async throws {
    let store = try DoubtfulStore()
    let shop = try await store.shop()
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token()).id
    store.doubt(doubt, thenLost: true)
    await #expect(throws: StorageError.outcomeUnknown) { try await shop.gateway.capture(payment, .eur(1000)) }
    #expect(shop.fake.captures.isEmpty)
    store.comeBack()
    for _ in 0..<4 {
      store.clock.advance(.seconds(70))
      _ = try await shop.gateway.recover()
    }
    _ = try await shop.gateway.capture(payment, .eur(1000))
    #expect(shop.fake.captures.count == 1)
  }

  private static func acquirer(_ name: String) -> FakeAcquirer {
    FakeAcquirer(
      AcquirerCapabilities(
        name: name, instruments: [.network], idempotency: .none, authorizationIdempotency: .none, inquiry: true,
        reversal: true, settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7)))
  }

  /// COMMIT_IN_DOUBT
  @Test(arguments: Doubt.allCases) private func `a payment whose next route is in doubt is sent there once`(
    _ doubt: Doubt
  ) async throws {
    let store = try DoubtfulStore()
    let (first, second) = (Self.acquirer("first"), Self.acquirer("second"))
    first.authorizes { _, _ in
      store.doubt(doubt)
      return .notSent("no connection")
    }
    let shop = try await store.shop()
    let gateway = shop.gateway(
      through: RouteTable([first, second].map { ConfiguredRoute($0.acquirer) }))
    let payment = try await gateway.authorize(Shop.order(), with: shop.token())
    #expect(payment.status == .authorized)
    #expect(first.authorizations.count == 1 && second.authorizations.count == 1)
  }

  /// COMMIT_IN_DOUBT
  @Test(arguments: Doubt.allCases) private func `success is told when the journal has it, and not before`(
    _ doubt: Doubt
  ) async throws {
    let store = try DoubtfulStore()
    let shop = try await store.shop()
    shop.fake.authorizes { reference, _ in
      store.doubt(doubt)
      return FakeAcquirer.approval(reference)
    }
    let payment = try await shop.gateway.authorize(Shop.order(), with: shop.token())
    #expect((payment.status, payment.reportedOutcome) == (.authorized, .success))
    #expect(try await shop.gateway.payment(payment.id) == payment)
    #expect(shop.fake.authorizations.count == 1 && shop.fake.reversals.isEmpty)
  }
}
