package import ApplePayToken
import Foundation
import Synchronization
import TenderPayments

/// Holds the private keys of payment processing certificates in a process of its own, and does for a server the one thing
/// that needs them. A server that is broken into can ask for the keys of payment tokens as long as it is broken into; it
/// cannot take the private keys away.
///
/// Each connection has a thread, of which there are only so many, and each message a deadline.
package final class KeyAgentServer: Sendable {
  /// How many connections are served at a time; one more is closed at once.
  package static let connectionLimit = 64

  private let socket: UnixSocket
  private let path: String
  /// Where it listens, until it is stopped.
  private let place: Mutex<SocketPlace?>
  private let client: UInt32
  /// How long a connection may be silent, and how long a message may take once it has begun.
  private let (idle, patience): (Duration, Duration)
  private let keys = Mutex<[[UInt8]: (owner: ProcessingKeyRing.Owner, key: ProcessingKey)]>([:])
  private let connections = Mutex<[ObjectIdentifier: UnixSocket]>([:])

  /// Listens at once: the socket has mode 0600.
  ///
  /// - Parameters:
  ///   - path: of the socket. One that a former agent left there is replaced; where an agent still listens, this one
  ///     does not start.
  ///   - client: the number of the user who may ask; the one that this process runs as unless another is named, to whom
  ///     the socket is then given.
  ///   - idle: after which a silent connection is closed.
  ///   - patience: for a message that has begun.
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

  /// From now on the key is held. It can be added while the agent runs.
  package func hold(_ key: ProcessingKey, of owner: ProcessingKeyRing.Owner) {
    keys.withLock { $0[key.publicKeyHash] = (owner, key) }
  }

  /// From now on these keys are held, and no others. A question that is being answered is answered.
  package func hold(only keys: [(owner: ProcessingKeyRing.Owner, key: ProcessingKey)]) {
    let held = Dictionary(keys.map { ($0.key.publicKeyHash, $0) }) { first, _ in first }
    self.keys.withLock { $0 = held }
  }

  /// How many keys are held.
  package var count: Int { keys.withLock { $0.count } }

  /// Serves until ``stop()``. It keeps its thread.
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

  /// Takes the socket away, unless another stands there by now, and ends every connection.
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

  /// Until the client hangs up, is silent for too long, or says something that is no question.
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
