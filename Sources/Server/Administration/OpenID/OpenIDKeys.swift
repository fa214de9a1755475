import Crypto
import CryptoExtras
import Foundation
import StrictJSON
import TenderPayments

/// The keys with which a provider signs (RFC 7517), as far as they are for RS256 or ES256.
struct OpenIDKeys: Sendable {
  private static let most = 64

  private let keys: [OpenIDKey]

  /// - Throws: ``OpenIDRefusal`` for what is no set of keys, and for one without a key that can be used.
  init(_ value: JSONValue) throws(OpenIDRefusal) {
    guard case .array(let entries)? = value["keys"], entries.count <= Self.most else { throw .discovery }
    keys = entries.compactMap(OpenIDKey.init)
    guard !keys.isEmpty else { throw .discovery }
  }

  /// The keys that may have signed. A token may leave the name out where one key alone fits.
  func fitting(_ id: String?, _ algorithm: OpenIDKey.Algorithm) -> [OpenIDKey] {
    let fitting = keys.filter { $0.algorithm == algorithm }
    guard let id else { return fitting.count == 1 ? fitting : [] }
    return fitting.filter { $0.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false }
  }
}

/// A public key of a provider's. The kind of key decides how it signs, and never the token.
struct OpenIDKey: Sendable {
  enum Algorithm: String, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"
  }

  private enum Key: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
  }

  let id: String?
  let algorithm: Algorithm
  private let key: Key

  /// - Returns: nil for a key of another kind or use, and for RSA of fewer than 2048 bits or more than 8192.
  fileprivate init?(_ value: JSONValue) {
    guard value["use"] == nil || value["use"] == "sig" else { return nil }
    switch value["kty"]?.text {
    case "RSA":
      guard let modulus = Self.bytes(value, "n"), let exponent = Self.bytes(value, "e"), exponent.count <= 8,
        (256...1_024).contains(modulus.count),
        let key = try? _RSA.Signing.PublicKey(n: Data(modulus), e: Data(exponent)), key.keySizeInBits >= 2_048
      else { return nil }
      (self.key, algorithm) = (.rsa(key), .rs256)
    case "EC":
      guard value["crv"] == "P-256", let x = Self.bytes(value, "x"), let y = Self.bytes(value, "y"), x.count == 32,
        y.count == 32, let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
      else { return nil }
      (self.key, algorithm) = (.p256(key), .es256)
    default: return nil
    }
    guard value["alg"] == nil || value["alg"]?.text == algorithm.rawValue else { return nil }
    id = value["kid"]?.text
  }

  private static func bytes(_ value: JSONValue, _ name: String) -> [UInt8]? {
    value[name]?.text.flatMap(Base64URL.decode)
  }

  func hasSigned(_ message: [UInt8], with signature: [UInt8]) -> Bool {
    switch key {
    case .rsa(let key):
      key.isValidSignature(
        _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: message),
        padding: .insecurePKCS1v1_5)
    case .p256(let key):
      (try? P256.Signing.ECDSASignature(rawRepresentation: signature)).map {
        key.isValidSignature($0, for: message)
      } ?? false
    }
  }
}
