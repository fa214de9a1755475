import Synchronization

/// The chains that were found good. Apple signs for years with the same two certificates, and checking them costs
/// four fifths of a verification.
///
/// The key is the two certificates as they came, byte for byte; the trust is the verifier's, so a chain never serves
/// another root. Only good chains are kept, and only Apple, or the sandbox, can make those; the bound is for a sandbox
/// that makes many.
final class ChainCache: Sendable {
  private static let capacity = 32
  private let chains = Mutex<[Entry]>([])

  private struct Entry {
    let first: ArraySlice<UInt8>
    let second: ArraySlice<UInt8>
    let chain: SignerChain
  }

  func chain(
    _ certificates: [ArraySlice<UInt8>], orMake make: () throws(PaymentTokenError) -> SignerChain
  ) throws(PaymentTokenError) -> SignerChain {
    guard certificates.count == 2 else { return try make() }
    if let known = known(certificates) { return known }
    let chain = try make()
    remember(certificates, chain)
    return chain
  }

  private func known(_ certificates: [ArraySlice<UInt8>]) -> SignerChain? {
    chains.withLock { entries in
      entries.first { $0.first == certificates[0] && $0.second == certificates[1] }?.chain
    }
  }

  private func remember(_ certificates: [ArraySlice<UInt8>], _ chain: SignerChain) {
    // Copied, so that the cache does not hold on to whole signatures.
    let entry = Entry(first: Array(certificates[0])[...], second: Array(certificates[1])[...], chain: chain)
    chains.withLock { entries in
      if entries.count >= Self.capacity { entries.removeFirst() }
      entries.append(entry)
    }
  }
}
