import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// Certificates and key of a PKCS #12 file.
///
/// NIOSSL's reader ends the process when the file's key fits none of its certificates. So key and certificates are read
/// apart: the key as PKCS #8, and the certificates beside a key and a certificate made here, which fit each other.
struct PKCS12File {
  /// DER.
  let certificates: [[UInt8]]
  /// DER.
  let privateKey: [UInt8]

  /// - Throws: ``Fault``, or an error of what is malformed.
  init(_ bytes: [UInt8], passphrase: String) throws {
    let contents = try PKCS12Contents(bytes)
    // A file without a seal says by what cannot be opened that the passphrase is another.
    let password =
      contents.seal.map { $0.password(passphrase, sealing: contents.sealed) } ?? PKCS12Seal.spelled(passphrase)
    guard let password else { throw Fault.wrongPassphrase }
    guard let key = contents.keys.first else { throw Fault.noKey }
    guard contents.keys.count == 1 else { throw Fault.severalKeys }
    certificates = try Self.certificates(of: contents, password, passphrase)
    guard !certificates.isEmpty else { throw Fault.noCertificate }
    privateKey = try Self.opened(key, passphrase)
  }

  enum Fault: Error {
    case wrongPassphrase, noKey, severalKeys, noCertificate
    /// The seal, or the lock of the key under this passphrase, is of a kind that is not read here.
    case unreadable
  }

  private static func certificates(
    of contents: PKCS12Contents, _ password: [UInt8], _ passphrase: String
  ) throws -> [[UInt8]] {
    let companion = try Companion()
    let file = try PKCS12Writer.file(of: try companion.parts + contents.certificateParts, password: password)
    let bundle = try NIOSSLPKCS12Bundle(buffer: file, passphrase: Array(passphrase.utf8))
    return try bundle.certificateChain.map { try $0.toDERBytes() }.filter { $0 != companion.certificate }
  }

  private static func opened(_ key: PKCS12Contents.Key, _ passphrase: String) throws -> [UInt8] {
    guard key.isEncrypted else { return key.bytes }
    if let opened = try PKCS5.opened(key.bytes, passphrase) { return opened }
    // NIOSSL ends the process at other bytes than ASCII.
    guard passphrase.utf8.allSatisfy({ $0 < 0x80 }) else { throw Fault.unreadable }
    let pem = PEMDocument(type: "ENCRYPTED PRIVATE KEY", derBytes: key.bytes).pemString
    let locked = Array(pem.utf8)
    return try NIOSSLPrivateKey(bytes: locked, format: .pem) { unlock in unlock(Array(passphrase.utf8)) }.derBytes
  }
}

/// A key and its certificate, made for one reading.
private struct Companion {
  private let key: [UInt8]
  let certificate: [UInt8]

  init() throws {
    let key = P256.Signing.PrivateKey()
    let name = try DistinguishedName { CommonName("companion") }
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
      notValidBefore: Date(timeIntervalSince1970: 0), notValidAfter: Date(timeIntervalSince1970: 86_400), issuer: name,
      subject: name, signatureAlgorithm: .ecdsaWithSHA256, extensions: Certificate.Extensions(),
      issuerPrivateKey: .init(key))
    var serializer = DER.Serializer()
    try serializer.serialize(certificate)
    (self.key, self.certificate) = (Array(key.derRepresentation), serializer.serializedBytes)
  }

  var parts: [[UInt8]] {
    get throws { [try PKCS12Writer.part(key: key), try PKCS12Writer.part(certificate: certificate)] }
  }
}
