#if canImport(CryptoKit) && canImport(CommonCrypto) && canImport(Security)
  import CommonCrypto
  import CryptoKit
  import Foundation
  import Security
  import TenderPayments

  extension CustomerInputEncryption {
    /// Encrypts for one client session, to a key that its server gave.
    public init(_ session: ClientSession, to key: CustomerInputPublicKey) { self.init(session, key, .apple) }
  }

  extension CustomerInputPrimitives {
    /// The cryptography of Apple's systems.
    static let apple = CustomerInputPrimitives(
      wrap: wrap, encrypt: encrypt,
      authenticate: { bytes, key in
        Array(HMAC<SHA512>.authenticationCode(for: Data(bytes), using: SymmetricKey(data: Data(key))))
      },
      random: { count in SymmetricKey(size: SymmetricKeySize(bitCount: 8 * count)).withUnsafeBytes { Array($0) } })

    /// The Security framework reads an RSA key as PKCS #1 has it, which ends a SubjectPublicKeyInfo.
    @Sendable private static func wrap(_ bytes: [UInt8], _ key: [UInt8]) throws -> [UInt8] {
      let attributes = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic] as CFDictionary
      guard let inner = PublicKeyInfo.key(in: key),
        let secKey = SecKeyCreateWithData(Data(inner) as CFData, attributes, nil),
        let wrapped = SecKeyCreateEncryptedData(secKey, .rsaEncryptionOAEPSHA1, Data(bytes) as CFData, nil)
      else { throw CustomerInputError.publicKeyUnusable }
      return Array(wrapped as Data)
    }

    @Sendable private static func encrypt(_ bytes: [UInt8], _ key: [UInt8], _ iv: [UInt8]) throws -> [UInt8] {
      var (out, count) = ([UInt8](repeating: 0, count: bytes.count + kCCBlockSizeAES128), 0)
      let status = CCCrypt(
        CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding), key, key.count, iv,
        bytes, bytes.count, &out, out.count, &count)
      guard status == CCCryptorStatus(kCCSuccess) else { throw CustomerInputError.publicKeyUnusable }
      return Array(out.prefix(count))
    }
  }
#endif
