import HTTPTransport
import NIOCore
import NIOPosix
import Settings
import TenderServer
import TenderTesting
import Testing

@Suite struct `Clients with a merchant's certificate` {
  @Test func `are one for each certificate, however often it is read`() async throws {
    let (connections, network) = (Counter(), try Network.live())
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        connections.next()
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(NoContent())
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let material = try Clinic.material.get().identity
    let identity = ClientIdentity(certificateChainPEM: material.pem, privateKeyPEM: material.key)
    let senders = try (0..<5).map { _ in try network.identified(identity, .system) }
    for sender in senders {
      let request = OutboundRequest(method: "GET", url: "http://127.0.0.1:\(port)/")
      #expect(try await sender.send(request, TestRun.whole).status == 204)
    }
    #expect(connections.value == 1)
    await network.close()
    try await server.close().get()
  }
}

/// Answers every request, and keeps the connection.
private final class NoContent: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 204 No Content\r\n\r\n")), promise: nil)
  }
}
