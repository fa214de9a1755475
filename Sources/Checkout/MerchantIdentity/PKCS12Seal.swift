import Crypto
import SwiftASN1

/// The seal of a PKCS #12 file: an HMAC under a key that is made of the passphrase (RFC 7292 §4 and appendix B).
struct PKCS12Seal {
  let digest: Digest
  let code: [UInt8]
  let salt: [UInt8]
  let iterations: Int

  enum Digest: CaseIterable {
    case sha1, sha256, sha384, sha512

    var identifier: ASN1ObjectIdentifier {
      switch self {
      case .sha1: [1, 3, 14, 3, 2, 26]
      case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
      case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
      case .sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3]
      }
    }
  }

  /// Against files that are made to keep a machine busy; keychains write up to some hundred thousand.
  private static let mostIterations = 5_000_000
  /// What the key is for: 3 is a seal.
  private static let purpose: UInt8 = 3

  /// - Throws: when the node is no MacData with a digest of the list.
  init(_ node: ASN1Node) throws {
    (digest, code, salt, iterations) = try BER.sequence(node, identifier: .sequence) { fields in
      guard let sum = fields.next() else { throw Self.malformed }
      let (digest, code) = try Self.sum(sum)
      let salt = try ASN1OctetString(berEncoded: &fields)
      let iterations = try fields.next().map { try Int(berEncoded: $0) } ?? 1
      guard (1...Self.mostIterations).contains(iterations) else { throw Self.malformed }
      return (digest, code, Array(salt.bytes), iterations)
    }
  }

  /// Seals with SHA-1, which every reader knows.
  init(_ bytes: [UInt8], password: [UInt8], salt: [UInt8]) {
    (digest, self.salt, iterations) = (.sha1, salt, 1)
    code = Self.code(Insecure.SHA1.self, of: bytes, password, salt, 1)
  }

  private static func sum(_ node: ASN1Node) throws -> (Digest, [UInt8]) {
    try BER.sequence(node, identifier: .sequence) { fields in
      guard let algorithm = fields.next() else { throw malformed }
      let identifier = try BER.sequence(algorithm, identifier: .sequence) { parts in
        let identifier = try ASN1ObjectIdentifier(berEncoded: &parts)
        while parts.next() != nil {}
        return identifier
      }
      guard let digest = Digest.allCases.first(where: { $0.identifier == identifier }) else { throw malformed }
      return (digest, Array(try ASN1OctetString(berEncoded: &fields).bytes))
    }
  }

  /// The passphrase in the spelling that the file was sealed with; nil for a wrong one. For an empty passphrase there are
  /// two spellings.
  func password(_ passphrase: String, sealing bytes: [UInt8]) -> [UInt8]? {
    let spellings = [Self.spelled(passphrase)] + (passphrase.isEmpty ? [[]] : [])
    return spellings.first { isCode(of: bytes, under: $0) }
  }

  /// UTF-16, big-endian, with a zero at the end.
  private static func spelled(_ passphrase: String) -> [UInt8] {
    passphrase.utf16.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } + [0, 0]
  }

  private func isCode(of bytes: [UInt8], under password: [UInt8]) -> Bool {
    switch digest {
    case .sha1: Self.code(Insecure.SHA1.self, of: bytes, password, salt, iterations) == code
    case .sha256: Self.code(SHA256.self, of: bytes, password, salt, iterations) == code
    case .sha384: Self.code(SHA384.self, of: bytes, password, salt, iterations) == code
    case .sha512: Self.code(SHA512.self, of: bytes, password, salt, iterations) == code
    }
  }

  private static func code<Hash: HashFunction>(
    _: Hash.Type, of bytes: [UInt8], _ password: [UInt8], _ salt: [UInt8], _ iterations: Int
  ) -> [UInt8] {
    let key = key(Hash.self, password, salt, iterations)
    return Array(HMAC<Hash>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
  }

  /// As long as the hash, so that one round of the appendix's step 6 makes it.
  private static func key<Hash: HashFunction>(
    _: Hash.Type, _ password: [UInt8], _ salt: [UInt8], _ iterations: Int
  ) -> [UInt8] {
    let block = Hash.blockByteCount
    var bytes =
      [UInt8](repeating: purpose, count: block) + repeated(salt, toMultipleOf: block)
      + repeated(password, toMultipleOf: block)
    for _ in 0..<iterations { bytes = Array(Hash.hash(data: bytes)) }
    return bytes
  }

  private static func repeated(_ bytes: [UInt8], toMultipleOf block: Int) -> [UInt8] {
    let count = (bytes.count + block - 1) / block * block
    return (0..<count).map { bytes[$0 % bytes.count] }
  }

  private static let malformed = ASN1Error.invalidASN1Object(reason: "no seal of PKCS #12")
}
