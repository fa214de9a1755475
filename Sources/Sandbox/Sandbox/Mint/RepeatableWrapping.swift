import Crypto
import CryptoExtras
import Foundation

/// RSA-OAEP with a seed of the caller's choice (RFC 8017 §7.1.1), with one hash throughout and an empty label.
///
/// BoringSSL draws the seed itself; tokens out of a seed need theirs.
enum RepeatableWrapping {
  static func wrap(_ message: [UInt8], to key: _RSA.Encryption.PublicKey, seed: [UInt8]) throws -> [UInt8] {
    try wrap(message, to: key, seed: seed, using: SHA256.self)
  }

  static func wrap<H: HashFunction>(
    _ message: [UInt8], to key: _RSA.Encryption.PublicKey, seed: [UInt8], using hash: H.Type
  ) throws -> [UInt8] {
    let size = key.keySizeInBits / 8
    let label = Array(H.hash(data: [UInt8]()))
    let padding = [UInt8](repeating: 0, count: size - message.count - 2 * label.count - 2)
    let block = label + padding + [1] + message
    let maskedBlock = exclusiveOr(block, mask(seed, block.count, hash))
    let maskedSeed = exclusiveOr(seed, mask(maskedBlock, seed.count, hash))
    return try raw([0] + maskedSeed + maskedBlock, to: key)
  }

  /// RSA without a padding (RFC 8017 §5.1.1).
  static func raw(_ block: [UInt8], to key: _RSA.Encryption.PublicKey) throws -> [UInt8] {
    let primitives = try key.getKeyPrimitives()
    let arithmetic = ModularArithmetic(modulus: Array(primitives.modulus.drop { $0 == 0 }))
    return ModularArithmetic.bytes(arithmetic.power(arithmetic.number(block), Array(primitives.publicExponent)))
  }

  /// MGF1 (RFC 8017 appendix B.2.1).
  private static func mask<H: HashFunction>(_ seed: [UInt8], _ count: Int, _ hash: H.Type) -> [UInt8] {
    let blocks = (0..<UInt32((count + H.Digest.byteCount - 1) / H.Digest.byteCount)).flatMap { counter in
      H.hash(data: seed + (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) })
    }
    return Array(blocks.prefix(count))
  }

  private static func exclusiveOr(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { zip(left, right).map { $0 ^ $1 } }
}
