package import ApplePayToken
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Holds the private keys of payment processing certificates in a separate process and derives the keys of payment
/// tokens for a server. An attacker in the server can ask for keys of payment tokens, but cannot copy the private keys.
///
/// Answers on the threads of swift-nio. Each connection and each message has a time limit.
package final class KeyAgentServer: Sendable {
  /// The most connections at a time; further ones are closed at once.
  package static let connectionLimit = 64

  private let socket: AgentSocket
  private let keys: HeldKeys
  private let connections: AgentConnections

  /// Listens and answers at once. The socket has mode 0600.
  ///
  /// - Parameters:
  ///   - path: of the socket. A socket that a former agent left is replaced; if an agent still listens there, this one
  ///     does not start.
  ///   - client: the id of the user who may connect and who then owns the socket; by default the user that this process
  ///     runs as.
  ///   - keys: held from the start.
  ///   - idle: the time after which a silent connection is closed.
  ///   - timeout: the time to receive or send one message.
  package init(
    path: String, client: UInt32? = nil, holding keys: [(owner: ProcessingKeyRing.Owner, key: ProcessingKey)] = [],
    idle: Duration = .seconds(300), timeout: Duration = .seconds(2)
  ) throws(KeyAgentError) {
    self.keys = HeldKeys()
    self.keys.replace(with: keys)
    connections = AgentConnections(of: client ?? geteuid(), limit: Self.connectionLimit)
    let limits = AgentConnection.Limits(idle: idle, message: timeout)
    let bootstrap = Self.bootstrap { [connections, held = self.keys] channel in
      connections.admit(channel) { AgentConnection(keys: held, limits: limits) }
    }
    do { socket = try AgentSocket(listeningAt: path, owner: client, bootstrap) } catch {
      throw KeyAgentError(reason: error.reason)
    }
  }

  /// Connections are read only on demand, at most one message at a time.
  private static func bootstrap(
    _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) -> ServerBootstrap {
    ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(
        .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: AgentMessages.questionLimit)
      )
      .childChannelInitializer(initializer)
  }

  /// Adds a key.
  package func hold(_ key: ProcessingKey, of owner: ProcessingKeyRing.Owner) { keys.add(key, of: owner) }

  /// Replaces all keys. A request that is being answered is not affected.
  package func hold(only keys: [(owner: ProcessingKeyRing.Owner, key: ProcessingKey)]) {
    self.keys.replace(with: keys)
  }

  /// How many keys are held.
  package var count: Int { keys.count }

  /// Returns after ``stop()``.
  package func untilStopped() async { await socket.untilClosed() }

  /// Removes the socket, unless another agent has replaced it, and closes every connection before it returns. Not to be
  /// called on an event loop.
  package func stop() {
    socket.close()
    connections.closeAll()
  }
}

/// The open connections of an agent.
private final class AgentConnections: Sendable {
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

  /// Gives the connection its handler. Fails, whereupon swift-nio closes it, if another user connects or there are too
  /// many.
  func admit(
    _ channel: any Channel, _ handler: @escaping @Sendable () -> AgentConnection
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

/// Why an agent cannot be started.
package struct KeyAgentError: Error, Sendable, CustomStringConvertible {
  package let reason: String
  package var description: String { reason }
}
