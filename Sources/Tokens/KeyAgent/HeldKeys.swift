import ApplePayToken
import Synchronization
import TenderPayments

/// The private keys of an agent, and its answers.
final class HeldKeys: Sendable {
  typealias Key = (owner: ProcessingKeyRing.Owner, key: ProcessingKey)

  private let keys = Mutex<[[UInt8]: Key]>([:])

  var count: Int { keys.withLock { $0.count } }

  func add(_ key: ProcessingKey, of owner: ProcessingKeyRing.Owner) {
    keys.withLock { $0[key.publicKeyHash] = (owner, key) }
  }

  func replace(with keys: [Key]) {
    let held = Dictionary(keys.map { ($0.key.publicKeyHash, $0) }) { first, _ in first }
    self.keys.withLock { $0 = held }
  }

  /// - Parameter timeout: how long a key's holder may take.
  func answer(to question: AgentQuestion, within timeout: Duration) -> AgentAnswer {
    do {
      switch question {
      case .unwrap(let hash, let material):
        return .done(try held(hash).holder.contentKey(from: material, within: timeout).bytes)
      case .mistakes(let hash, let material):
        let keys = try held(hash).holder.keysOfMistakes(in: material, within: timeout)
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
      return [UInt8(clamping: name.count)] + name + key.publicKeyHash + [key.version.number]
    }
  }
}
