import Crypto
import CryptoExtras
import Foundation
import MerchantIdentity
import Settings
import Storage
import SwiftASN1
import TenderPayments
import X509

/// A certificate of Apple's portal and its key, as they lie there: whatever is wrong with them.
package struct ExaminedCertificate: Sendable {
  enum Kind: String, Sendable { case identity, processing }
  enum KeyType: Sendable { case p256, rsa2048, other }

  /// What it is there for.
  let kind: Kind
  /// The certificate's file.
  let file: String
  /// Whether there is a file at all.
  let isThere: Bool
  let pem: String
  /// Nil where none can be read.
  let certificate: Certificate?
  /// Nil where there is none or it cannot be read: ``keyProblem`` says why.
  let keyPEM: String?
  let keyProblem: String?
  /// Whether the private key lies in a file here.
  let hasKeyFile: Bool

  /// - Parameter place: the files without `.pem` and `.key`.
  init(_ kind: Kind, _ place: String) {
    let pem = FileManager.default.contents(ofFile: place + ".pem").map { String(decoding: $0, as: UTF8.self) }
    let key = Result { try PrivateFile.text(place + ".key") }
    var problem: String?
    if case .failure(let error) = key { problem = "\(error)" }
    self.init(
      kind, file: place + ".pem", pem: pem, keyPEM: try? key.get(), keyProblem: problem,
      hasKeyFile: FileManager.default.fileExists(atPath: place + ".key"))
  }

  init(_ kind: Kind, file: String, pem: String?, keyPEM: String?, keyProblem: String? = nil, hasKeyFile: Bool) {
    (self.kind, self.file, self.isThere, self.pem) = (kind, file, pem != nil, pem ?? "")
    certificate = pem.flatMap(Self.read)
    (self.keyPEM, self.keyProblem, self.hasKeyFile) = (keyPEM, keyProblem, hasKeyFile)
  }

  /// The certificates of a folder, in the order of their names.
  static func processing(below path: String) -> [ExaminedCertificate] {
    let names = (try? MerchantFolder.names(in: path + "/processing", ending: ".pem")) ?? []
    return names.map { ExaminedCertificate(.processing, "\(path)/processing/\($0)") }
  }

  /// The certificate of a chain that names a merchant.
  private static func read(_ pem: String) -> Certificate? {
    let blocks = pem.components(separatedBy: "-----END CERTIFICATE-----").dropLast()
    let all = blocks.compactMap { try? Certificate(pemEncoded: $0 + "-----END CERTIFICATE-----\n") }
    return all.first { $0.namedMerchant != nil } ?? all.first
  }
}

extension ExaminedCertificate {
  var notBefore: Timestamp? { certificate.map { Timestamp($0.notValidBefore) } }
  var notAfter: Timestamp? { certificate.map { Timestamp($0.notValidAfter) } }
  var isFromApple: Bool { certificate?.isFromApple ?? false }

  var keyType: KeyType? {
    certificate.map { certificate in
      if P256.Signing.PublicKey(certificate.publicKey) != nil { return .p256 }
      return _RSA.Signing.PublicKey(certificate.publicKey)?.keySizeInBits == 2_048 ? .rsa2048 : .other
    }
  }

  /// What Apple writes into the common name; nil where it says nothing.
  var namedKind: Kind? {
    let name = certificate?.subject.description ?? ""
    if name.contains("Apple Pay Merchant Identity:") { return .identity }
    return name.contains("Apple Pay Payment Processing:") ? .processing : nil
  }

  /// SHA-256 of the public key's SubjectPublicKeyInfo: a payment token's `publicKeyHash`.
  var publicKeyHash: [UInt8]? { publicKeyInfo.map { Array(SHA256.hash(data: $0)) } }

  /// SubjectPublicKeyInfo, DER.
  var publicKeyInfo: [UInt8]? {
    guard let key = certificate?.publicKey else { return nil }
    if let key = P256.Signing.PublicKey(key) { return Array(key.derRepresentation) }
    return _RSA.Signing.PublicKey(key).map { Array($0.derRepresentation) }
  }

  /// Whether the private key belongs to the certificate; nil where one of them cannot be read.
  var keyFits: Bool? {
    guard let keyPEM, let certificate, let key = try? Certificate.PrivateKey(pemEncoded: keyPEM) else { return nil }
    return key.publicKey == certificate.publicKey
  }
}

extension ExaminedCertificate: CustomStringConvertible, CustomReflectable {
  package var description: String { "ExaminedCertificate(\(file))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Certificate {
  /// SHA-256 of the merchant identifier, from Apple's extension 1.2.840.113635.100.6.32.
  var namedMerchant: [UInt8]? {
    guard let value = extensions[oid: [1, 2, 840, 113_635, 100, 6, 32]]?.value, value.count == 66,
      value.starts(with: [0x0C, 0x40])
    else { return nil }
    return Hex.decode(String(decoding: value.dropFirst(2), as: UTF8.self))
  }

  var isFromApple: Bool { issuer.description.contains("O=Apple Inc.") }
}
