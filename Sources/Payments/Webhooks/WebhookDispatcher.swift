import Ledger
package import Storage
package import Telemetry
package import TenderPayments

/// Notifies merchants of changes of their payments: at least once, and in order within each payment.
///
/// Read from top to bottom: an event leaves the outbox and becomes a delivery to each of the merchant's endpoints; what
/// is due is sent, queue by queue; what was not acknowledged waits longer each time, until it is a dead letter. An
/// event is marked delivered only after the merchant's server has answered 2xx, so a process that dies in between sends
/// it again.
package struct WebhookDispatcher: Sendable {
  let database: Database
  private let endpoints: @Sendable (MerchantID) -> [WebhookEndpoint]?
  let keys: @Sendable (MerchantID) -> WebhookKey?
  private let destinations: DestinationGuard
  private let network: DeliveryNetwork
  private let orders: OrderReader
  private let schedule: RetrySchedule
  private let concurrency: Int
  let random: RandomBytes
  private let clock: WallClock
  private let report: @Sendable (WebhookReport) -> Void
  private let telemetry: Telemetry
  private let busy: BusyQueues

  /// How long one try may take.
  package static let timeout: Duration = .seconds(10)
  /// How long a delivery belongs to the process that tries it.
  static let lease: Duration = .seconds(60)
  /// How many commits' worth of new events are moved to the queues before these have their turn.
  private static let pages = 16
  /// How long an endpoint's connections are kept open for more: its URL, its key or its address may change.
  private static let longestWait: Duration = .seconds(10)
  /// How soon the dispatcher looks again after it has found something: events in small portions delay payments less.
  private static let busyPause: Duration = .milliseconds(100)

  /// - Parameters:
  ///   - database: opened with the ledger's migrations and ``migrations``.
  ///   - endpoints: a merchant's endpoints as they are now; none for a merchant who wants no events; nil for one that
  ///     this process does not serve, whose events wait in the outbox for ``OutboxEvent/longestWait``.
  ///   - keys: the key that a merchant's webhooks are signed with, for the addresses of ``PaymentWebhooks``; nil where it
  ///     has none, and their events wait.
  ///   - orders: reads the order of an event's payment.
  ///   - concurrency: how many tries are under way at one endpoint at most.
  ///   - queueLimit: to how many endpoints is sent at once. One merchant, whose payments may each name addresses of their
  ///     own, has an eighth of them.
  ///   - clock: for signatures that say when they were made.
  ///   - report: receives every try, for logs and metrics.
  ///   - telemetry: begins each hand-over and each try.
  package init(
    database: Database, endpoints: @escaping @Sendable (MerchantID) -> [WebhookEndpoint]?,
    keys: @escaping @Sendable (MerchantID) -> WebhookKey? = { _ in nil }, destinations: DestinationGuard,
    network: DeliveryNetwork, orders: OrderReader = .none, schedule: RetrySchedule = .standard,
    concurrency: Int = 16, queueLimit: Int = 128, random: RandomBytes = .system, clock: WallClock = .system,
    report: @escaping @Sendable (WebhookReport) -> Void = { _ in }, telemetry: Telemetry = .off
  ) {
    self.database = database
    self.endpoints = endpoints
    self.keys = keys
    self.destinations = destinations
    self.network = network
    self.orders = orders
    self.schedule = schedule
    (self.concurrency, busy) = (concurrency, BusyQueues(limit: queueLimit))
    (self.random, self.clock) = (random, clock)
    (self.report, self.telemetry) = (report, telemetry)
  }

  /// Delivers until the task is cancelled. A queue that is slow does not hold up another.
  ///
  /// - Parameters:
  ///   - pause: how long it waits when nothing happens, and before it looks for tries that have become due.
  ///   - limit: after how long without an event it closes the connections to an endpoint; by default after twice the
  ///     pause.
  package func run(lookingEvery pause: Duration = .seconds(1), closingAfter limit: Duration? = nil) async {
    let limit = limit ?? pause * 2
    await withDiscardingTaskGroup { group in
      var (sinceQueues, sinceRefused) = (pause, Duration.zero)
      var left = LeftEvents()
      while !Task.isCancelled {
        var wait = pause
        do {
          if let queues = try await handOver(butOf: &left) {
            wait = min(pause, Self.busyPause)
            drain(queues, limit, in: &group)
          }
          if sinceQueues >= pause {
            drain(try await queues(), limit, in: &group)
            sinceQueues = .zero
          }
        } catch {
          report(.trouble("\(error)"))
        }
        try? await Task.sleep(for: wait)
        sinceQueues += wait
        sinceRefused += wait
        if sinceRefused >= LeftEvents.pauseOfRefused { (left.refused, sinceRefused) = ([:], .zero) }
      }
      group.cancelAll()
    }
  }

  private func drain(
    _ queues: some Sequence<EndpointQueue>, _ limit: Duration, in group: inout DiscardingTaskGroup
  ) {
    // In any order, so that none is always the last where there are more than may be drained at once.
    for queue in queues.shuffled() where busy.enter(queue) {
      group.addTask {
        let end = ContinuousClock.now + max(limit, Self.longestWait)
        await reporting {
          try await drain(queue) { ContinuousClock.now < end ? await busy.hasMore(queue, within: limit) : false }
        }
        busy.leave(queue)
      }
    }
  }

  /// Does a thing at an address beside the queues, if the merchant and all together have a place for one more.
  ///
  /// - Returns: nil when there is no place.
  func withPlace<R>(for merchant: MerchantID, _ name: String, _ work: () async throws -> R) async rethrows -> R? {
    let place = EndpointQueue(merchant: merchant, endpoint: name)
    guard busy.enter(place) else { return nil }
    defer { busy.leave(place) }
    return try await work()
  }

  /// One round of the same: everything that is due is tried, and the round ends when it is.
  ///
  /// - Returns: how many tries were made.
  @discardableResult
  package func round() async throws -> Int {
    var left = LeftEvents()
    try await handOver(butOf: &left)
    var tries = 0
    for queue in try await queues() { tries += try await drain(queue) { false } }
    return tries
  }

  /// Moves new events from the outbox to the endpoints' queues. Bounded: where events are written faster than they are
  /// moved, the queues have their turn all the same.
  ///
  /// - Parameter left: what earlier looks left in the outbox.
  /// - Returns: the queues that have got any; nil when there were no events.
  @discardableResult
  private func handOver(butOf left: inout LeftEvents) async throws -> Set<EndpointQueue>? {
    left.merchants = left.merchants.filter { endpoints($0) == nil }
    var all: Set<EndpointQueue>?
    for _ in 0..<Self.pages {
      do {
        let found = try await telemetry.begin(.handOver) { try await handOverPage(butOf: left, $0) }
        guard let queues = found else { break }
        all = queues.union(all ?? [])
      } catch let found as LeftEvents {
        for words in left.add(found) { report(.trouble(words)) }
      }
    }
    return all
  }

  /// One commit: what is added to the queues is taken out of the outbox with it. Nil when nothing was due.
  ///
  /// - Throws: ``LeftEvents``, and takes nothing, where more events have to stay.
  private func handOverPage(butOf left: LeftEvents, _ activity: Activity) async throws -> Set<EndpointQueue>? {
    let (queues, events) = try await database.write { store in
      let events = try OutboxEvent.take(
        for: .webhooks, payments: PaymentWebhooks.page, butOf: left, in: store)
      let merchants = Set(events.map(\.merchant))
      let served = merchants.reduce(into: [:]) { $0[$1] = endpoints($1) }
      let found = merchants.subtracting(served.keys).subtracting(left.merchants)
      guard found.isEmpty else { throw LeftEvents(merchants: found) }
      let addresses = try PaymentWebhooks.addresses(of: Set(events.map(\.payment)), in: store)
      var queues: Set<EndpointQueue> = []
      for event in events {
        guard let own = served[event.merchant] else { continue }
        let key = keys(event.merchant)
        for endpoint in own + (addresses[event.payment] ?? []).compactMap({ PaymentWebhooks.endpoint($0, key) }) {
          do { try Deliveries.add(event, to: endpoint, in: store) } catch let error as StorageError {
            throw left.refusal(of: event, error)
          }
          queues.insert(EndpointQueue(merchant: event.merchant, endpoint: endpoint.id))
        }
      }
      return (events.isEmpty ? nil : queues, events.map { (event: $0, isServed: served[$0.merchant] != nil) })
    }
    events.isEmpty ? activity.drop() : activity.note(.events(events.count))
    for event in events { activity.link(to: event.event.trace) }
    for (event, isServed) in events where !isServed {
      let words = "event \(event.sequence) of payment \(event.payment)"
      report(.trouble("\(words) goes to nobody: for 30 days no server has served \(event.merchant)"))
    }
    return queues
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
  ///
  /// - Parameter hasMore: waits whether more becomes due, with the connections open.
  private func drain(_ queue: EndpointQueue, _ hasMore: () async -> Bool) async throws -> Int {
    let own = endpoints(queue.merchant)
    let endpoint =
      own?.first { $0.id == queue.endpoint } ?? PaymentWebhooks.endpoint(queue.endpoint, keys(queue.merchant))
    let line: OpenedLine =
      if let endpoint { await open(endpoint) } else { .refused(own == nil ? Self.unserved : Self.removed) }
    do {
      var tries = 0
      repeat { tries += try await deliver(queue, endpoint, line) } while await hasMore()
      await line.close()
      return tries
    } catch {
      await line.close()
      throw error
    }
  }

  /// Tries run beside the commits. One commit writes the results of all tries that have ended since the one before, and
  /// claims what comes next: the next event of a payment is due when the try of the one before is written.
  private func deliver(_ queue: EndpointQueue, _ endpoint: WebhookEndpoint?, _ line: OpenedLine) async throws -> Int {
    try await withThrowingTaskGroup(of: QueueWork.Step.self) { group in
      var work = QueueWork(width: concurrency)
      repeat {
        for claimed in work.nextTries() { group.addTask { .tried(await attempt(claimed, endpoint, line)) } }
        if let (results, limit) = work.nextCommit() {
          group.addTask { .committed(try await commit(results, claiming: limit, of: queue, endpoint)) }
        }
        if let step = try await group.next() { work.note(step) }
      } while work.goesOn
      return work.tries
    }
  }

  /// - Parameter limit: how many deliveries are claimed at most.
  private func commit(
    _ results: [QueueWork.Result], claiming limit: Int, of queue: EndpointQueue, _ endpoint: WebhookEndpoint?
  ) async throws -> [QueueWork.Claimed] {
    let ends = results.map { end(of: $0, endpoint?.url ?? $0.delivery.url) }
    let (areOurs, due) = try await database.write { store in
      (
        try Deliveries.finish(ends, in: store),
        try Deliveries.claim(queue, limit: limit, until: store.now.adding(Self.lease), in: store)
      )
    }
    for (end, isOurs) in zip(ends, areOurs) where isOurs { report(.tried(end.delivery, end.state, end.result)) }
    return try await read(due, endpoint)
  }

  private func end(of result: QueueWork.Result, _ url: String) -> Deliveries.End {
    let chance = random.next(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    let wait = schedule.wait(afterFailures: result.delivery.tries + 1, chance: chance)
    let state: Delivery.State =
      switch result.attempt {
      case .taken: .delivered
      case .failed: wait == nil ? .dead : .waiting
      case .hopeless: .dead
      }
    return Deliveries.End(
      delivery: result.delivery, state: state, url: url, result: result.attempt.words, wait: wait ?? .zero)
  }

  private func read(_ due: [Delivery], _ endpoint: WebhookEndpoint?) async throws -> [QueueWork.Claimed] {
    guard let endpoint, !due.isEmpty else { return due.map { QueueWork.Claimed(delivery: $0, body: nil) } }
    return try await database.read { [orders] store in
      let events = try OutboxEvent.find(due.map { ($0.payment, $0.sequence) }, in: store)
      return try zip(due, events).map { delivery, found in
        guard case .success(let event)? = found else {
          return QueueWork.Claimed(delivery: delivery, body: nil, isUnreadable: found != nil)
        }
        let body = try WebhookBody(event, order: orders.read(event, endpoint.includesOrder, store))
        return QueueWork.Claimed(delivery: delivery, body: body, trace: event.trace)
      }
    }
  }

  /// The URL is checked and its host resolved at every opening: both may have changed since the last.
  func open(_ endpoint: WebhookEndpoint) async -> OpenedLine {
    do {
      let destination = try await destinations.destination(endpoint.url)
      return .open(try network.open(destination))
    } catch let refusal as DestinationRefusal {
      return .refused(.failed(refusal.words))
    } catch {
      return .refused(.failed("\(error)"))
    }
  }

  private func attempt(
    _ claimed: QueueWork.Claimed, _ endpoint: WebhookEndpoint?, _ line: OpenedLine
  ) async -> QueueWork.Result {
    if case .refused(let reason) = line { return claimed.result(reason) }
    if claimed.isUnreadable { return claimed.result(.failed("this version cannot read the event")) }
    guard let endpoint, let body = claimed.body else {
      return claimed.result(.hopeless("the event is not in the journal"))
    }
    return await telemetry.begin(.deliver, from: claimed.trace) { activity in
      activity.note(
        .payment(claimed.delivery.payment), .merchant(claimed.delivery.merchant), .tries(claimed.delivery.tries + 1))
      let attempt = await line.send(body, endpoint, Self.timeout, at: clock.machine())
      activity.note(.answer(attempt.word))
      return claimed.result(attempt)
    }
  }

  private static let removed = DeliveryAttempt.hopeless(
    "the merchant's configuration has no endpoint of this name any more")
  private static let unserved = DeliveryAttempt.failed("this server does not serve the merchant")
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
