import Crypto

/// The cryptography without which no EC_v1 token can be opened, alone: keys and signatures are ready, and no byte is
/// parsed.
struct Primitives {
  private let message = Array("what was signed".utf8)
  private let p256: (key: P256.Signing.PublicKey, signature: P256.Signing.ECDSASignature)
  private let p384: (key: P384.Signing.PublicKey, signature: P384.Signing.ECDSASignature)
  private let merchant = P256.KeyAgreement.PrivateKey()
  private let device = P256.KeyAgreement.PrivateKey().publicKey
  private let digest: SHA256.Digest

  init() throws {
    digest = SHA256.hash(data: message)
    let (leaf, root) = (P256.Signing.PrivateKey(), P384.Signing.PrivateKey())
    p256 = (leaf.publicKey, try leaf.signature(for: digest))
    p384 = (root.publicKey, try root.signature(for: digest))
  }

  func verifyP256() throws { try expect(p256.key.isValidSignature(p256.signature, for: digest)) }
  func verifyP384() throws { try expect(p384.key.isValidSignature(p384.signature, for: digest)) }
  func agree() throws { _ = try merchant.sharedSecretFromKeyAgreement(with: device) }

  /// The compiler may remove a computation whose result is not used.
  private func expect(_ isValid: Bool) throws {
    guard isValid else { throw BenchError(reason: "a signature of our own is not valid") }
  }
}

struct BenchError: Error {
  let reason: String
}
