public import Foundation

// As far as the app kit calls it: here it only has to compile. What it encrypts is tested with swift-crypto in its place.

public typealias CFString = String
public typealias CFData = Data
public typealias CFDictionary = [String: String]

public final class SecKey: Sendable {}

public struct SecKeyAlgorithm: Sendable {
  public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm()
}

public let kSecAttrKeyType: CFString = "type"
public let kSecAttrKeyTypeRSA: CFString = "42"
public let kSecAttrKeyClass: CFString = "kcls"
public let kSecAttrKeyClassPublic: CFString = "0"

public func SecKeyCreateWithData(_ data: CFData, _ attributes: CFDictionary, _ error: UnsafeMutableRawPointer?)
  -> SecKey?
{
  nil
}

public func SecKeyCreateEncryptedData(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData, _ error: UnsafeMutableRawPointer?
) -> CFData? { nil }
