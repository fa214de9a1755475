import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import X509

/// A private key that signs certificates and payment tokens.
enum SigningKey: Sendable {
  case p256(P256.Signing.PrivateKey)
  case p384(P384.Signing.PrivateKey)
  case rsa(_RSA.Signing.PrivateKey)

  /// The private key of a certificate; by way of PEM, because X509's type does not give it out.
  init(_ key: Certificate.PrivateKey) throws {
    let pem = try key.serializeAsPEM().pemString
    if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
      self = .p256(key)
    } else if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
      self = .p384(key)
    } else {
      self = .rsa(try _RSA.Signing.PrivateKey(pemRepresentation: pem))
    }
  }

  /// SubjectPublicKeyInfo, DER.
  var publicKeyInfo: [UInt8] {
    switch self {
    case .p256(let key): Array(key.publicKey.derRepresentation)
    case .p384(let key): Array(key.publicKey.derRepresentation)
    case .rsa(let key): Array(key.publicKey.derRepresentation)
    }
  }

  /// The AlgorithmIdentifier of this key's signatures over SHA-256.
  var algorithm: [UInt8] {
    switch self {
    case .p256, .p384: BERWriter.definite(0x30, DEROID.ecdsaWithSHA256)
    case .rsa: BERWriter.definite(0x30, DEROID.sha256WithRSAEncryption, DEROID.null)
    }
  }

  /// A signature over SHA-256 of the message, in the form in which certificates carry it.
  func sign(_ message: [UInt8]) throws -> [UInt8] {
    let digest = SHA256.hash(data: message)
    return switch self {
    case .p256(let key): Array(try key.signature(for: digest).derRepresentation)
    case .p384(let key): Array(try key.signature(for: digest).derRepresentation)
    case .rsa(let key): Array(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
    }
  }
}

/// The object identifiers of certificates and signatures, as DER with tag and length.
enum DEROID {
  static let null: [UInt8] = [0x05, 0x00]
  static let sha1: [UInt8] = [0x06, 0x05, 0x2B, 0x0E, 0x03, 0x02, 0x1A]
  static let sha256: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
  static let ecdsaWithSHA1: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01]
  static let ecdsaWithSHA256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
  static let ecdsaWithSHA384: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03]
  static let sha256WithRSAEncryption = pkcs(1, 11)
  static let rsassaPSS = pkcs(1, 10)
  static let ocsp = internet(48, 1)
  static let ocspBasic = internet(48, 1, 1)
  static let practiceStatement = internet(2, 1)
  static let userNotice = internet(2, 2)
  static let idData = pkcs(7, 1)
  static let idSignedData = pkcs(7, 2)
  static let contentType = pkcs(9, 3)
  static let messageDigest = pkcs(9, 4)
  static let signingTime = pkcs(9, 5)
  static let algorithmProtection = pkcs(9, 52)

  /// 1.2.840.113549.1.…
  static func pkcs(_ arcs: UInt8...) -> [UInt8] {
    BERWriter.definite(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01] + arcs)
  }

  /// 1.3.6.1.5.5.7.…, of PKIX.
  static func internet(_ arcs: UInt8...) -> [UInt8] {
    BERWriter.definite(0x06, [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07] + arcs)
  }

  /// 1.2.840.113635.100.…, Apple's arc.
  static func apple(_ arcs: UInt8...) -> [UInt8] {
    BERWriter.definite(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64] + arcs)
  }

  /// 2.5.29.…, the extensions of certificates.
  static func certificateExtension(_ arc: UInt8) -> [UInt8] { [0x06, 0x03, 0x55, 0x1D, arc] }
}
