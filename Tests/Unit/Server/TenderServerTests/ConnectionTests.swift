import Foundation
import HTTPTransport
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Settings
import Synchronization
import TenderServer
import Testing

/// One connection whose clock stands until the test moves it.
@Suite struct `A connection is closed` {
  private let limit = ConnectionLimit(maximum: 10)
  private let late = Noted<ConnectionHandler.Lateness>()

  private func connection(_ draining: Draining = Draining()) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(
      handler: ConnectionHandler(limit, draining: draining) { [late] in late.note($0) })
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  private func isOpen(_ channel: EmbeddedChannel, after seconds: Int64) -> Bool {
    channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    return channel.isActive
  }

  private static let head = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/")

  private func send(_ part: HTTPRequestPart, _ channel: EmbeddedChannel) throws { try channel.writeInbound(part) }

  private func answer(_ channel: EmbeddedChannel) throws {
    try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
    try channel.writeOutbound(HTTPResponsePart.end(nil))
  }

  @Test func `when the headers of its first request take ten seconds`() throws {
    let channel = try connection()
    #expect(isOpen(channel, after: 9))
    #expect(!isOpen(channel, after: 1))
    #expect(late.all == [.header])
  }

  @Test func `when a body takes twenty seconds`() throws {
    let channel = try connection()
    _ = isOpen(channel, after: 9)
    try send(.head(Self.head), channel)
    for _ in 0..<3 {
      #expect(isOpen(channel, after: 6))
      try send(.body(ByteBuffer(string: "x")), channel)
    }
    #expect(!isOpen(channel, after: 2))
    #expect(late.all == [.body])
  }

  @Test func `when a request that was answered early does not end within twenty seconds`() throws {
    let channel = try connection()
    try send(.head(Self.head), channel)
    try answer(channel)
    #expect(isOpen(channel, after: 19))
    #expect(!isOpen(channel, after: 1))
  }

  @Test func `when no request follows for seventy-five seconds`() throws {
    let channel = try connection()
    for _ in 0..<3 {
      try send(.head(Self.head), channel)
      try send(.end(nil), channel)
      try answer(channel)
      #expect(isOpen(channel, after: 74))
    }
    #expect(!isOpen(channel, after: 1))
    #expect(late.all == [.idle])
  }

  @Test func `when responses are left unread for thirty seconds`() throws {
    let channel = try connection()
    try send(.head(Self.head), channel)
    try send(.end(nil), channel)
    channel.isWritable = false
    channel.pipeline.fireChannelWritabilityChanged()
    #expect(isOpen(channel, after: 29))
    #expect(!isOpen(channel, after: 1))
    #expect(late.all == [.unread])
  }

  @Test func `with its next response when the server is about to end, and the response says so`() throws {
    let draining = Draining()
    let channel = try connection(draining)
    var announced: [String?] = []
    for isEnding in [false, true] {
      if isEnding { draining.begin() }
      try send(.head(Self.head), channel)
      try send(.end(nil), channel)
      try answer(channel)
      while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
        if case .head(let head) = part { announced.append(head.headerFields[.connection]) }
      }
      #expect(channel.isActive == !isEnding)
    }
    #expect(announced == [nil, "close"])
  }

  @Test(arguments: [true, false])
  func `two seconds after the listener, unless its first request comes and is answered`(_ comes: Bool) throws {
    let draining = Draining()
    let channel = try connection(draining)
    draining.begin()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(isOpen(channel, after: 1))
    guard comes else {
      #expect(!isOpen(channel, after: 1))
      return
    }
    try send(.head(Self.head), channel)
    try send(.end(nil), channel)
    #expect(isOpen(channel, after: 10))
    try answer(channel)
    #expect(!channel.isActive)
  }

  @Test func `five seconds after the listener when a body has not come to its end`() throws {
    let draining = Draining()
    let channel = try connection(draining)
    try send(.head(Self.head), channel)
    draining.begin()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(isOpen(channel, after: 4))
    #expect(!isOpen(channel, after: 1))
  }

  @Test(arguments: [true, false])
  func `five seconds after the listener when its answers are not read, before it and after`(isFull: Bool) throws {
    let draining = Draining()
    let channel = try connection(draining)
    try send(.head(Self.head), channel)
    try send(.end(nil), channel)
    if isFull { fill(channel) }
    draining.begin()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    if !isFull { fill(channel) }
    #expect(isOpen(channel, after: 4))
    #expect(!isOpen(channel, after: 1))
    #expect(late.all == [.unread])
  }

  @Test func `five seconds after the listener although its answers are read a little now and then`() throws {
    let draining = Draining()
    let channel = try connection(draining)
    try send(.head(Self.head), channel)
    try send(.end(nil), channel)
    draining.begin()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    for _ in 0..<4 {
      fill(channel)
      #expect(isOpen(channel, after: 1))
      fill(channel, isFull: false)
    }
    fill(channel)
    #expect(!isOpen(channel, after: 1))
  }

  @Test func `five seconds after the listener although one request follows the other`() throws {
    let draining = Draining()
    let channel = try connection(draining)
    draining.begin()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    try send(.head(Self.head), channel)
    #expect(isOpen(channel, after: 4))
    try send(.end(nil), channel)
    try send(.head(Self.head), channel)
    #expect(!isOpen(channel, after: 1))
    #expect(late.all == [.body])
  }

  @Test func `with its answer where a request comes later than that`() throws {
    let draining = Draining()
    let channel = try connection(draining)
    try send(.head(Self.head), channel)
    try send(.end(nil), channel)
    draining.begin()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(isOpen(channel, after: 10))
    try send(.head(Self.head), channel)
    #expect(isOpen(channel, after: 10))
    try answer(channel)
    #expect(!channel.isActive)
  }

  private func fill(_ channel: EmbeddedChannel, isFull: Bool = true) {
    channel.isWritable = !isFull
    channel.pipeline.fireChannelWritabilityChanged()
  }

  @Test func `never while the server works on a response`() throws {
    let channel = try connection()
    try send(.head(Self.head), channel)
    try send(.end(nil), channel)
    #expect(isOpen(channel, after: 3_600))
    _ = try channel.finish()
  }
}

/// Connections at the limit, without a network.
@Suite struct `A limit of four connections` {
  private let limit = ConnectionLimit(maximum: 4)
  private let evicted = Noted<Int>()

  private func open(_ number: Int) -> ConnectionLimit.Connection {
    limit.accept()
    return limit.add { [evicted] in evicted.note(number) }
  }

  private func close(_ connection: ConnectionLimit.Connection) {
    limit.remove(connection)
    limit.release()
  }

  @Test func `evicts nothing below it`() {
    let connections = (0..<3).map(open)
    #expect(limit.makeRoom() && evicted.all.isEmpty && connections.count == 3)
  }

  @Test func `evicts the connection that sent nothing, and not one that works or was used since`() {
    let connections = (0..<4).map(open)
    #expect(limit.makeRoom() && evicted.all == [0])
    close(connections[0])
    // Every connection has lost its second chance now. This one gets another by a request.
    connections[1].setBusy(true)
    connections[1].setBusy(false)
    connections[2].setBusy(true)
    let more = open(4)
    #expect(limit.makeRoom())
    #expect(evicted.all.last == 3)
    close(connections[3])
    #expect(limit.open == 3)
    close(more)
  }

  @Test func `waits while every connection works, and takes the next that becomes idle`() {
    let connections = (0..<4).map(open)
    for connection in connections { connection.setBusy(true) }
    #expect(!limit.makeRoom() && limit.wantsRoom && evicted.all.isEmpty)
    close(connections[2])
    #expect(limit.makeRoom() && !limit.wantsRoom)
  }

  @Test func `evicts one that is set up while a caller waits: there was none to evict when the caller came`() {
    for _ in 0..<4 { limit.accept() }
    #expect(!limit.makeRoom() && evicted.all.isEmpty)
    let connections = (0..<4).map { number in limit.add { [evicted] in evicted.note(number) } }
    #expect(evicted.all == [0] && connections.count == 4)
    close(connections[0])
    #expect(limit.makeRoom() && evicted.all == [0])
  }

  @Test func `counts a victim that has begun to work meanwhile`() {
    let connections = (0..<4).map(open)
    #expect(limit.makeRoom())
    limit.keep(connections[0])
    for connection in connections { connection.setBusy(true) }
    #expect(!limit.makeRoom())
  }

  @Test func `evicts the one that came first, of those that send nothing, whichever closed before`() {
    var generator = SystemRandomNumberGenerator()
    var (open, next) = ([(number: Int, connection: ConnectionLimit.Connection)](), 0)
    for _ in 0..<1_000 {
      open.append((next, self.open(next)))
      next += 1
      if !open.isEmpty, Bool.random(using: &generator) {
        close(open.remove(at: Int.random(in: 0..<open.count, using: &generator)).connection)
      }
      while limit.open >= 4 {
        #expect(limit.makeRoom() && evicted.all.last == open[0].number)
        close(open.removeFirst().connection)
      }
    }
  }

  @Test func `evicts none before all that were accepted are set up`() {
    for _ in 0..<4 { limit.accept() }
    let newest = limit.add { [evicted] in evicted.note(3) }
    #expect(!limit.makeRoom() && evicted.all.isEmpty)
    let others = (0..<3).map { number in limit.add { [evicted] in evicted.note(number) } }
    #expect(evicted.all == [3], "the one that was set up first")
    close(newest)
    #expect(limit.makeRoom() && others.count == 3)
  }

  @Test func `evicts one of a thousand that are opened and closed in any order`() {
    let limit = ConnectionLimit(maximum: 100)
    var generator = SystemRandomNumberGenerator()
    var open: [ConnectionLimit.Connection] = []
    for _ in 0..<1_000 {
      if !open.isEmpty, Bool.random(using: &generator) {
        limit.remove(open.remove(at: Int.random(in: 0..<open.count, using: &generator)))
        limit.release()
      } else {
        limit.accept()
        open.append(limit.add {})
      }
    }
    #expect(limit.open == open.count)
    for connection in open {
      limit.remove(connection)
      limit.release()
    }
    #expect(limit.open == 0)
  }
}

@Suite struct `A listener` {
  @Test(arguments: [false, true]) func `closes a new connection at once when it takes none`(takesNone: Bool) throws {
    let listener = EmbeddedChannel(
      handler: AcceptPause(ConnectionLimit(maximum: 4), logger: Logger(label: "listener")) { takesNone })
    let caller = EmbeddedChannel()
    try caller.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try listener.writeInbound(caller as any Channel)
    #expect(caller.isActive == !takesNone)
    #expect((try listener.readInbound(as: (any Channel).self) == nil) == takesNone)
  }
}

/// A real server that accepts eight connections.
@Suite struct `A server with eight connections` {
  private static let alive = "GET /healthz HTTP/1.1\nHost: localhost\n\n"

  @Test func `answers the next caller while others send nothing, or never finish their headers`() async throws {
    let system = try await TestSystem.shared.value
    let shop = try await system.secondServer { $0.maximumConnections = 8 }
    let statuses = try await RawConnection.onThread { () -> [Int] in
      let idle = try (0..<40).map { number in
        let connection = try RawConnection.Shared(port: shop.port)
        if number.isMultiple(of: 2) { try connection.value.send("GET /healthz HTTP/1.1\nHost: lo") }
        return connection
      }
      return try withExtendedLifetime(idle) {
        try (0..<20).map { _ in
          let connection = try RawConnection(port: shop.port)
          try connection.send(Self.alive)
          return try connection.answers(1)[0].status
        }
      }
    }
    #expect(statuses == Array(repeating: 200, count: 20))
    let metrics = try await shop.metrics()
    #expect(metrics.contains("tender_connections_maximum 8\n"))
    let open = metrics.split(separator: "\n").first { $0.hasPrefix("tender_connections_open ") }
    let count = try #require(open.flatMap { Int($0.split(separator: " ")[1]) })
    #expect(count <= 8 + 3, "one read of the listener accepts four")
  }

  @Test func `refuses to start when the limit of open files is too low for the connections wanted`() async throws {
    let system = try await TestSystem.shared.value
    let error = await #expect(throws: ConfigurationError.self) {
      try await system.secondServer { $0.maximumConnections = .max / 4 }
    }
    #expect(error?.key == "connections.maximum" && error?.reason.contains("ulimit -n") == true)
  }
}

/// What was reported, in order.
private final class Noted<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  var all: [Value] { values.withLock { $0 } }
  func note(_ value: Value) { values.withLock { $0.append(value) } }
}
