package import ApplePayToken
import Foundation
import Synchronization
import TenderPayments

/// Holds the private keys of payment processing certificates in a separate process and derives the keys of payment
/// tokens for a server. An attacker in the server can ask for keys of payment tokens, but cannot copy the private keys.
///
/// Each connection has a thread, up to ``connectionLimit``, and each message has a deadline.
package final class KeyAgentServer: Sendable {
  /// The most connections at a time; further ones are closed at once.
  package static let connectionLimit = 64

  private let socket: UnixSocket
  private let path: String
  /// The socket it listens at; nil once it is stopped.
  private let place: Mutex<SocketPlace?>
  private let client: UInt32
  /// How long a connection may be silent, and how long a message may take once it has begun.
  private let (idle, patience): (Duration, Duration)
  private let keys = Mutex<[[UInt8]: (owner: ProcessingKeyRing.Owner, key: ProcessingKey)]>([:])
  private let connections = Mutex<[ObjectIdentifier: UnixSocket]>([:])

  /// Listens at once. The socket has mode 0600.
  ///
  /// - Parameters:
  ///   - path: of the socket. A socket that a former agent left is replaced; if an agent still listens there, this one
  ///     does not start.
  ///   - client: the id of the user who may connect and who then owns the socket; by default the user that this process
  ///     runs as.
  ///   - idle: the time after which a silent connection is closed.
  ///   - patience: the time to receive or send one message.
  package init(
    path: String, client: UInt32? = nil, idle: Duration = .seconds(300), patience: Duration = .seconds(2)
  ) throws(KeyAgentError) {
    do {
      socket = try UnixSocket.listening(at: path, owner: client)
    } catch {
      throw KeyAgentError(reason: error.reason)
    }
    self.path = path
    place = Mutex(SocketPlace(path))
    self.client = client ?? geteuid()
    (self.idle, self.patience) = (idle, patience)
  }

  /// Adds a key. The agent may be running.
  package func hold(_ key: ProcessingKey, of owner: ProcessingKeyRing.Owner) {
    keys.withLock { $0[key.publicKeyHash] = (owner, key) }
  }

  /// Replaces all keys. A request that is being answered is not affected.
  package func hold(only keys: [(owner: ProcessingKeyRing.Owner, key: ProcessingKey)]) {
    let held = Dictionary(keys.map { ($0.key.publicKeyHash, $0) }) { first, _ in first }
    self.keys.withLock { $0 = held }
  }

  /// How many keys are held.
  package var count: Int { keys.withLock { $0.count } }

  /// Serves on this thread until ``stop()``.
  package func run() {
    while let connection = (try? socket.accepted()).flatMap(\.self) {
      guard connection.peer == client, admit(connection) else { continue }
      let thread = Thread { [self] in
        serve(connection)
        connections.withLock { $0[ObjectIdentifier(connection)] = nil }
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
  }

  /// Removes the socket, unless another agent has replaced it, and closes every connection.
  package func stop() {
    place.withLock { place in
      if let ours = place, SocketPlace(path) == ours { unlink(path) }
      place = nil
    }
    socket.hangUp()
    for connection in connections.withLock({ $0.values.map(\.self) }) { connection.hangUp() }
  }

  private func admit(_ connection: UnixSocket) -> Bool {
    connections.withLock { connections in
      guard connections.count < Self.connectionLimit else { return false }
      connections[ObjectIdentifier(connection)] = connection
      return true
    }
  }

  /// Serves until the client disconnects, is silent for too long, or sends an invalid request.
  private func serve(_ connection: UnixSocket) {
    while let message = try? AgentMessages.receive(
      on: connection, limit: AgentMessages.questionLimit, by: Deadline(in: idle), patience: patience),
      let question = AgentQuestion(message)
    {
      guard send(answer(to: question), on: connection) else { return }
    }
  }

  /// - Returns: whether all of it was sent.
  private func send(_ answer: consuming AgentAnswer, on connection: UnixSocket) -> Bool {
    var bytes = answer.bytes
    answer.wipe()
    defer { bytes.wipe() }
    return (try? AgentMessages.send(bytes, on: connection, by: Deadline(in: patience))) != nil
  }

  private func answer(to question: AgentQuestion) -> AgentAnswer {
    do {
      switch question {
      case .unwrap(let hash, let material):
        return .done(try held(hash).holder.contentKey(from: material, within: patience).bytes)
      case .mistakes(let hash, let material):
        let keys = try held(hash).holder.keysOfMistakes(in: material, within: patience)
        return .done(keys.flatMap { [$0.mistake.rawValue] + $0.key.bytes })
      case .list: return .done(list())
      }
    } catch {
      return .refused(error)
    }
  }

  private func held(_ publicKeyHash: [UInt8]) throws(PaymentTokenError) -> ProcessingKey {
    guard let held = keys.withLock({ $0[publicKeyHash] }) else {
      throw PaymentTokenError(.keyAgentUnavailable, "the key agent does not hold this key")
    }
    return held.key
  }

  private func list() -> [UInt8] {
    let held = keys.withLock { $0.values.map(\.self) }
    return held.flatMap { owner, key in
      let name = Array(owner.name.utf8.prefix(255))
      return [UInt8(name.count)] + name + key.publicKeyHash + [key.version.number]
    }
  }
}

/// Why an agent cannot be started.
package struct KeyAgentError: Error, Sendable, CustomStringConvertible {
  package let reason: String
  package var description: String { reason }
}
