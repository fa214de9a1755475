package import ApplePayToken
import Foundation

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
    let bootstrap = connections.bootstrap(receiving: AgentMessages.questionLimit) { [held = self.keys] in
      AgentConnection(keys: held, limits: limits)
    }
    do { socket = try AgentSocket(listeningAt: path, owner: client, bootstrap) } catch {
      throw KeyAgentError(reason: error.reason)
    }
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

/// Why an agent cannot be started.
package struct KeyAgentError: Error, Sendable, CustomStringConvertible {
  package let reason: String
  package var description: String { reason }
}
