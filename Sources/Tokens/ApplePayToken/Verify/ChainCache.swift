import Synchronization

/// Pairs of certificates whose signatures were found right. Apple signs for years with the same two certificates, and
/// checking the signatures on them costs four fifths of a verification.
///
/// The key is the two certificates as they came, byte for byte. What is kept is what those bytes alone decide: how they
/// read, and that the root's key signed the one and the one's key the other. Everything else about a chain is judged for
/// each token: markers, fitness, root, environment, dates. Only right signatures are kept, and only Apple, or a sandbox,
/// can make those; the bound is for a sandbox that makes many.
final class ChainCache: Sendable {
  private static let capacity = 32
  private let pairs = Mutex<[ProvenPair]>([])

  /// The pair, if its signatures were checked before.
  func pair(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> ProvenPair? {
    pairs.withLock { pairs in
      pairs.first { $0.first.encoding[...].isSame(as: first) && $0.second.encoding[...].isSame(as: second) }
    }
  }

  func remember(_ pair: ProvenPair) {
    pairs.withLock { pairs in
      if pairs.count >= Self.capacity { pairs.removeFirst() }
      pairs.append(pair)
    }
  }
}

/// Two certificates of a signature as they came, and whose key was found to have signed the upper one.
struct ProvenPair {
  let first: Certificate
  let second: Certificate
  /// SubjectPublicKeyInfo of the root that signed the intermediate, while the intermediate signed the other.
  let rootKeyInfo: ArraySlice<UInt8>
  let signerKey: SignerKey
}
