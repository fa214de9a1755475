import LoadGenerator
import NIOCore
import NIOPosix
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
    let server = try await SlowServer(delay: .milliseconds(300))
    let generator = LoadGenerator(port: server.port)
    let report = try await generator.openLoop(
      Array(repeating: SlowServer.request, count: 60), .even(rate: 100, for: .milliseconds(600)))
    #expect(report.answers.count == 60)
    #expect(report.drops == 0)
    // One after another they would have taken 18 seconds.
    #expect(report.elapsed < .seconds(15))
    #expect(report.answers.allSatisfy { $0.microseconds >= 300_000 && $0.status == 503 && $0.hasRetryAfter })
    try await generator.close()
    try await server.close()
  }

  @Test func `counts what found no connection as dropped`() async throws {
    let server = try await SlowServer(delay: .milliseconds(500))
    let generator = LoadGenerator(port: server.port, connections: 2)
    let report = try await generator.openLoop(
      Array(repeating: SlowServer.request, count: 20), .even(rate: 1_000, for: .milliseconds(20)))
    #expect(report.answers.count == 2)
    #expect(report.drops == 18)
    try await generator.close()
    try await server.close()
  }

  @Test func `ends by time, and counts what was not answered as dropped`() async throws {
    let server = try await SlowServer(delay: .seconds(600))
    let generator = LoadGenerator(port: server.port)
    let report = try await generator.openLoop(
      Array(repeating: SlowServer.request, count: 5), .even(rate: 1_000, for: .milliseconds(5)),
      patience: .milliseconds(200))
    #expect(report.answers.isEmpty)
    #expect(report.drops == 5)
    try await generator.close()
    try await server.close()
  }

  @Test func `keeps so many calls under way in a closed loop, and no more`() async throws {
    let server = try await SlowServer(delay: .milliseconds(50))
    let generator = LoadGenerator(port: server.port, connections: 4)
    let report = try await generator.closedLoop(
      Array(repeating: SlowServer.request, count: 20), width: 4, for: .seconds(60))
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

  init(delay: TimeAmount) async throws {
    channel = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Line(delay: delay)) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  func close() async throws { try await group.shutdownGracefully() }

  private final class Line: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let delay: TimeAmount

    init(delay: TimeAmount) { self.delay = delay }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let channel = context.channel
      let answer = ByteBuffer(
        string: "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\nRetry-After: 1\r\n\r\n{}")
      channel.eventLoop.scheduleTask(in: delay) { channel.writeAndFlush(answer, promise: nil) }
    }
  }
}
