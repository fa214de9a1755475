import NIOCore
import NIOPosix
import Synchronization

/// The open connections of a process that holds keys.
final class AgentConnections: Sendable {
  private struct State {
    var open: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  private let user: UInt32
  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter user: the one who may connect.
  init(of user: UInt32, limit: Int) {
    (self.user, self.limit) = (user, limit)
  }

  /// Reads connections only on demand, at most one piece at a time.
  ///
  /// - Parameters:
  ///   - capacity: of a piece, in bytes.
  ///   - handler: of a new connection.
  func bootstrap(receiving capacity: Int, _ handler: @escaping @Sendable () -> any ChannelHandler) -> ServerBootstrap {
    ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: capacity))
      .childChannelInitializer { [self] in admit($0, handler) }
  }

  /// Gives the connection its handler. Fails, whereupon swift-nio closes it, if another user connects or there are too
  /// many.
  private func admit(
    _ channel: any Channel, _ handler: @escaping @Sendable () -> any ChannelHandler
  ) -> EventLoopFuture<Void> {
    PeerUser.id(of: channel).flatMapThrowing { [self] user in
      guard user == self.user, add(channel) else { throw SocketError.closed }
      try channel.pipeline.syncOperations.addHandler(handler())
    }
  }

  func closeAll() {
    let open = state.withLock { state in
      state.isClosed = true
      return Array(state.open.values)
    }
    for channel in open { try? channel.close().wait() }
  }

  /// - Returns: whether there was room.
  private func add(_ channel: any Channel) -> Bool {
    let id = ObjectIdentifier(channel)
    channel.closeFuture.whenComplete { [self] _ in remove(id) }
    return state.withLock { state in
      guard !state.isClosed, state.open.count < limit else { return false }
      state.open[id] = channel
      return true
    }
  }

  private func remove(_ id: ObjectIdentifier) { state.withLock { $0.open[id] = nil } }
}
