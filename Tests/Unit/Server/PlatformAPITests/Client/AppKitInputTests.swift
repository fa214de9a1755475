import Crypto
import CryptoExtras
import Foundation
import PlatformAPI
import StrictJSON
import Synchronization
import TenderCheckout
import TenderPayments
import Testing

/// What the app kit encrypts, with swift-crypto in the place of Apple's frameworks.
@Suite struct `A customer input of the app kit` {
  private let vector: CustomerInputVector

  init() throws { vector = try CustomerInputVector.read() }

  private func encrypted(_ random: @escaping @Sendable (Int) -> [UInt8]) throws -> String {
    let session = TenderCheckout.ClientSession(
      clientSessionId: vector.clientSessionId, customerId: vector.customerId, clientApiUrl: "https://pay.example.com")
    let key = CustomerInputPublicKey(keyId: vector.keyId, publicKey: vector.publicKey)
    return try CustomerInputEncryption(session, key, .crypto(random)).encrypt(
      paymentData: Array(vector.paymentData.utf8), transactionIdentifier: vector.transactionIdentifier)
  }

  /// The wrapped key has randomness of its own. jwcrypto opens the vector: Tests/Judges/jose.
  @Test func `is that of the vector in every part but the wrapped key`() throws {
    let bytes = Mutex(try #require(Hex.decode(vector.random)))
    let parts = try encrypted { count in
      bytes.withLock { bytes in
        defer { bytes.removeFirst(count) }
        return Array(bytes.prefix(count))
      }
    }.split(separator: ".")
    let expected = vector.madeByKits.split(separator: ".")
    #expect(parts.count == 5 && [0, 2, 3, 4].allSatisfy { parts[$0] == expected[$0] })
  }

  @Test func `is opened by the server, and is another one each time`() throws {
    let key = try CustomerInputKey(id: "k1", createdAt: Timestamp(seconds: 0), privateKeyPEM: vector.privateKey)
    let made = try (0..<2).map { _ in try encrypted(RandomBytes.system.next) }
    let inputs = try made.map { try CustomerInput(try EncryptedMessage($0).opened(by: key)) }
    #expect(inputs.allSatisfy { $0.clientSessionID == vector.clientSessionId && $0.paymentProductID == 302 })
    #expect(inputs[0].nonce != inputs[1].nonce)
  }

  @Test(arguments: ["https://pay.example.com", "https://pay.example.com/", "https://pay.example.com/client"])
  func `asks below /client, which the session's address may name`(url: String) {
    let session = TenderCheckout.ClientSession(clientSessionId: "s", customerId: "c", clientApiUrl: url)
    #expect(session.address == "https://pay.example.com/client/v1/c")
  }

  @Test func `finds the RSA key in the public key's DER`() throws {
    let spki = try #require(Base64.decode(vector.publicKey))
    let key = try _RSA.Encryption.PublicKey(derRepresentation: spki)
    #expect(PublicKeyInfo.key(in: spki) == Array(key.pkcs1DERRepresentation))
    #expect(PublicKeyInfo.key(in: Array(spki.dropLast())) == nil && PublicKeyInfo.key(in: []) == nil)
  }
}

extension CustomerInputPrimitives {
  static func crypto(_ random: @escaping @Sendable (Int) -> [UInt8]) -> CustomerInputPrimitives {
    CustomerInputPrimitives(
      wrap: { bytes, key in
        Array(try _RSA.Encryption.PublicKey(derRepresentation: key).encrypt(bytes, padding: .PKCS1_OAEP))
      },
      encrypt: { bytes, key, iv in
        Array(try AES._CBC.encrypt(bytes, using: SymmetricKey(data: key), iv: try AES._CBC.IV(ivBytes: iv)))
      },
      authenticate: { Array(HMAC<SHA512>.authenticationCode(for: $0, using: SymmetricKey(data: $1))) }, random: random)
  }
}
