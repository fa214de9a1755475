import Crypto

/// How device and merchant come to one key (Apple, *Restoring the symmetric key*; NIST SP 800-56A §5.8.1).
///
/// Written apart from the verifier's own, so that one checks the other.
enum KeyAgreement {
  /// SHA-256 of counter, shared secret, algorithm, party U (`Apple`) and party V (the merchant): one round, 256 bits.
  static func key(secret: [UInt8], party: [UInt8]) -> SymmetricKey {
    var hash = SHA256()
    hash.update(data: [0, 0, 0, 1])
    hash.update(data: secret)
    hash.update(data: [0x0D])
    hash.update(data: Array("id-aes256-GCM".utf8))
    hash.update(data: Array("Apple".utf8))
    hash.update(data: party)
    return SymmetricKey(data: hash.finalize())
  }
}
