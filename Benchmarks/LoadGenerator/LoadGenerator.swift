package import NIOCore
import NIOPosix

/// Calls a server on this machine with requests that were made beforehand, over HTTP/1.1 with or without TLS, from one
/// thread.
///
/// Open loop: each request leaves when it is due, however many are unanswered, and its time counts from then. Closed
/// loop: so many at a time, for the most that a server can do. Both end by time and by count.
package final class LoadGenerator: Sendable {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let lines: Lines

  /// - Parameters:
  ///   - connections: how many may be open; a request that finds none is a drop.
  ///   - tls: nil for plain HTTP.
  package init(port: Int, connections: Int = 4_096, tls: ClientTLS? = nil) {
    lines = Lines(loop: group.next(), port: port, most: connections, tls: tls)
  }

  /// The cheapest request there is.
  package static let greeting = ByteBuffer(string: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")

  /// Opens new connections and sends a request on each, so that a run begins with neither, and ends those that were open:
  /// the server closes one that has had no request for some time, and a request that leaves just then is lost.
  package func warm(_ count: Int) async throws {
    try await group.next().flatSubmit { [lines] in lines.warm(count, with: Self.greeting) }.get()
  }

  /// - Parameter timeout: how long after the schedule's end answers are waited for.
  package func openLoop(
    _ requests: [ByteBuffer], _ schedule: Schedule, timeout: Duration = .seconds(20)
  ) async throws -> LoadReport {
    try await group.next().flatSubmit { [lines] in
      OpenRun(lines, requests, schedule).start(until: schedule.length + timeout)
    }.get()
  }

  /// - Parameter length: after it no request is begun any more.
  package func closedLoop(
    _ requests: [ByteBuffer], width: Int, for length: Duration, timeout: Duration = .seconds(20)
  ) async throws -> LoadReport {
    try await group.next().flatSubmit { [lines] in
      ClosedRun(lines, requests, length).start(width: width, until: length + timeout)
    }.get()
  }

  /// One request by itself.
  ///
  /// - Returns: the status of its answer; nil when there was none.
  package func status(of request: ByteBuffer) async -> Int? {
    await withCheckedContinuation { continuation in
      group.next().execute { [lines] in
        lines.send(request) { continuation.resume(returning: $0?.status) }
      }
    }
  }

  package func close() async throws { try await group.shutdownGracefully() }
}

/// The connections that a generator has open. Touched on its event loop alone.
final class Lines: @unchecked Sendable {
  let loop: any EventLoop
  private let port: Int
  private let most: Int
  private let tls: ClientTLS?
  private var idle: [LoadConnection] = []
  private var open = 0

  init(loop: any EventLoop, port: Int, most: Int, tls: ClientTLS?) {
    (self.loop, self.port, self.most, self.tls) = (loop, port, most, tls)
  }

  func warm(_ count: Int, with request: ByteBuffer) -> EventLoopFuture<Void> {
    for line in idle { line.close() }
    open -= idle.count
    idle.removeAll()
    let all = (0..<count).map { _ in connect().flatMap { self.greet($0, request) } }
    return EventLoopFuture.andAllSucceed(all, on: loop)
  }

  private func greet(_ line: LoadConnection, _ request: ByteBuffer) -> EventLoopFuture<Void> {
    let answered = loop.makePromise(of: Void.self)
    send(request, on: line) { message in
      if message == nil { answered.fail(ChannelError.eof) } else { answered.succeed() }
    }
    return answered.futureResult
  }

  /// - Parameter answered: receives the answer, or nil when there is none.
  func send(_ request: ByteBuffer, answered: @escaping @Sendable (HTTPMessage?) -> Void) {
    while let line = idle.popLast() {
      if line.isOpen { return send(request, on: line, answered) }
      open -= 1
    }
    guard open < most else { return answered(nil) }
    connect().whenComplete { result in
      guard case .success(let line) = result else { return answered(nil) }
      self.send(request, on: line, answered)
    }
  }

  private func send(
    _ request: ByteBuffer, on line: LoadConnection, _ answered: @escaping @Sendable (HTTPMessage?) -> Void
  ) {
    line.send(request) { message in
      if message == nil { self.open -= 1 } else { self.idle.append(line) }
      answered(message)
    }
  }

  private func connect() -> EventLoopFuture<LoadConnection> {
    open += 1
    let line = LoadConnection()
    let connected = ClientBootstrap(group: loop)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1).connectTimeout(.seconds(10))
      .channelInitializer { [tls] channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls { try channel.pipeline.syncOperations.addHandler(tls.handler()) }
          try channel.pipeline.syncOperations.addHandler(line)
        }
      }
      .connect(host: "127.0.0.1", port: port).map { _ in line }
    connected.whenFailure { _ in self.open -= 1 }
    return connected
  }
}
