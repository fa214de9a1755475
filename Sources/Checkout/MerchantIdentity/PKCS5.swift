import Crypto
import CryptoExtras
import SwiftASN1

/// What a passphrase becomes and opens by PKCS #5 version 2.1 (RFC 8018).
enum PKCS5 {
  /// Opens a private key that is locked by PBES2 with PBKDF2 and AES in CBC mode.
  ///
  /// - Parameter key: DER of an EncryptedPrivateKeyInfo.
  /// - Returns: DER of a PrivateKeyInfo; nil where it is locked by another scheme.
  static func opened(_ key: [UInt8], _ passphrase: String) throws -> [UInt8]? {
    try BER.sequence(try BER.parse(key), identifier: .sequence) { fields in
      guard let algorithm = fields.next() else { throw malformed }
      let locked = Array(try ASN1OctetString(berEncoded: &fields).bytes)
      guard let (derivation, iv, length) = try scheme(algorithm) else { return nil }
      let key = try derivation.key(of: passphrase, length: length)
      return Array(try AES._CBC.decrypt(locked, using: key, iv: AES._CBC.IV(ivBytes: iv)))
    }
  }

  private static func scheme(_ algorithm: ASN1Node) throws -> (PasswordDerivation, iv: [UInt8], length: Int)? {
    try BER.sequence(algorithm, identifier: .sequence) { fields in
      let identifier = try ASN1ObjectIdentifier(berEncoded: &fields)
      guard let parameters = fields.next(), identifier == [1, 2, 840, 113_549, 1, 5, 13] else {
        while fields.next() != nil {}
        return nil
      }
      return try BER.sequence(parameters, identifier: .sequence) { parts in
        guard let derivation = parts.next(), let cipher = parts.next() else { throw malformed }
        return try BER.sequence(cipher, identifier: .sequence) { fields in
          let length = lengths[try ASN1ObjectIdentifier(berEncoded: &fields)]
          guard let node = fields.next(), let length else {
            while fields.next() != nil {}
            return nil
          }
          return (try PasswordDerivation(derivation), Array(try ASN1OctetString(berEncoded: node).bytes), length)
        }
      }
    }
  }

  /// Bytes of a key of AES in CBC mode.
  private static let lengths: [ASN1ObjectIdentifier: Int] = [
    [2, 16, 840, 1, 101, 3, 4, 1, 2]: 16, [2, 16, 840, 1, 101, 3, 4, 1, 22]: 24, [2, 16, 840, 1, 101, 3, 4, 1, 42]: 32,
  ]

  static let malformed = ASN1Error.invalidASN1Object(reason: "no PKCS #5")
}

/// PBKDF2 with its parameters.
struct PasswordDerivation {
  private let salt: [UInt8]
  private let iterations: Int
  private let hash: KDF.Insecure.PBKDF2.HashFunction
  /// Bytes of the key, where the parameters say.
  let length: Int?

  private static let hashes: [ASN1ObjectIdentifier: KDF.Insecure.PBKDF2.HashFunction] = [
    [1, 2, 840, 113_549, 2, 7]: .insecureSHA1, [1, 2, 840, 113_549, 2, 8]: .insecureSHA224,
    [1, 2, 840, 113_549, 2, 9]: .sha256, [1, 2, 840, 113_549, 2, 10]: .sha384, [1, 2, 840, 113_549, 2, 11]: .sha512,
  ]

  /// - Throws: for another function than PBKDF2, and for more work than keychains make of it.
  init(_ algorithm: ASN1Node) throws {
    self = try BER.sequence(algorithm, identifier: .sequence) { fields in
      let identifier = try ASN1ObjectIdentifier(berEncoded: &fields)
      guard identifier == [1, 2, 840, 113_549, 1, 5, 12], let parameters = fields.next() else {
        throw PKCS5.malformed
      }
      return try BER.sequence(parameters, identifier: .sequence) { try PasswordDerivation(&$0) }
    }
  }

  private init(_ fields: inout ASN1NodeCollection.Iterator) throws {
    salt = Array(try ASN1OctetString(berEncoded: &fields).bytes)
    iterations = try Int(berEncoded: &fields)
    var (length, hash): (Int?, KDF.Insecure.PBKDF2.HashFunction?) = (nil, .insecureSHA1)
    while let field = fields.next() {
      if field.identifier == .integer {
        length = try Int(berEncoded: field)
      } else {
        hash = try BER.sequence(field, identifier: .sequence) { parts in
          defer { while parts.next() != nil {} }
          return Self.hashes[try ASN1ObjectIdentifier(berEncoded: &parts)]
        }
      }
    }
    guard let hash, (1...PKCS12Seal.mostIterations).contains(iterations), (1...64).contains(length ?? 1) else {
      throw PKCS5.malformed
    }
    (self.length, self.hash) = (length, hash)
  }

  func key(of passphrase: String, length: Int) throws -> SymmetricKey {
    try KDF.Insecure.PBKDF2.deriveKey(
      from: Array(passphrase.utf8), salt: salt, using: hash, outputByteCount: length,
      unsafeUncheckedRounds: iterations)
  }
}
