package import ApplePayToken
import Dispatch
import NIOCore
import NIOPosix
import Synchronization
package import TenderPayments

/// Client of a key agent's socket. It reuses connections and repeats a request once on a new connection if the old one
/// was closed; repeating is safe, because the agent only computes.
///
/// A request blocks its thread until the answer, so it must not be made on an event loop.
package final class KeyAgentClient: Sendable {
  /// The most requests at a time; more wait. An agent accepts twice as many connections.
  package static let limit = 32

  private let path: String
  private let idle = Mutex<[any Channel]>([])
  private let slots = DispatchSemaphore(value: KeyAgentClient.limit)

  /// - Parameter path: of the agent's socket. It is not opened yet.
  package init(path: String) { self.path = path }

  deinit {
    for channel in idle.withLock(\.self) { channel.close(promise: nil) }
  }

  /// Every key that the agent holds, ready to be added to a key ring.
  ///
  /// - Throws: `key_agent_unavailable`.
  package func keys(
    within timeout: Duration = .seconds(2)
  ) throws(PaymentTokenError) -> [(owner: ProcessingKeyRing.Owner, key: ProcessingKey)] {
    var rest = try ask(.list, within: timeout)[...]
    var keys: [(owner: ProcessingKeyRing.Owner, key: ProcessingKey)] = []
    while let count = rest.popFirst().map(Int.init) {
      guard rest.count >= count + 33,
        let version = EncryptedPaymentToken.Version(number: rest[rest.startIndex + count + 32])
      else { throw Self.unavailable("it answers in another way than expected") }
      let name = String(decoding: rest.prefix(count), as: UTF8.self)
      let hash = Array(rest.dropFirst(count).prefix(32))
      keys.append((ProcessingKeyRing.Owner(name: name), key(hash, version)))
      rest = rest.dropFirst(count + 33)
    }
    return keys
  }

  /// A key that the caller knows the agent holds. The agent is not asked yet.
  package func key(_ publicKeyHash: [UInt8], _ version: EncryptedPaymentToken.Version) -> ProcessingKey {
    ProcessingKey(
      publicKeyHash: publicKeyHash, version: version,
      heldBy: HeldByAgent(client: self, publicKeyHash: publicKeyHash))
  }

  /// - Returns: the agent's answer; the caller wipes any keys in it.
  func ask(_ question: AgentQuestion, within timeout: Duration) throws(PaymentTokenError) -> [UInt8] {
    let deadline = Deadline.after(timeout)
    guard slots.wait(timeout: .now() + timeout / .seconds(1)) == .success else {
      throw Self.unavailable("too many requests are under way")
    }
    defer { slots.signal() }
    switch try answer(to: question, by: deadline) {
    case .done(let bytes): return bytes
    case .refused(let error): throw error
    case nil: throw Self.unavailable("it answers in another way than expected")
    }
  }

  private func answer(to question: AgentQuestion, by deadline: Deadline) throws(PaymentTokenError) -> AgentAnswer? {
    do throws(SocketError) {
      let message = try exchange(question.bytes, by: deadline)
      defer { message.wipe() }
      return AgentAnswer(message.readableBytesView)
    } catch {
      throw Self.unavailable(error.reason)
    }
  }

  private func exchange(_ question: [UInt8], by deadline: Deadline) throws(SocketError) -> ByteBuffer {
    while let used = idle.withLock({ $0.popLast() }) {
      do {
        return try exchange(question, on: used, by: deadline)
      } catch {
        guard error.isStale else { throw error }
      }
    }
    return try exchange(question, on: connect(by: deadline), by: deadline)
  }

  private func exchange(
    _ question: [UInt8], on channel: any Channel, by deadline: Deadline
  ) throws(SocketError) -> ByteBuffer {
    let promise = channel.eventLoop.makePromise(of: ByteBuffer.self)
    let call = AgentCall(question: question, deadline: deadline, answer: promise)
    channel.writeAndFlush(call).whenFailure { _ in promise.fail(SocketError.closed) }
    do {
      let answer = try promise.futureResult.wait()
      idle.withLock { if $0.count < Self.limit { $0.append(channel) } }
      return answer
    } catch {
      throw error as? SocketError ?? SocketError("\(error)")
    }
  }

  private func connect(by deadline: Deadline) throws(SocketError) -> any Channel {
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(TimeAmount(deadline.remaining))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AgentExchange()) }
      }
    do { return try bootstrap.connect(unixDomainSocketPath: path).wait() } catch { throw SocketError(path, error) }
  }

  static func unavailable(_ reason: String) -> PaymentTokenError {
    PaymentTokenError(.keyAgentUnavailable, "cannot reach the key agent: \(reason)")
  }
}

/// One key that the agent holds.
private struct HeldByAgent: ProcessingKeyHolder {
  let client: KeyAgentClient
  let publicKeyHash: [UInt8]

  var answersAtOnce: Bool { false }

  func contentKey(
    from material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> ContentKey {
    var bytes = try client.ask(.unwrap(publicKeyHash: publicKeyHash, material), within: timeout)
    defer { bytes.wipe() }
    guard let key = ContentKey(bytes: bytes) else { throw KeyAgentClient.unavailable("it answers with no AES key") }
    return key
  }

  func keysOfMistakes(
    in material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> [(mistake: KeyDerivationMistake, key: ContentKey)] {
    var bytes = try client.ask(.mistakes(publicKeyHash: publicKeyHash, material), within: timeout)
    defer { bytes.wipe() }
    return stride(from: 0, to: bytes.count - 32, by: 33).compactMap { start in
      guard let mistake = KeyDerivationMistake(rawValue: bytes[start]),
        let key = ContentKey(bytes: Array(bytes[(start + 1)..<(start + 33)]))
      else { return nil }
      return (mistake, key)
    }
  }
}
