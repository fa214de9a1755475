import Crypto

/// ECDSA whose one-time number comes out of key and message (RFC 6979), so that the same token is minted twice.
///
/// BoringSSL draws that number at random and cannot be told otherwise; the point it needs is a public key of
/// BoringSSL's all the same. The generator's hash is as wide as the curve, also where a narrower one is signed.
enum RepeatableSignature {
  static func p256(_ key: P256.Signing.PrivateKey, _ message: [UInt8]) throws -> [UInt8] {
    try sign(
      Array(SHA256.hash(data: message)), secret: Array(key.rawRepresentation), order: p256Order,
      hmac: { Array(HMAC<SHA256>.authenticationCode(for: $1, using: SymmetricKey(data: $0))) },
      coordinate: { Array(try P256.Signing.PrivateKey(rawRepresentation: $0).publicKey.rawRepresentation.prefix(32)) })
  }

  static func p384(_ key: P384.Signing.PrivateKey, digest: some Digest) throws -> [UInt8] {
    try sign(
      Array(digest), secret: Array(key.rawRepresentation), order: p384Order,
      hmac: { Array(HMAC<SHA384>.authenticationCode(for: $1, using: SymmetricKey(data: $0))) },
      coordinate: { Array(try P384.Signing.PrivateKey(rawRepresentation: $0).publicKey.rawRepresentation.prefix(48)) })
  }

  /// Order of the group of P-256 (SEC 2 §2.4.2) and of P-384 (§2.5.1).
  static let p256Order: [UInt8] =
    [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + [
      0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
  static let p384Order: [UInt8] =
    [UInt8](repeating: 0xFF, count: 24) + [
      0xC7, 0x63, 0x4D, 0x81, 0xF4, 0x37, 0x2D, 0xDF, 0x58, 0x1A, 0x0D, 0xB2, 0x48, 0xB0, 0xA7, 0x7A, 0xEC, 0xEC, 0x19,
      0x6A, 0xCC, 0xC5, 0x29, 0x73,
    ]

  /// RFC 6979 §3.2 for the number, FIPS 186-5 §6.4.1 for the signature.
  private static func sign(
    _ digest: [UInt8], secret: [UInt8], order: [UInt8],
    hmac: @escaping (_ key: [UInt8], _ message: [UInt8]) -> [UInt8], coordinate: ([UInt8]) throws -> [UInt8]
  ) throws -> [UInt8] {
    let arithmetic = ModularArithmetic(modulus: order)
    // A digest shorter than the order stands as it is; none here is longer.
    let message = arithmetic.number(digest)
    var generator = Generator(secret: secret, digest: ModularArithmetic.bytes(message), hmac: hmac)
    while true {
      let nonce = generator.next(order.count)
      guard nonce.contains(where: { $0 != 0 }), nonce.lexicographicallyPrecedes(order) else { continue }
      let r = arithmetic.number(try coordinate(nonce))
      let sum = arithmetic.sum(message, arithmetic.product(r, arithmetic.number(secret)))
      let s = arithmetic.product(arithmetic.inverse(arithmetic.number(nonce)), sum)
      guard r.contains(where: { $0 != 0 }), s.contains(where: { $0 != 0 }) else { continue }
      return BERWriter.definite(
        0x30, BERWriter.integer(ModularArithmetic.bytes(r)), BERWriter.integer(ModularArithmetic.bytes(s)))
    }
  }

  private struct Generator {
    private var key: [UInt8]
    private var value: [UInt8]
    private let hmac: (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]
    private var isFirst = true

    init(secret: [UInt8], digest: [UInt8], hmac: @escaping (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]) {
      self.hmac = hmac
      let length = hmac([0], []).count
      (key, value) = ([UInt8](repeating: 0, count: length), [UInt8](repeating: 1, count: length))
      for round: UInt8 in [0, 1] {
        key = hmac(key, value + [round] + secret + digest)
        value = hmac(key, value)
      }
    }

    mutating func next(_ count: Int) -> [UInt8] {
      if !isFirst {
        key = hmac(key, value + [0])
        value = hmac(key, value)
      }
      isFirst = false
      value = hmac(key, value)
      return Array(value.prefix(count))
    }
  }
}
