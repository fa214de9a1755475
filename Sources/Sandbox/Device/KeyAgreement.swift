import Crypto

/// How device and merchant come to one key (Apple, *Restoring the symmetric key*; NIST SP 800-56A §5.8.1).
///
/// Written apart from the verifier's own, so that one checks the other.
enum KeyAgreement {
  /// SHA-256 of counter, shared secret, algorithm, party U (`Apple`) and party V (the merchant): one round, 256 bits.
  static func key(
    device: P256.KeyAgreement.PrivateKey, merchant: P256.KeyAgreement.PublicKey, merchantHash: MerchantHash
  ) throws -> SymmetricKey {
    let secret = try device.sharedSecretFromKeyAgreement(with: merchant)
    var hash = SHA256()
    hash.update(data: [0, 0, 0, 1])
    secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
    hash.update(data: [0x0D])
    hash.update(data: Array("id-aes256-GCM".utf8))
    hash.update(data: Array("Apple".utf8))
    hash.update(data: merchantHash.bytes)
    return SymmetricKey(data: hash.finalize())
  }

  /// AES-256-GCM with sixteen zero bytes as its initialization vector and nothing authenticated beside the text:
  /// ciphertext, then tag. The key serves one message, which is what makes the constant vector safe.
  static func seal(_ plaintext: [UInt8], with key: SymmetricKey) throws -> [UInt8] {
    let box = try AES.GCM.seal(plaintext, using: key, nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)))
    return Array(box.ciphertext) + Array(box.tag)
  }
}
