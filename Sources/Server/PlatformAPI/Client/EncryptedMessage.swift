import Crypto
import CryptoExtras
import Foundation
import StrictJSON
package import TenderPayments

/// A JWE in its compact form (RFC 7516), of the one pair of algorithms that Worldline's kits use: the content key by
/// RSA-OAEP with SHA-1, the content by A256CBC-HS512 (RFC 7518, sections 4.3 and 5.2.5).
package struct EncryptedMessage: Sendable {
  /// Names the key that it was encrypted to: `kid`.
  package let keyID: String
  /// The header as it was encoded, in ASCII: authenticated together with the content.
  private let header: [UInt8]
  private let wrappedKey: [UInt8]
  private let iv: [UInt8]
  private let ciphertext: [UInt8]
  private let tag: [UInt8]

  private static let contentKeyBytes = 64
  private static let tagBytes = 32

  /// - Throws: ``CustomerInputRefusal/malformed`` for what is not such a JWE.
  package init(_ text: String) throws(CustomerInputRefusal) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let bytes = parts.compactMap { Base64URL.decode(Substring($0)) }
    guard bytes.count == 5, parts.count == 5, let keyID = Self.keyID(bytes[0]), bytes[2].count == 16,
      !bytes[3].isEmpty, bytes[3].count.isMultiple(of: 16), bytes[4].count == Self.tagBytes
    else { throw .malformed }
    self.keyID = keyID
    header = Array(parts[0])
    (wrappedKey, iv, ciphertext, tag) = (bytes[1], bytes[2], bytes[3], bytes[4])
  }

  /// The `kid` of a header that names the two algorithms, and asks for nothing else.
  private static func keyID(_ header: [UInt8]) -> String? {
    guard case .object(let members)? = try? JSONReader.read(header), members["crit"] == nil, members["zip"] == nil,
      members["alg"] == "RSA-OAEP", members["enc"] == "A256CBC-HS512", case .string(let id)? = members["kid"]
    else { return nil }
    return id
  }

  /// The plaintext.
  ///
  /// A wrapped key that does not open is replaced by a random one (RFC 7516, section 11.5), so that the caller cannot
  /// learn which step failed, neither by the error nor by the time.
  ///
  /// - Throws: ``CustomerInputRefusal/notOpened``.
  package func opened(by key: CustomerInputKey) throws(CustomerInputRefusal) -> [UInt8] {
    var contentKey = key.unwrapped(wrappedKey, bytes: Self.contentKeyBytes)
    defer { contentKey.wipe() }
    let half = Self.contentKeyBytes / 2
    guard isAuthentic(SymmetricKey(data: contentKey[..<half])), let iv = try? AES._CBC.IV(ivBytes: iv),
      let content = try? AES._CBC.decrypt(ciphertext, using: SymmetricKey(data: contentKey[half...]), iv: iv)
    else { throw .notOpened }
    return Array(content)
  }

  private func isAuthentic(_ key: SymmetricKey) -> Bool {
    let bits = withUnsafeBytes(of: UInt64(8 * header.count).bigEndian, Array.init)
    let code = Array(HMAC<SHA512>.authenticationCode(for: header + iv + ciphertext + bits, using: key))
    return code.prefix(Self.tagBytes).isEqualInConstantTime(to: tag)
  }
}

/// A private key that opens `encryptedCustomerInput`, and its public half, which kits encrypt to.
package struct CustomerInputKey: Sendable {
  package let id: String
  package let createdAt: Timestamp
  /// SubjectPublicKeyInfo, DER.
  package let publicKey: [UInt8]
  /// PKCS #8, PEM.
  let privateKeyPEM: String

  /// - Parameter privateKeyPEM: of an RSA key.
  package init(id: String, createdAt: Timestamp, privateKeyPEM: String) throws {
    self.id = id
    self.createdAt = createdAt
    self.privateKeyPEM = privateKeyPEM
    publicKey = Array(try _RSA.Encryption.PrivateKey(pemRepresentation: privateKeyPEM).publicKey.derRepresentation)
  }

  /// A new one, of 2048 bits.
  package static func made(id: String, at now: Timestamp) throws -> CustomerInputKey {
    let key = try _RSA.Encryption.PrivateKey(keySize: .bits2048)
    return try CustomerInputKey(id: id, createdAt: now, privateKeyPEM: key.pkcs8PEMRepresentation)
  }

  /// What the wrapped bytes hold; random bytes where they hold nothing of that length.
  fileprivate func unwrapped(_ wrapped: [UInt8], bytes: Int) -> [UInt8] {
    let other = SymmetricKey(size: .init(bitCount: 8 * bytes)).withUnsafeBytes { Array($0) }
    guard let key = try? _RSA.Encryption.PrivateKey(pemRepresentation: privateKeyPEM),
      var content = try? key.decrypt(wrapped, padding: .PKCS1_OAEP)
    else { return other }
    defer { content.wipe() }
    return content.count == bytes ? Array(content) : other
  }
}

extension CustomerInputKey: CustomStringConvertible, CustomReflectable {
  package var description: String { "customer input key \(id)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
