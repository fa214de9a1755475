package import NIOCore
import NIOPosix

/// Calls a server on this machine with requests that were made beforehand, over HTTP/1.1, from one thread.
///
/// Open loop: each request leaves when it is due, however many are unanswered, and its time counts from then. Closed
/// loop: so many at a time, for the most that a server can do. Both end by time and by count.
package final class LoadGenerator: Sendable {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let lines: Lines

  /// - Parameter connections: how many may be open; a request that finds none is a drop.
  package init(port: Int, connections: Int = 4_096) {
    lines = Lines(loop: group.next(), port: port, most: connections)
  }

  /// Opens connections, so that a run does not begin with it.
  package func warm(_ count: Int) async throws {
    try await group.next().flatSubmit { [lines] in lines.warm(count) }.get()
  }

  /// - Parameter patience: how long after the schedule's end answers are waited for.
  package func openLoop(
    _ requests: [ByteBuffer], _ schedule: Schedule, patience: Duration = .seconds(20)
  ) async throws -> LoadReport {
    try await group.next().flatSubmit { [lines] in
      OpenRun(lines, requests, schedule).start(until: schedule.length + patience)
    }.get()
  }

  /// - Parameter length: after it no request is begun any more.
  package func closedLoop(
    _ requests: [ByteBuffer], width: Int, for length: Duration, patience: Duration = .seconds(20)
  ) async throws -> LoadReport {
    try await group.next().flatSubmit { [lines] in
      ClosedRun(lines, requests, length).start(width: width, until: length + patience)
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
  private var idle: [LoadConnection] = []
  private var open = 0

  init(loop: any EventLoop, port: Int, most: Int) { (self.loop, self.port, self.most) = (loop, port, most) }

  func warm(_ count: Int) -> EventLoopFuture<Void> {
    // A server closes what is idle for long.
    open -= idle.count { !$0.isOpen }
    idle.removeAll { !$0.isOpen }
    let missing = max(0, count - idle.count)
    let all = (0..<missing).map { _ in connect().map { self.idle.append($0) } }
    return EventLoopFuture.andAllSucceed(all, on: loop)
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
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(line) }
      }
      .connect(host: "127.0.0.1", port: port).map { _ in line }
    connected.whenFailure { _ in self.open -= 1 }
    return connected
  }
}
