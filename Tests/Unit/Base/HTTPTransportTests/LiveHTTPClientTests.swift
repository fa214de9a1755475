import HTTPTransport
import NIOCore
import NIOPosix
import TenderTesting
import Testing

/// Answers every request at once with a head, and with a body that never ends.
private final class Trickle: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")
    context.writeAndFlush(NIOAny(answer), promise: nil)
  }

  static func listen() async throws -> any Channel {
    try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Trickle()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }
}

/// Answers every request with the request itself.
final class Mirror: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let request = unwrapInboundIn(data)
    var answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(request.readableBytes)\r\n\r\n")
    answer.writeImmutableBuffer(request)
    context.writeAndFlush(NIOAny(answer), promise: nil)
  }

  static func listen() async throws -> any Channel {
    try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Mirror()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }
}

@Suite struct `A live client` {
  @Test func `reaches a pinned host at its address, under its own name`() async throws {
    let server = try await Mirror.listen()
    let port = try #require(server.localAddress?.port)
    let client = try LiveHTTPClient(pinned: ["shop.example": "127.0.0.1"])
    let answer = try await client.sender.send(
      OutboundRequest(method: "GET", url: "http://shop.example:\(port)/hooks"), TestRun.whole)
    #expect(String(decoding: answer.body, as: UTF8.self).lowercased().contains("host: shop.example:\(port)"))
    try await client.shutdown()
    try await server.close().get()
  }

  @Test(arguments: ["http://127.0.0.1:1/", "", "nonsense", "ftp://127.0.0.1/", "http://"])
  func `reports notSent when the connection is refused or the address is invalid`(url: String) async throws {
    let client = try LiveHTTPClient()
    let error = await #expect(throws: TransportError.self) {
      try await client.sender.send(OutboundRequest(method: "POST", url: url, body: [1]), TestRun.whole)
    }
    if case .notSent = error {} else { Issue.record("\(String(describing: error))") }
    try await client.shutdown()
  }

  /// Its connection stays open for more calls, and holds a file descriptor.
  @Test func `opens no more connections than its process has files for, and counts those without a call`() async throws
  {
    let server = try await Mirror.listen()
    let port = try #require(server.localAddress?.port)
    let connections = OutboundConnections(maximum: 3)
    let clients = try (0..<4).map { _ in try LiveHTTPClient(within: connections) }
    let request = OutboundRequest(method: "GET", url: "http://127.0.0.1:\(port)/")
    for client in clients.prefix(2) {
      let answer = await NetworkUse.watching { try? await client.sender.send(request, TestRun.whole).status }
      #expect(answer.value == 200 && answer.happened)
    }
    let both = await NetworkUse.watching {
      let first = try? await clients[2].sender.send(request, TestRun.whole).status
      let second = try? await clients[3].sender.send(request, TestRun.whole).status
      return [first, second]
    }
    #expect(both.value == [200, nil] && both.happened, "the first request has arrived")
    let (error, isSent) = await NetworkUse.watching {
      await #expect(throws: TransportError.self) { try await clients[3].sender.send(request, TestRun.whole) }
    }
    guard case .notSent? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!isSent, "it says nothing of the other side")
    try await clients[0].shutdown()
    try await waitUntil("a closed connection") {
      (try? await clients[3].sender.send(request, TestRun.whole).status) == 200
    }
    for client in clients.dropFirst() { try await client.shutdown() }
    try await server.close().get()
  }

  @Test func `applies the deadline to the body too`() async throws {
    // The body never ends: a client that waits for it never returns.
    let server = try await Trickle.listen()
    let client = try LiveHTTPClient()
    let port = try #require(server.localAddress?.port)
    await #expect(throws: TransportError.timedOut) {
      try await client.sender.send(
        OutboundRequest(method: "GET", url: "http://127.0.0.1:\(port)/"), .milliseconds(300))
    }
    try await client.shutdown()
    try await server.close().get()
  }
}
