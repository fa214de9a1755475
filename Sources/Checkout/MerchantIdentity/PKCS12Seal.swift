import Crypto
import SwiftASN1

/// The seal of a PKCS #12 file: an HMAC under a key that is made of the passphrase, as PKCS #12 does it (RFC 7292 §4 and
/// appendix B) or as PKCS #5 does (PBMAC1, RFC 9579).
struct PKCS12Seal {
  let digest: Digest
  /// Nil where the key is made as PKCS #12 does it.
  private let derivation: PasswordDerivation?
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

    /// The HMAC with it.
    var hmac: ASN1ObjectIdentifier {
      switch self {
      case .sha1: [1, 2, 840, 113_549, 2, 7]
      case .sha256: [1, 2, 840, 113_549, 2, 9]
      case .sha384: [1, 2, 840, 113_549, 2, 10]
      case .sha512: [1, 2, 840, 113_549, 2, 11]
      }
    }
  }

  /// Against files that are made to keep a machine busy; keychains write up to some hundred thousand.
  static let mostIterations = 5_000_000
  /// What the key is for: 3 is a seal.
  private static let purpose: UInt8 = 3

  /// - Throws: when the node is no MacData with a digest of the list.
  init(_ node: ASN1Node) throws {
    (digest, derivation, code, salt, iterations) = try BER.sequence(node, identifier: .sequence) { fields in
      guard let sum = fields.next() else { throw Self.malformed }
      let (digest, derivation, code) = try Self.sum(sum)
      let salt = try ASN1OctetString(berEncoded: &fields)
      let iterations = try fields.next().map { try Int(berEncoded: $0) } ?? 1
      guard (1...Self.mostIterations).contains(iterations) else { throw Self.malformed }
      return (digest, derivation, code, Array(salt.bytes), iterations)
    }
  }

  /// Seals with SHA-1, which every reader knows.
  init(_ bytes: [UInt8], password: [UInt8], salt: [UInt8]) {
    (digest, derivation, self.salt, iterations) = (.sha1, nil, salt, 1)
    code = Self.code(Insecure.SHA1.self, of: bytes, password, salt, 1)
  }

  private static func sum(_ node: ASN1Node) throws -> (Digest, PasswordDerivation?, [UInt8]) {
    try BER.sequence(node, identifier: .sequence) { fields in
      guard let algorithm = fields.next() else { throw malformed }
      let (digest, derivation) = try BER.sequence(algorithm, identifier: .sequence) { parts in
        let identifier = try ASN1ObjectIdentifier(berEncoded: &parts)
        let parameters = parts.next()
        guard identifier == [1, 2, 840, 113_549, 1, 5, 14] else {
          return (Digest.allCases.first { $0.identifier == identifier }, PasswordDerivation?.none)
        }
        guard let parameters else { throw malformed }
        return try pbmac1(parameters)
      }
      guard let digest else { throw PKCS12File.Fault.unreadable }
      return (digest, derivation, Array(try ASN1OctetString(berEncoded: &fields).bytes))
    }
  }

  private static func pbmac1(_ parameters: ASN1Node) throws -> (Digest?, PasswordDerivation?) {
    try BER.sequence(parameters, identifier: .sequence) { parts in
      guard let derivation = parts.next(), let scheme = parts.next() else { throw malformed }
      return try BER.sequence(scheme, identifier: .sequence) { fields in
        let identifier = try ASN1ObjectIdentifier(berEncoded: &fields)
        while fields.next() != nil {}
        return (Digest.allCases.first { $0.hmac == identifier }, try PasswordDerivation(derivation))
      }
    }
  }

  /// The passphrase in the spelling that the file was sealed with; nil for a wrong one. For an empty passphrase there are
  /// two spellings.
  func password(_ passphrase: String, sealing bytes: [UInt8]) -> [UInt8]? {
    if let derivation { return isCode(of: bytes, derivation, passphrase) ? Self.spelled(passphrase) : nil }
    let spellings = [Self.spelled(passphrase)] + (passphrase.isEmpty ? [[]] : [])
    return spellings.first { isCode(of: bytes, under: $0) }
  }

  /// UTF-16, big-endian, with a zero at the end.
  static func spelled(_ passphrase: String) -> [UInt8] {
    passphrase.utf16.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } + [0, 0]
  }

  private func isCode(of bytes: [UInt8], _ derivation: PasswordDerivation, _ passphrase: String) -> Bool {
    guard let length = derivation.length, let key = try? derivation.key(of: passphrase, length: length) else {
      return false
    }
    return switch digest {
    case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key)) == code
    case .sha256: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)) == code
    case .sha384: Array(HMAC<SHA384>.authenticationCode(for: bytes, using: key)) == code
    case .sha512: Array(HMAC<SHA512>.authenticationCode(for: bytes, using: key)) == code
    }
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
