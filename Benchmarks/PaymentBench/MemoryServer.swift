import LoadGenerator
import NIOCore
import NIOPosix

/// A server of this process that answers from memory, on one thread of its own.
struct MemoryServer: Sendable {
  /// Called on the server's event loop.
  typealias Handler = @Sendable (_ request: HTTPMessage, _ reply: MemoryReply) -> Void

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel

  init(_ handler: @escaping Handler) async throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 4_096)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(ServedLine(handler)) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

  /// The only one, on which all requests are handled.
  var loop: any EventLoop { group.next() }

  func close() async throws { try await group.shutdownGracefully() }
}

/// The answer to one request, which the handler sends.
struct MemoryReply: Sendable {
  fileprivate let channel: any Channel

  /// Answers 200.
  ///
  /// - Parameters:
  ///   - body: JSON.
  ///   - sent: is called on the server's event loop when the answer leaves.
  func send(_ body: [UInt8], after delay: TimeAmount, sent: @escaping @Sendable () -> Void = {}) {
    guard delay > .zero else { return send(body, sent) }
    channel.eventLoop.scheduleTask(in: delay) { send(body, sent) }
  }

  private func send(_ body: [UInt8], _ sent: () -> Void) {
    var bytes = ByteBuffer()
    bytes.writeString(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n")
    bytes.writeBytes(body)
    sent()
    channel.writeAndFlush(bytes, promise: nil)
  }
}

/// Touched on its event loop alone.
private final class ServedLine: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  private let handler: MemoryServer.Handler
  private var reader = MessageReader()

  init(_ handler: @escaping MemoryServer.Handler) { self.handler = handler }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    reader.append(&bytes)
    do {
      while let request = try reader.next() { handler(request, MemoryReply(channel: context.channel)) }
    } catch { context.close(promise: nil) }
  }
}
