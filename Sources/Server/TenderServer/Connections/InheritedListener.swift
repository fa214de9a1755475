import HummingbirdCore
import NIOCore
import NIOPosix

/// Accepts from a socket that the process was started with.
enum InheritedListener {
  /// - Parameters:
  ///   - listener: Hummingbird's channel, which serves the connections. Hummingbird cannot listen on a socket that it has
  ///     not made, so its own has an address that nobody can reach.
  ///   - connections: the group that the connections belong to.
  static func open(
    _ descriptor: CInt, for listener: any Channel, on connections: any EventLoopGroup, _ limit: ConnectionLimit
  ) async throws -> any Channel {
    try await ServerBootstrap(group: listener.eventLoop, childGroup: connections)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            AvailableConnectionsChannelHandler(delegate: LimitedConnections(limit: limit)),
            ConnectionForwarder(to: listener),
          ])
        }
      }
      .withBoundSocket(descriptor).get()
  }
}

/// Hands accepted connections to another listener of the same event loop, before they are set up.
private final class ConnectionForwarder: ChannelInboundHandler {
  typealias InboundIn = Channel

  private let listener: any Channel

  init(to listener: any Channel) { self.listener = listener }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    listener.pipeline.syncOperations.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    listener.pipeline.syncOperations.fireChannelReadComplete()
    context.fireChannelReadComplete()
  }
}
