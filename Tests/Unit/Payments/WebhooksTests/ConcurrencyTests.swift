import HTTPTransport
import StrictJSON
import Synchronization
import TenderPayments
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
    let sender = HTTPSender { request, patience throws(TransportError) in
      await self.begin()
      defer { self.state.withLock { $0.running -= 1 } }
      return try await self.server.sender.send(request, patience)
    }
    return WebhookDispatcher(
      database: post.database, endpoints: { _ in [WebhookEndpoint(id: "1", url: Post.url, key: Post.key)] },
      destinations: .open(), network: DeliveryNetwork { _ in .init(sender) }, concurrency: concurrency)
  }

  private func begin() async {
    let number = state.withLock { state in
      (state.running, state.came) = (state.running + 1, state.came + 1)
      state.most = max(state.most, state.running)
      return state.came
    }
    try? await Task.sleep(for: .milliseconds(2))
    if number <= together { await wait { $0.most >= together } }
    guard number == 1 else { return }
    await wait { $0.came >= goal }
    state.withLock { $0.hasWaited = $0.came >= goal }
  }

  /// For ten seconds at most.
  private func wait(until isReached: (State) -> Bool) async {
    for _ in 0..<2_000 where !state.withLock({ isReached($0) }) { try? await Task.sleep(for: .milliseconds(5)) }
  }
}
