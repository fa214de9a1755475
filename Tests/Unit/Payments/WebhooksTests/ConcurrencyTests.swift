import Dispatch
import HTTPTransport
import Storage
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import Webhooks

@Suite struct `Webhooks at the same time` {
  @Test func `are as many to an endpoint as it may get, and each payment's come in order`() async throws {
    let post = try await Post()
    for number in 1...12 { try await post.pays(number) }
    let server = BusyServer(post.server, together: 4)
    #expect(try await server.dispatcher(post, concurrency: 4).round() == 36)
    #expect(server.most == 4)
    let payments = Dictionary(grouping: post.server.bodies) { $0["tender"]?["paymentId"]?.text }
    #expect(payments.count == 12)
    for bodies in payments.values { #expect(bodies.compactMap { $0["tender"]?["sequence"]?.whole } == [1, 2, 3]) }
  }

  @Test func `do not wait for one that is answered late`() async throws {
    let post = try await Post()
    for number in 1...12 { try await post.pays(number) }
    let server = BusyServer(post.server, firstWaitsFor: 34)
    #expect(try await server.dispatcher(post, concurrency: 4).round() == 36)
    #expect(server.hasWaited)
  }

  /// A payment may name addresses of its own, so a merchant can have any number of endpoints.
  @Test(arguments: [(128, 16), (24, 3)])
  func `reach an eighth of the endpoints of all at one merchant, and the others in their turn`(
    limit: Int, ofMerchant: Int
  ) async throws {
    let post = try await Post()
    try await post.pays()
    let counts = Mutex((now: 0, most: 0))
    let isHeld = Mutex(true)
    let sender = HTTPSender { request, timeout throws(TransportError) in
      counts.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      defer { counts.withLock { $0.now -= 1 } }
      try? await waitUntil("the release") { !isHeld.withLock(\.self) }
      return try await post.server.sender.send(request, timeout)
    }
    let endpoints = (1...40).map { WebhookEndpoint(id: "\($0)", url: "\(Post.url)/\($0)", key: Post.key) }
    let dispatcher = WebhookDispatcher(
      database: post.database, endpoints: { _ in endpoints }, destinations: .open(),
      network: DeliveryNetwork { _ in .init(sender) }, queueLimit: limit)
    let running = Task { await dispatcher.run(lookingEvery: .milliseconds(20)) }
    try await waitUntil("tries") { counts.withLock(\.now) >= ofMerchant }
    isHeld.withLock { $0 = false }
    try await waitUntil("all deliveries") { post.server.bodies.count == 120 }
    running.cancel()
    await running.value
    #expect(counts.withLock(\.most) == ofMerchant)
  }

  @Test func `follow one another while the results of those before wait for their commit`() async throws {
    let post = try await Post()
    for number in 1...4 { try await post.pays(number) }
    let writer = HeldWriter(post.database)
    defer { writer.release() }
    let requests = Mutex<[Bool]>([])
    let sender = HTTPSender { request, timeout throws(TransportError) in
      if requests.withLock({ $0.isEmpty }) { await writer.hold() }
      requests.withLock { $0.append(writer.isHeld) }
      if requests.withLock({ $0.count }) == 4 { writer.release() }
      return try await post.server.sender.send(request, timeout)
    }
    #expect(try await post.dispatcher(sender, concurrency: 1).round() == 12)
    #expect(requests.withLock { $0.prefix(4) } == [true, true, true, true])
    #expect(try await post.backlog.waiting == 0)
  }

  @Test func `go over connections that stay open for what comes next`() async throws {
    let post = try await Post()
    let opened = Mutex(0)
    let dispatcher = post.dispatcher(post.server.sender, concurrency: 4) { opened.withLock { $0 += 1 } }
    let running = Task { await dispatcher.run(lookingEvery: .milliseconds(20), closingAfter: TestRun.whole) }
    defer { running.cancel() }
    for number in 1...3 {
      try await post.pays(number)
      try await waitUntil("the deliveries of payment \(number)") { post.server.bodies.count >= number * 3 }
    }
    running.cancel()
    await running.value
    #expect(post.server.bodies.count == 9)
    #expect(opened.withLock { $0 } == 1)
  }
}

extension Post {
  fileprivate func dispatcher(
    _ sender: HTTPSender, concurrency: Int, opening: @escaping @Sendable () -> Void = {}
  ) -> WebhookDispatcher {
    let network = DeliveryNetwork { _ in
      opening()
      return .init(sender)
    }
    return WebhookDispatcher(
      database: database, endpoints: { _ in [WebhookEndpoint(id: "1", url: Post.url, key: Post.key)] },
      destinations: .open(), network: network, concurrency: concurrency)
  }
}

/// A store whose single writer is busy with something else.
private final class HeldWriter: Sendable {
  private let database: Database
  private let isRunning = Mutex(false)
  private let gate = DispatchSemaphore(value: 0)

  init(_ database: Database) { self.database = database }

  var isHeld: Bool { isRunning.withLock { $0 } }

  func hold() async {
    Task {
      try await database.write { [self] _ in
        isRunning.withLock { $0 = true }
        // The dispatcher waits for this commit, so nobody releases it in a test that fails before.
        while gate.wait(timeout: .now() + .milliseconds(50)) == .timedOut, !TestRun.isOver {}
        isRunning.withLock { $0 = false }
      }
    }
    try? await waitUntil("the writer's turn") { isHeld }
  }

  func release() { gate.signal() }
}

/// A merchant's server that takes some time to answer, and counts how many requests it has at a time.
private final class BusyServer: Sendable {
  private struct State {
    var (running, most, came) = (0, 0, 0)
    var hasWaited = false
  }
  private let server: MerchantServer
  private let together: Int
  private let goal: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - together: the first requests are answered when it has so many at a time.
  ///   - goal: the first request is answered when so many have come.
  init(_ server: MerchantServer, together: Int = 1, firstWaitsFor goal: Int = 1) {
    (self.server, self.together, self.goal) = (server, together, goal)
  }

  var most: Int { state.withLock { $0.most } }
  var hasWaited: Bool { state.withLock { $0.hasWaited } }

  func dispatcher(_ post: Post, concurrency: Int) -> WebhookDispatcher {
    let sender = HTTPSender { request, timeout throws(TransportError) in
      await self.begin()
      defer { self.state.withLock { $0.running -= 1 } }
      return try await self.server.sender.send(request, timeout)
    }
    return post.dispatcher(sender, concurrency: concurrency)
  }

  private func begin() async {
    let number = state.withLock { state in
      (state.running, state.came) = (state.running + 1, state.came + 1)
      state.most = max(state.most, state.running)
      return state.came
    }
    try? await Task.sleep(for: .milliseconds(2))
    if number <= together { await wait("\(together) requests at a time") { $0.most >= together } }
    guard number == 1 else { return }
    await wait("\(goal) requests") { $0.came >= goal }
    state.withLock { $0.hasWaited = $0.came >= goal }
  }

  private func wait(_ wanted: String, until isReached: (State) -> Bool) async {
    try? await waitUntil(wanted) { state.withLock { isReached($0) } }
  }
}
