import Foundation
import HTTPTransport
import Settings
import StrictJSON
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// Random bytes that hold up the threads which ask for so many as a test says, until it ends.
private final class HeldRandom: Sendable {
  private struct State {
    var held: Int?
    var waiting = 0
    var isOver = false
  }

  private let state = Mutex(State())
  private let end = DispatchSemaphore(value: 0)

  var bytes: RandomBytes {
    RandomBytes { [self] count in
      let isHeld = state.withLock { state in
        guard state.held == count, !state.isOver else { return false }
        state.waiting += 1
        return true
      }
      if isHeld { end.wait() }
      return RandomBytes.system.next(count)
    }
  }

  var waiting: Int { state.withLock(\.waiting) }

  /// Holds up from now on who asks for so many bytes; nobody more for nil.
  func hold(_ count: Int?) { state.withLock { $0.held = count } }

  func release() {
    let waiting = state.withLock { state in
      state.isOver = true
      return state.waiting
    }
    for _ in 0..<waiting { end.signal() }
  }
}

/// The office and the command line with every one of their threads busy.
@Suite struct `A server whose back office and administration stand still` {
  /// What the requests below ask the random source for.
  private static let (bytesOfCookie, bytesOfRequestID) = (32, 12)
  /// More than there are threads, whoever has them.
  private static let requests = 2 * ProcessInfo.processInfo.activeProcessorCount + SeparateListener.threads

  @Test func `takes a shopper's payment`() async throws {
    let (system, random, office) = (try await TestSystem.shared.value, HeldRandom(), try FreePorts.row(of: 1))
    let shop = try await system.secondServer(random: random.bytes) { $0.office.port = office }
    // A cookie is made for each of these, and an id for each of those.
    random.hold(Self.bytesOfCookie)
    async let pages = RawConnection.onThread { try Self.pages(office) }
    defer { random.release() }
    try await Self.standsStill(random, SeparateListener.threads)
    random.hold(Self.bytesOfRequestID)
    async let lists = Self.lists(shop)
    defer { random.release() }
    try await Self.standsStill(random, 2 * SeparateListener.threads)
    random.hold(nil)
    let answer = try await Shopper.enters(system, shop).pays()
    #expect(answer.body["status"] == "captured", "\(answer.errorText)")
    #expect(random.waiting == 2 * SeparateListener.threads)
    random.release()
    let statuses = try await pages + lists
    #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses)")
  }

  private static func standsStill(_ random: HeldRandom, _ threads: Int) async throws {
    try await waitFor("\(threads) threads that are held up", { random.waiting }) { $0 == threads }
  }

  private static func pages(_ port: Int) throws -> [Int] {
    let connections = try (0..<requests).map { _ in
      let connection = try RawConnection.Shared(port: port)
      try connection.value.send("GET /sign-in HTTP/1.1\nHost: localhost\n\n")
      return connection
    }
    return try connections.map { try $0.value.answers(1)[0].status }
  }

  private static func lists(_ shop: Shopfront) async throws -> [Int] {
    let socket = "\(shop.store)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
    let request = OutboundRequest(method: "GET", url: "http+unix://\(socket)/payments")
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<requests { group.addTask { try await shop.sender.send(request, TestRun.whole).status } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }
}
