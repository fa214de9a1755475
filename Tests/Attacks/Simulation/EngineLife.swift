import Acquiring
import Auditing
import ApplePayToken
import Gateway
import HTTPTransport
import Ledger
import Orders
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

  /// What came of a call with an idempotency key.
  enum Keyed: CustomStringConvertible {
    case answered(KeyedAnswer)
    case inUse
    case refused(String)

    var description: String {
      switch self {
      case .answered(let answer): "\(kind): \(answer.reply.body)"
      case .inUse: kind
      case .refused(let code): code
      }
    }

    /// As coverage counts it.
    var kind: String {
      switch self {
      case .answered(let answer): (answer.isFinal ? "answered" : "open") + (answer.isReplay ? " again" : "")
      case .inUse: "in use"
      case .refused: "refused"
      }
    }

    static let kinds = ["answered", "answered again", "open", "open again", "in use", "refused"]
  }

  let number: Int
  /// In which it runs; nil where there is only one.
  let process: SimulatedProcess?
  /// The routes that are configured.
  let routes: [String]
  let gateway: PaymentGateway
  /// Places orders over this gateway.
  let orderService: OrderService
  private let dispatcher: WebhookDispatcher
  private(set) var isDelivering = false

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
    dispatcher = WebhookDispatcher(
      database: database, endpoints: { _ in [sink.endpoint] },
      destinations: DestinationGuard(allowsPrivate: true) { _ in SimulatedSink.addresses },
      network: DeliveryNetwork { _ in .init(sink.sender(of: process)) }, schedule: schedule, random: random,
      report: { if case .tried(let delivery, .dead, _) = $0 { sink.note(dead: delivery) } })
  }

  func pay(_ order: Order, _ token: EncryptedPaymentToken, _ reply: @escaping (Answer) -> Void) {
    begin(reply) { [self] in try await reported(try await gateway.pay(order, with: token)) }
  }

  /// As a platform's API does it, for a shop whose server calls under an idempotency key.
  func pay(
    _ order: Order, _ token: EncryptedPaymentToken, under key: String, _ replied: @escaping (KeyedAnswer) -> Void,
    _ reply: @escaping (Answer) -> Void
  ) {
    let replied = Carried(replied)
    let call = IdempotentCall(
      merchant: order.merchant, call: "pay \(order.id)", key: IdempotencyKey(key), requestHash: "token")
    begin(reply) { [self] in
      let answer = try await gateway.pay(order, with: token, under: call)
      replied.value(answer)
      let outcome = try await gateway.journal.outcome(of: AttemptReference(answer.reply.operation))
      return try await reported(outcome.payment)
    }
  }

  /// As placing an order does: after *pending*, the final outcome is reported now.
  private func reported(_ payment: Payment) async throws -> Payment {
    guard payment.status.isResolved, payment.reportedStatus == nil else { return payment }
    // A store that takes no writes does not keep them from hearing it.
    return (try? await gateway.journal.markReported(payment.id)) ?? payment
  }

  func perform(_ verb: Verb, _ payment: Payment, _ amount: Int64?, _ reply: @escaping (Answer) -> Void) {
    begin(reply) { [self] in try await gateway.perform(verb.followUp(payment, amount)).payment }
  }

  func perform(_ request: KeyedRequest, _ reply: @escaping (Keyed) -> Void) {
    let reply = Carried(reply)
    let (verb, payment, amount, call) = (request.verb, request.payment, request.amount, request.call)
    Task.detached { [self] in
      do {
        reply.value(.answered(try await gateway.perform(verb.followUp(payment, amount), under: call)))
      } catch GatewayError.callInProgress {
        reply.value(.inUse)
      } catch {
        reply.value(.refused(Self.code(of: error)))
      }
    }
  }

  /// Has the gateway find out what became of a payment, as `inquire` of the merchant's interface does.
  func ask(_ payment: Payment) {
    Task.detached { [gateway] in _ = try? await gateway.inquire(payment.id) }
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

  private static func code(of error: any Error) -> String {
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
