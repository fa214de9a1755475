package import Ledger
package import Storage
import Synchronization
package import TenderPayments

/// Notifies merchants of changes of their payments: at least once, and in order within each payment.
///
/// Read from top to bottom: an event leaves the outbox and becomes a delivery to each of the merchant's endpoints; what
/// is due is sent, queue by queue; what was not acknowledged waits longer each time, until it is a dead letter. An
/// event is marked delivered only after the merchant's server has answered 2xx, so a process that dies in between sends
/// it again.
package struct WebhookDispatcher: Sendable {
  let database: Database
  private let endpoints: @Sendable (MerchantID) -> [WebhookEndpoint]
  let keys: @Sendable (MerchantID) -> WebhookKey?
  private let destinations: DestinationGuard
  private let network: DeliveryNetwork
  private let orders: OrderReader
  private let schedule: RetrySchedule
  private let concurrency: Int
  private let alongside: @Sendable (OutboxEvent, Transaction) throws -> Void
  let random: RandomBytes
  private let report: @Sendable (WebhookReport) -> Void

  /// How long one try may take.
  package static let patience: Duration = .seconds(10)
  /// How long a delivery belongs to the process that tries it.
  static let lease: Duration = .seconds(60)
  /// How many commits' worth of new events are moved to the queues before these have their turn.
  private static let pages = 16
  /// How soon the dispatcher looks again after it has found something: events in small portions delay payments less.
  private static let busyPause: Duration = .milliseconds(100)

  /// - Parameters:
  ///   - database: opened with the ledger's migrations and ``migrations``.
  ///   - endpoints: a merchant's endpoints as they are now; none for a merchant who wants no events.
  ///   - keys: the key that a merchant's webhooks are signed with, for the addresses of ``PaymentWebhooks``; nil where it
  ///     has none.
  ///   - orders: reads the order of an event's payment.
  ///   - concurrency: how many tries are under way at one endpoint at most.
  ///   - alongside: is called with each event in the commit that takes it out of the outbox. What it throws keeps the
  ///     event there.
  ///   - report: receives every try, for logs and metrics.
  package init(
    database: Database, endpoints: @escaping @Sendable (MerchantID) -> [WebhookEndpoint],
    keys: @escaping @Sendable (MerchantID) -> WebhookKey? = { _ in nil }, destinations: DestinationGuard,
    network: DeliveryNetwork, orders: OrderReader = .none, schedule: RetrySchedule = .standard,
    concurrency: Int = 16, alongside: @escaping @Sendable (OutboxEvent, Transaction) throws -> Void = { _, _ in },
    random: RandomBytes = .system,
    report: @escaping @Sendable (WebhookReport) -> Void = { _ in }
  ) {
    self.database = database
    self.endpoints = endpoints
    self.keys = keys
    self.destinations = destinations
    self.network = network
    self.orders = orders
    self.schedule = schedule
    self.concurrency = concurrency
    self.alongside = alongside
    self.random = random
    self.report = report
  }

  /// Delivers until the task is cancelled. A queue that is slow does not hold up another.
  ///
  /// - Parameter pause: how long it waits when nothing happens, and before it opens new connections.
  package func run(lookingEvery pause: Duration = .seconds(1)) async {
    let busy = BusyQueues()
    await withDiscardingTaskGroup { group in
      var sinceQueues = pause
      while !Task.isCancelled {
        var wait = pause
        do {
          if try await handOver() { wait = min(pause, Self.busyPause) }
          if sinceQueues >= pause {
            try await drainQueues(busy, in: &group)
            sinceQueues = .zero
          }
        } catch {
          report(.trouble("\(error)"))
        }
        try? await Task.sleep(for: wait)
        sinceQueues += wait
      }
      group.cancelAll()
    }
  }

  private func drainQueues(_ busy: BusyQueues, in group: inout DiscardingTaskGroup) async throws {
    for queue in try await queues() where busy.enter(queue) {
      group.addTask {
        await reporting { try await drain(queue) }
        busy.leave(queue)
      }
    }
  }

  /// One round of the same: everything that is due is tried, and the round ends when it is.
  ///
  /// - Returns: how many tries were made.
  @discardableResult
  package func round() async throws -> Int {
    try await handOver()
    var tries = 0
    for queue in try await queues() { tries += try await drain(queue) }
    return tries
  }

  /// Moves new events from the outbox to the endpoints' queues. Bounded: where events are written faster than they are
  /// moved, the queues have their turn all the same.
  ///
  /// - Returns: whether there were any.
  @discardableResult
  private func handOver() async throws -> Bool {
    var pages = 0
    while pages < Self.pages, try await handOverPage() { pages += 1 }
    return pages > 0
  }

  /// One commit: what is added to the queues is taken out of the outbox with it. False when nothing waited.
  private func handOverPage() async throws -> Bool {
    try await database.write { store in
      let events = try OutboxEvent.take(payments: PaymentWebhooks.page, in: store)
      let addresses = try PaymentWebhooks.addresses(of: Set(events.map(\.payment)), in: store)
      for event in events {
        for endpoint in endpoints(of: event, and: addresses[event.payment] ?? []) {
          try Deliveries.add(event, to: endpoint, in: store)
        }
        try alongside(event, store)
      }
      return !events.isEmpty
    }
  }

  /// The merchant's endpoints, and one for each address that the payment was given; none for these where the merchant has
  /// no key.
  private func endpoints(of event: OutboxEvent, and paymentAddresses: [String]) -> [WebhookEndpoint] {
    let key = keys(event.merchant)
    return endpoints(event.merchant) + paymentAddresses.compactMap { PaymentWebhooks.endpoint($0, key) }
  }

  private func queues() async throws -> [EndpointQueue] {
    try await database.read { try Deliveries.queues(in: $0) }
  }

  private func reporting(_ work: () async throws -> Int) async {
    do { _ = try await work() } catch { report(.trouble("\(error)")) }
  }
}

extension WebhookDispatcher {
  /// Sends what is due in a queue until nothing is.
  private func drain(_ queue: EndpointQueue) async throws -> Int {
    let endpoint =
      endpoints(queue.merchant).first { $0.id == queue.endpoint }
      ?? PaymentWebhooks.endpoint(queue.endpoint, keys(queue.merchant))
    let line = await open(endpoint)
    do {
      let tries = try await deliver(queue, endpoint, line)
      await line.close()
      return tries
    } catch {
      await line.close()
      throw error
    }
  }

  /// The next deliveries are claimed when half of the tries have ended: a slow one delays no other, and one commit claims
  /// several. Fewer tries are not waited for together, because the next event of a payment is due when one of them ends.
  private func deliver(_ queue: EndpointQueue, _ endpoint: WebhookEndpoint?, _ line: OpenedLine) async throws -> Int {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var (tries, running) = (0, 0)
      while true {
        let due = try await claim(queue, limit: concurrency - running)
        for delivery in due { group.addTask { try await send(delivery, endpoint, line) } }
        (tries, running) = (tries + due.count, running + due.count)
        guard running > 0 else { return tries }
        let rest = min(running - 1, concurrency / 2)
        while running > rest {
          try await group.next()
          running -= 1
        }
      }
    }
  }

  private func send(_ delivery: Delivery, _ endpoint: WebhookEndpoint?, _ line: OpenedLine) async throws {
    let attempt = try await attempt(delivery, endpoint, line)
    try await finish(delivery, attempt, endpoint?.url ?? delivery.url)
  }

  private func claim(_ queue: EndpointQueue, limit: Int) async throws -> [Delivery] {
    try await database.write { store in
      try Deliveries.claim(queue, limit: limit, until: store.now.adding(Self.lease), in: store)
    }
  }

  /// The URL is checked and its host resolved at every opening: both may have changed since the last.
  func open(_ endpoint: WebhookEndpoint?) async -> OpenedLine {
    guard let endpoint else { return .refused(Self.removed) }
    do {
      let destination = try await destinations.destination(endpoint.url)
      return .open(try network.open(destination))
    } catch let refusal as DestinationRefusal {
      return .refused(refusal.words)
    } catch {
      return .refused("\(error)")
    }
  }

  private func attempt(
    _ delivery: Delivery, _ endpoint: WebhookEndpoint?, _ line: OpenedLine
  ) async throws -> DeliveryAttempt {
    guard let endpoint else { return .hopeless(Self.removed) }
    guard let body = try await body(of: delivery, endpoint.includesOrder) else {
      return .hopeless("the event is not in the journal")
    }
    return await line.send(body, endpoint, Self.patience)
  }

  private func body(of delivery: Delivery, _ includesOrder: Bool) async throws -> WebhookBody? {
    try await database.read { [orders] store in
      try OutboxEvent.find(delivery.payment, delivery.sequence, in: store).map { event in
        WebhookBody(event, order: try orders.read(event, includesOrder, store))
      }
    }
  }

  private static let removed = "the merchant's configuration has no endpoint of this name any more"

  private func finish(_ delivery: Delivery, _ attempt: DeliveryAttempt, _ url: String) async throws {
    let chance = random.next(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    let wait = schedule.wait(afterFailures: delivery.tries + 1, chance: chance)
    let state: Delivery.State =
      switch attempt {
      case .taken: .delivered
      case .failed: wait == nil ? .dead : .waiting
      case .hopeless: .dead
      }
    let isOurs = try await database.write { store in
      try Deliveries.finish(
        delivery, state, url: url, result: attempt.words, next: store.now.adding(wait ?? .zero), in: store)
    }
    if isOurs { report(.tried(delivery, state, attempt.words)) }
  }
}

// What operators read of the deliveries, and change.
extension WebhookDispatcher {
  package static func backlog(in database: Database) async throws -> WebhookBacklog {
    try await database.read { try Deliveries.backlog(in: $0) }
  }

  package static func deliveries(
    _ state: Delivery.State, of merchants: [MerchantID]? = nil, limit: Int = 50, in database: Database
  ) async throws -> [Delivery] {
    try await database.read { try Deliveries.list(state, of: merchants, limit: limit, in: $0) }
  }

  /// The deliveries of a payment's events, oldest first.
  package static func deliveries(of payment: PaymentID, in store: Transaction) throws -> [Delivery] {
    try Deliveries.all(of: payment, in: store)
  }

  /// Brings dead letters back: all, a payment's, or one.
  ///
  /// - Parameter endpoint: sends them to another endpoint of the merchant than theirs; what that one has been sent
  ///   already stays a dead letter.
  /// - Returns: how many.
  package static func replay(
    _ payment: PaymentID? = nil, sequence: Int64? = nil, to endpoint: String? = nil, in database: Database
  ) async throws -> Int {
    try await database.write { try Deliveries.replay(payment, sequence, to: endpoint, in: $0) }
  }
}

/// What the dispatcher reports. Never a body, never a key.
package enum WebhookReport: Sendable, Hashable {
  /// A try, the delivery's state after it, and its result.
  case tried(Delivery, Delivery.State, String)
  /// The store or the machine failed; the dispatcher goes on.
  case trouble(String)
}

/// The queues that are being drained.
private final class BusyQueues: Sendable {
  private let queues = Mutex<Set<EndpointQueue>>([])
  func enter(_ queue: EndpointQueue) -> Bool { queues.withLock { $0.insert(queue).inserted } }
  func leave(_ queue: EndpointQueue) { queues.withLock { _ = $0.remove(queue) } }
}
