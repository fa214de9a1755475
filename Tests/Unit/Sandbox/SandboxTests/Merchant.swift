import Crypto
import CryptoExtras
import Foundation
import Sandbox
import SwiftASN1
import TenderPayments
import TenderTesting
import X509

/// A merchant in a test: the keys that a portal never sees, and requests to certify them.
struct Merchant {
  static let identifier = "merchant.com.example.store"

  let processingKey = P256.KeyAgreement.PrivateKey()
  let identityKey: _RSA.Signing.PrivateKey

  init() throws { identityKey = try Self.identityKey.get() }

  /// One for all tests, because finding its primes takes longer than any of them.
  private static let identityKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  var processingCSR: String {
    get throws {
      try Self.csr(Certificate.PrivateKey(P256.Signing.PrivateKey(rawRepresentation: processingKey.rawRepresentation)))
    }
  }

  var identityCSR: String { get throws { try Self.csr(Certificate.PrivateKey(identityKey)) } }

  static func csr(_ key: Certificate.PrivateKey) throws -> String {
    let name = try DistinguishedName { CommonName("replaced by the portal") }
    let algorithm: Certificate.SignatureAlgorithm =
      _RSA.Signing.PublicKey(key.publicKey) == nil ? .ecdsaWithSHA256 : .sha256WithRSAEncryption
    return try CertificateSigningRequest(
      version: .v1, subject: name, privateKey: key, attributes: .init(), signatureAlgorithm: algorithm
    ).serializeAsPEM().pemString
  }
}

/// A directory that is gone when the value is.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "tender-sandbox-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file and tells its path.
  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }

  func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }
}

/// Runs OpenSSL, the judge who knows nothing of this house.
func openssl(_ arguments: String..., input: [UInt8] = []) throws -> (status: Int32, output: String) {
  let (status, output) = try ChildProcess.run(["openssl"] + arguments, input: input)
  return (status, String(decoding: output, as: UTF8.self))
}
