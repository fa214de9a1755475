import Synchronization

/// Caches pairs of certificates whose signatures are valid. Apple uses the same two certificates for years, and
/// checking their signatures takes four fifths of a verification.
///
/// The cache key is the bytes of the two certificates. A value holds only what those bytes determine: the parsed
/// certificates, and that the root's key signed the intermediate, whose key signed the signer. Everything else is
/// checked for each token: markers, key usage, root, environment, dates. Only valid signatures are cached, and only
/// Apple or a sandbox can make those; the size limit is for a sandbox that makes many.
final class ChainCache: Sendable {
  private static let capacity = 32
  private let pairs = Mutex<[ProvenPair]>([])

  /// The pair, if its signatures were checked before.
  func pair(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> ProvenPair? {
    pairs.withLock { pairs in
      pairs.indices.first { pairs[$0].isOf(first, second) }.map { pairs[$0] }
    }
  }

  func remember(_ pair: ProvenPair) {
    pairs.withLock { pairs in
      if pairs.count >= Self.capacity { pairs.removeFirst() }
      pairs.append(pair)
    }
  }
}

/// The two certificates of a signature, and the root key that signed the intermediate.
struct ProvenPair {
  let first: Certificate
  let second: Certificate
  /// SubjectPublicKeyInfo of the root that signed the intermediate, which in turn signed the signer.
  let rootKeyInfo: ArraySlice<UInt8>
  let signerKey: SignerKey

  fileprivate func isOf(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool {
    first.isSame(as: self.first.encoding) && second.isSame(as: self.second.encoding)
  }
}
