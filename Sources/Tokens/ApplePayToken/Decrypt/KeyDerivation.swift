package import Crypto
import TenderPayments

/// PartyVInfo of Apple's key derivation: SHA-256 of the merchant identifier, 32 bytes.
package struct PartyInfo: Sendable, Hashable {
  package let bytes: [UInt8]
  /// Nil when only its hash is known, from the certificate.
  private let merchantIdentifier: String?

  /// - Parameter merchantIdentifier: Apple's, as `merchant.com.example.shop`.
  package init(merchantIdentifier: String) {
    bytes = Array(SHA256.hash(data: Array(merchantIdentifier.utf8)))
    self.merchantIdentifier = merchantIdentifier
  }

  /// - Parameters:
  ///   - value: of extension 1.2.840.113635.100.6.32, which is a UTF8String of 64 hexadecimal digits. Apple derives the
  ///     key from the 32 bytes, not from the text.
  ///   - merchantIdentifier: from the certificate's subject; used only if its hash matches.
  package init?(certificateExtension value: ArraySlice<UInt8>, merchantIdentifier: String? = nil) {
    guard value.count == 66, value.starts(with: [0x0C, 0x40]),
      let bytes = Hex.decode(String(decoding: value.dropFirst(2), as: UTF8.self))
    else { return nil }
    self.bytes = bytes
    self.merchantIdentifier = merchantIdentifier.flatMap { PartyInfo(merchantIdentifier: $0).bytes == bytes ? $0 : nil }
  }

  /// The values that other implementations use by mistake.
  var mistaken: [(KeyDerivationMistake, [UInt8])] {
    let text = Hex.encode(bytes)
    let hashes = [text, text.uppercased()].map { (KeyDerivationMistake.hashAsText, Array($0.utf8)) }
    return hashes + (merchantIdentifier.map { [(.identifierNotHashed, Array($0.utf8))] } ?? [])
  }
}

/// Derives the AES key of one payment token from the secret that merchant and device share.
///
/// Source: Apple, *Payment token format reference*, "Restoring the symmetric key"; NIST SP 800-56A §5.8.1, the
/// concatenation key derivation with SHA-256, of which 256 bits need a single round.
package enum KeyDerivation {
  /// - Parameter sharedSecret: the X coordinate of the ECDH, 32 bytes with its leading zeros, as swift-crypto has it.
  package static func contentKey(sharedSecret: SharedSecret, party: PartyInfo) -> SymmetricKey {
    contentKey(sharedSecret: sharedSecret, partyBytes: party.bytes)
  }

  package static func contentKey(coordinate: UnsafeRawBufferPointer, party: PartyInfo) -> SymmetricKey {
    contentKey(coordinate: coordinate, partyBytes: party.bytes)
  }

  static func contentKey(sharedSecret: SharedSecret, partyBytes: [UInt8]) -> SymmetricKey {
    sharedSecret.withUnsafeBytes { contentKey(coordinate: $0, partyBytes: partyBytes) }
  }

  static func contentKey(coordinate: UnsafeRawBufferPointer, partyBytes: [UInt8]) -> SymmetricKey {
    var hash = hashOfCounter
    hash.update(bufferPointer: coordinate)
    hash.update(data: algorithmAndPartyU)
    hash.update(data: partyBytes)
    return SymmetricKey(data: hash.finalize())
  }

  /// The counter of the single round comes first.
  private static let hashOfCounter: SHA256 = {
    var hash = SHA256()
    hash.update(data: [0, 0, 0, 1] as [UInt8])
    return hash
  }()
  /// AlgorithmID with a length prefix, then PartyUInfo without one, as Apple specifies.
  private static let algorithmAndPartyU: [UInt8] = [13] + Array("id-aes256-GCMApple".utf8)
}
