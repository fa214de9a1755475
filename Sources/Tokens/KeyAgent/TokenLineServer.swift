import Foundation
package import TenderPayments
package import TokenCalls

/// Verifies and decrypts payment tokens for programs in any language: calls and answers are lines of JSON on a socket of
/// this machine. The private keys stay in this process.
///
/// Answers on the threads of swift-nio. Each connection and each line has a time limit.
package final class TokenLineServer: Sendable {
  private let socket: AgentSocket
  private let connections: AgentConnections

  /// Listens and answers at once. The socket has mode 0600.
  ///
  /// - Parameters:
  ///   - path: of the socket, as of ``KeyAgentServer``.
  ///   - client: the id of the user who may connect and who then owns the socket; by default the user that this process
  ///     runs as.
  ///   - version: what the call `version` answers.
  ///   - idle: the time after which a silent connection is closed.
  ///   - timeout: the time to receive the rest of a line, or to send one.
  package init(
    path: String, client: UInt32? = nil, holding keys: TokenKeys, version: String, clock: WallClock = .system,
    idle: Duration = .seconds(300), timeout: Duration = .seconds(10)
  ) throws(KeyAgentError) {
    connections = AgentConnections(of: client ?? geteuid(), limit: KeyAgentServer.connectionLimit)
    let limits = AgentConnection.Limits(idle: idle, message: timeout)
    let bootstrap = connections.bootstrap(receiving: 64 << 10) {
      LineConnection(limits: limits) { keys.answer(line: $0, version: version, now: clock.now()) }
    }
    do { socket = try AgentSocket(listeningAt: path, owner: client, bootstrap) } catch {
      throw KeyAgentError(reason: error.reason)
    }
  }

  /// Returns after ``stop()``.
  package func untilStopped() async { await socket.untilClosed() }

  /// Removes the socket, unless another process has replaced it, and closes every connection before it returns. Not to
  /// be called on an event loop.
  package func stop() {
    socket.close()
    connections.closeAll()
  }
}
