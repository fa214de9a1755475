import LoadGenerator
import NIOCore
import NIOPosix
import Synchronization
import TenderTesting
import Testing

@Suite struct `A server that stands still` {
  private let check = Standstill(stop: .seconds(2), run: .seconds(60))

  /// What the calls of a run wait for when the server answers at once but for two seconds.
  private func run(closed: Bool) -> Latencies {
    let due = Schedule.even(rate: 100, for: check.run).offsets.map(\.seconds)
    let stop = 20.0..<22.0
    // A closed loop has one call under way, and sends no other until that one is answered.
    let sent = closed ? due.filter { !stop.contains($0) || $0 == stop.lowerBound } : due
    return Latencies(sent.map { stop.contains($0) ? Int64((stop.upperBound - $0) * 1e6) : 1_000 })
  }

  @Test func `shows in the percentiles when the schedule is kept`() throws {
    #expect(abs(check.expected - 1_400) < 1e-6)
    #expect(check.shows(in: try #require(run(closed: false).percentile(0.99))))
  }

  @Test func `a generator that waits with the server is found out`() throws {
    let seen = try #require(run(closed: true).percentile(0.99))
    #expect(seen == 1)
    #expect(!check.shows(in: seen))
  }

  @Test func `so is one that reports an impossible wait`() {
    #expect(!check.shows(in: 3_500))
  }
}

@Suite struct `The generator` {
  @Test func `counts from the moment at which a call was due, and keeps its schedule`() async throws {
    // A generator that waits for an answer before it makes the next call would wait for ever.
    let server = try await SlowServer(delay: .milliseconds(300), together: 60)
    let generator = LoadGenerator(port: server.port)
    let report = try await generator.openLoop(
      Array(repeating: SlowServer.request, count: 60), .even(rate: 100, for: .milliseconds(600)),
      timeout: TestRun.whole)
    #expect(report.answers.count == 60)
    #expect(report.drops == 0)
    #expect(report.answers.allSatisfy { $0.microseconds >= 300_000 && $0.status == 503 && $0.hasRetryAfter })
    try await generator.close()
    try await server.close()
  }

  @Test func `counts what found no connection as dropped`() async throws {
    let server = try await SlowServer(delay: .zero)
    let generator = LoadGenerator(port: server.port, connections: 2)
    // All are due at once, so none is given a connection on which another has been answered.
    let report = try await generator.openLoop(
      Array(repeating: SlowServer.request, count: 20), .even(rate: 1e9, for: .microseconds(1)),
      timeout: TestRun.whole)
    #expect(report.answers.count == 2)
    #expect(report.drops == 18)
    try await generator.close()
    try await server.close()
  }

  @Test func `ends by time, and counts what was not answered as dropped`() async throws {
    let server = try await SlowServer(delay: TimeAmount(TestRun.whole))
    let generator = LoadGenerator(port: server.port)
    let report = try await generator.openLoop(
      Array(repeating: SlowServer.request, count: 5), .even(rate: 1_000, for: .milliseconds(5)),
      timeout: .milliseconds(200))
    #expect(report.answers.isEmpty)
    #expect(report.drops == 5)
    try await generator.close()
    try await server.close()
  }

  @Test func `keeps so many calls under way in a closed loop, and no more`() async throws {
    let server = try await SlowServer(delay: .milliseconds(50))
    let generator = LoadGenerator(port: server.port, connections: 4)
    let report = try await generator.closedLoop(
      Array(repeating: SlowServer.request, count: 20), width: 4, for: TestRun.whole, timeout: TestRun.whole)
    #expect(report.answers.count == 20)
    #expect(report.drops == 0)
    #expect(report.elapsed >= .milliseconds(250))
    try await generator.close()
    try await server.close()
  }
}

/// Answers every call after a while, each on its own.
private struct SlowServer {
  static let request = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")

  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let channel: any Channel

  /// - Parameter together: it answers nothing before it has so many calls.
  init(delay: TimeAmount, together: Int = 1) async throws {
    let calls = Calls(together)
    channel = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Line(calls, delay: delay))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  func close() async throws { try await group.shutdownGracefully() }

  /// The calls that wait for others.
  private final class Calls: Sendable {
    private let together: Int
    private let state = Mutex<(came: Int, waiting: [any Channel])>((0, []))

    init(_ together: Int) { self.together = together }

    /// - Returns: the lines that are to be answered now.
    func come(on line: any Channel) -> [any Channel] {
      state.withLock { state in
        state = (state.came + 1, state.waiting + [line])
        guard state.came >= together else { return [] }
        defer { state.waiting = [] }
        return state.waiting
      }
    }
  }

  private final class Line: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let calls: Calls
    private let delay: TimeAmount

    init(_ calls: Calls, delay: TimeAmount) { (self.calls, self.delay) = (calls, delay) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let answer = ByteBuffer(
        string: "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\nRetry-After: 1\r\n\r\n{}")
      for channel in calls.come(on: context.channel) {
        channel.eventLoop.scheduleTask(in: delay) { channel.writeAndFlush(answer, promise: nil) }
      }
    }
  }
}
