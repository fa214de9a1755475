import Acquiring
import Auditing
import ApplePayToken
import Gateway
import HTTPTransport
import Ledger
import Orders
import PaymentTesting
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import Webhooks

/// The engine from one start to its death: the real gateway, journal and dispatcher over the simulated store and wire.
final class EngineLife: @unchecked Sendable {
  enum Verb: String {
    case capture, finalCapture, void, refund, increment

    /// As the journal calls it.
    var kind: String { self == .finalCapture ? "capture" : rawValue }

    func followUp(_ payment: Payment, _ amount: Int64?) -> FollowUp {
      let amount = amount.map { Amount(minorUnits: $0, currency: payment.amount.currency) }
      return switch self {
      case .capture: .capture(payment.id, amount)
      case .finalCapture: .capture(payment.id, amount, isFinal: true)
      case .void: .void(payment.id, amount)
      case .refund: .refund(payment.id, amount)
      case .increment: .increment(payment.id, by: amount ?? payment.amount)
      }
    }
  }

  enum Answer: CustomStringConvertible {
    case payment(Payment)
    case refused(String)

    var description: String {
      switch self {
      case .payment(let payment): payment.status.rawValue
      case .refused(let code): code
      }
    }
  }

  let number: Int
  /// In which it runs; nil where there is only one.
  let process: SimulatedProcess?
  /// The routes that are configured.
  let routes: [String]
  let gateway: PaymentGateway
  /// Places orders over this gateway.
  let orderService: OrderService
  /// Serves the platform API over this gateway.
  let platform: PlatformPayments
  private let dispatcher: WebhookDispatcher
  private(set) var isDelivering = false
  /// Charges agreements over this gateway.
  let schedule: AgreementScheduler
  var isCharging = false

  /// - Parameters:
  ///   - process: in which it runs; nil where there is only one.
  ///   - clock: the process's own; nil for the store's.
  init(
    number: Int, database: Database, routes: RouteTable, supplies: Supplies, thread: SimulatedThread,
    sink: SimulatedSink,
    random: RandomBytes, policy: GatewayPolicy, schedule: RetrySchedule = .standard,
    believesWallClock: Bool = false, in process: SimulatedProcess? = nil, clock: WallClock? = nil
  ) {
    let (clock, scheduler) = (clock ?? thread.clock, thread.scheduler(of: process))
    (self.number, self.process) = (number, process)
    self.routes = routes.names
    gateway = PaymentGateway(
      opener: supplies.opener, journal: Journal(database, random: random), routes: routes, clock: clock,
      random: random, scheduler: believesWallClock ? thread.settableScheduler : scheduler, policy: policy,
      crashes: CrashPoints { await thread.stop($0.rawValue, of: process) })
    orderService = OrderService(
      gateway: gateway, terms: { _ in MerchantTerms() }, clock: clock,
      random: random)
    platform = supplies.platform(gateway, clock, random)
    self.schedule = AgreementScheduler(gateway, scheduler: scheduler)
    dispatcher = WebhookDispatcher(
      database: database, endpoints: { _ in [sink.endpoint] },
      destinations: DestinationGuard(allowsPrivate: true) { _ in SimulatedSink.addresses },
      network: DeliveryNetwork { _ in .init(sink.sender(of: process)) }, schedule: schedule, random: random,
      report: { if case .tried(let delivery, .dead, _) = $0 { sink.note(dead: delivery) } })
  }

  /// The steps of a payment without the rows that a checkout or a platform writes with its claim.
  func pay(_ order: Order, _ token: EncryptedPaymentToken, _ reply: @escaping (Answer) -> Void) {
    begin(reply) { [gateway] in try await gateway.pay(order, with: token) }
  }

  func perform(_ verb: Verb, _ payment: Payment, _ amount: Int64?, _ reply: @escaping (Answer) -> Void) {
    begin(reply) { [self] in try await gateway.perform(verb.followUp(payment, amount)).payment }
  }

  /// Has the gateway find out what became of a payment: an operator's `inquire`, or a merchant's server.
  func ask(_ payment: Payment) {
    Task.detached { [gateway, platform] in
      if payment.isKeyed {
        _ = try? await platform.show(payment.id.rawValue, of: payment.merchant)
      } else {
        _ = try? await gateway.inquire(payment.id)
      }
    }
  }

  /// - Parameter refused: called where an event would change a payment as the state table does not allow.
  func receive(
    _ call: InboundEvent, through route: String, refused: @escaping (String) -> Void,
    _ acknowledged: @escaping () -> Void
  ) {
    let (acknowledged, refused) = (Carried(acknowledged), Carried(refused))
    Task.detached { [gateway] in
      do {
        guard try await !gateway.receive(call, through: route).isEarly else { return }
        acknowledged.value()
      } catch JournalError.notPossible(let kind, let status) {
        refused.value("\(kind.rawValue) of a payment that is \(status.rawValue)")
      }
    }
  }

  func recover(_ done: @escaping () -> Void) {
    let done = Carried(done)
    Task.detached { [gateway] in
      _ = try? await gateway.recover()
      done.value()
    }
  }

  func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    Task.detached { [self] in
      _ = try? await dispatcher.round()
      isDelivering = false
    }
  }

  func begin(_ reply: @escaping (Answer) -> Void, _ work: @escaping @Sendable () async throws -> Payment) {
    let reply = Carried(reply)
    Task.detached {
      do {
        reply.value(.payment(try await work()))
      } catch {
        reply.value(.refused(Self.code(of: error)))
      }
    }
  }

  static func code(of error: any Error) -> String {
    switch error {
    case let error as GatewayError: error.code
    case let error as PaymentTokenError: error.code.rawValue
    case let error as OrderError: error.code.rawValue
    default: "\(error)"
    }
  }
}

/// Something that stays on the simulation's thread, whatever the type system must assume.
struct Carried<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

extension SimulatedThread {
  /// The engine's time. No thread sleeps: what waits, waits for an event of the simulation.
  func scheduler(of process: SimulatedProcess? = nil) -> Scheduler { scheduler(of: process) { self.uptime } }

  /// A defect: time that only counts, and is set with the wall clock.
  var settableScheduler: Scheduler { scheduler(of: nil) { self.uptime + self.offset } }

  private func scheduler(
    of process: SimulatedProcess?, _ uptime: @escaping @Sendable () -> Duration
  ) -> Scheduler {
    Scheduler(
      uptime: uptime,
      sleep: { duration in
        await self.suspended(of: process) { reply in self.after(duration, "a sleeper wakes") { reply(()) } }
      },
      finish: { work in await Task.detached { await work() }.value })
  }
}

/// The merchant's server, where webhooks arrive, or do not.
final class SimulatedSink: @unchecked Sendable {
  static let key = WebhookKey(id: "sink", secret: "a secret of the simulation")
  /// An address that a payment names for its own events, beside the merchant's.
  static let feedback = "https://feedback.example/hooks"
  static let addresses = NetworkAddress(bytes: [93, 184, 215, 14]).map { [($0, "93.184.215.14")] } ?? []

  private let thread: SimulatedThread
  private(set) var deliveries: [SinkDelivery] = []
  /// What the engine has given up.
  private(set) var deadLetters: Set<DeadLetter> = []
  private var moves = 0
  var trouble = 0
  /// Whom answers may reach.
  var life = 0

  init(_ thread: SimulatedThread) { self.thread = thread }

  /// Where it is now.
  var url: String { "https://sink.example/hooks/\(moves)" }
  var endpoint: WebhookEndpoint { WebhookEndpoint(url: url, key: Self.key) }

  /// It is somewhere else from now on, and answers nothing where it was.
  func move() { moves += 1 }

  func note(dead delivery: Delivery) {
    deadLetters.insert(DeadLetter(payment: delivery.payment.rawValue, sequence: delivery.sequence))
  }

  func sender(of process: SimulatedProcess?) -> HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      let status: Int = await self.thread.suspended(of: process) { reply in self.receive(request, timeout, reply) }
      guard status > 0 else { throw .timedOut }
      return InboundResponse(status: status)
    }
  }

  private func receive(_ request: OutboundRequest, _ timeout: Duration, _ reply: @escaping (Int) -> Void) {
    guard request.url != Self.feedback else {
      let life = life
      return thread.after(.milliseconds(50), "a payment's own address answers") { if self.life == life { reply(200) } }
    }
    let isHere = request.url == url
    let fate = !isHere ? 0 : trouble > 0 && thread.choices.chance(trouble) ? thread.choices.pick(3) : 3
    let (way, life) = (thread.choices.milliseconds(5...500), life)
    func deliver(_ delay: Duration, _ status: Int) {
      thread.after(delay, "the merchant's server says \(status)") { if self.life == life { reply(status) } }
    }
    switch fate {
    case 0: deliver(timeout, 0)
    case 1: deliver(way, 503)
    default:
      thread.after(way, "a webhook arrives") {
        self.keep(request)
        deliver(fate == 2 ? timeout : way, fate == 2 ? 0 : 200)
      }
    }
  }

  private func keep(_ request: OutboundRequest) {
    let body = (try? JSONReader.read(request.body)) ?? .null
    let tender = body["tender"] ?? .null
    func text(_ value: JSONValue?) -> String { if case .string(let text)? = value { text } else { "" } }
    func whole(_ name: String) -> Int64 { if case .integer(let number)? = tender[name] { number } else { 0 } }
    let signature = request.headers.filter { $0.name == "X-GCS-Signature" }.map(\.value)
    deliveries.append(
      SinkDelivery(
        payment: text(tender["paymentId"]), sequence: whole("sequence"),
        news: .init(text(tender["status"]), captured: whole("captured"), refunded: whole("refunded")),
        id: text(body["id"]),
        isAuthentic: signature == [Self.key.signature(of: request.body)]))
  }
}
