import Crypto
import CryptoExtras
import Foundation
import TenderPayments

/// How a payload is encrypted to a merchant, every part of which can be changed (Apple, *Restoring the symmetric key*).
struct PayloadEncryption {
  /// The device's key, for EC_v1.
  var ephemeralKey = P256.KeyAgreement.PrivateKey()
  /// The token's own key, for RSA_v1.
  var contentKey: [UInt8]
  /// 16 zero bytes, where most protocols have 12.
  var vector = [UInt8](repeating: 0, count: 16)
  /// Over the shared secret, before the key is derived from it.
  var editSecret: ([UInt8]) -> [UInt8] = { $0 }
  /// PartyVInfo; the merchant's hash when nil.
  var party: [UInt8]?
  /// How the content key is wrapped, for RSA_v1.
  var padding = _RSA.Encryption.Padding.PKCS1_OAEP_SHA256
  /// Over ciphertext and tag.
  var editData: ([UInt8]) -> [UInt8] = { $0 }

  init(random: RandomBytes) { contentKey = random.next(16) }

  /// The secret that device and merchant agree on.
  func secret(with merchant: P256.KeyAgreement.PublicKey) throws -> [UInt8] {
    try ephemeralKey.sharedSecretFromKeyAgreement(with: merchant).withUnsafeBytes { Array($0) }
  }

  func encrypt(_ plaintext: [UInt8], to recipient: TokenRecipient) throws -> (material: [UInt8], data: [UInt8]) {
    switch recipient.key {
    case .p256(let key):
      let contentKey = KeyAgreement.key(
        secret: editSecret(try secret(with: key)), party: party ?? recipient.merchantHash.bytes)
      return (Array(ephemeralKey.publicKey.derRepresentation), try encrypted(plaintext, contentKey))
    case .rsa(let key):
      return (try wrapped(to: key.key), try encrypted(plaintext, SymmetricKey(data: contentKey)))
    }
  }

  /// The content key, encrypted to the merchant.
  func wrapped(to key: _RSA.Encryption.PublicKey) throws -> [UInt8] {
    Array(try key.encrypt(contentKey, padding: padding))
  }

  private func encrypted(_ plaintext: [UInt8], _ key: SymmetricKey) throws -> [UInt8] {
    let box = try AES.GCM.seal(plaintext, using: key, nonce: AES.GCM.Nonce(data: vector))
    return editData(Array(box.ciphertext) + Array(box.tag))
  }
}
