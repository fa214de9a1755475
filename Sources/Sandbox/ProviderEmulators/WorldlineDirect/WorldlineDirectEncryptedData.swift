import AcquirerSandbox
import ApplePayToken
import Crypto
import DirectWire
import Storage
import StrictJSON
import TenderPayments

extension ProviderKeys {
  /// Decrypts Apple's `data` that came without its signature, as Worldline takes it: with the ephemeral key and the hash
  /// of the key that it is encrypted to. Only the tag of AES-GCM protects it.
  ///
  /// Source: Apple, *Payment token format reference*, `EC_v1`; NIST SP 800-56A, one-step key derivation.
  ///
  /// - Throws: ``WorldlineDirectRefusal``.
  func open(data: String, ephemeralKey: String?, publicKeyHash: String?) async throws -> PaymentData {
    guard let data = Base64.decode(data), data.count > 16, let point = ephemeralKey.flatMap({ Base64.decode($0) }),
      let sender = try? P256.KeyAgreement.PublicKey(derRepresentation: point),
      let hash = publicKeyHash.flatMap({ Base64.decode($0) })
    else { throw Self.refusal("needs base64 in encryptedPaymentData, ephemeralKey and publicKeyHash") }
    guard let (merchant, key) = try await key(hashed: hash) else {
      throw Self.refusal("publicKeyHash is of no key here")
    }
    let secret = try key.sharedSecretFromKeyAgreement(with: sender)
    guard let plaintext = try? Self.decrypt(data, Self.contentKey(secret, for: merchant)) else {
      throw Self.refusal("does not decrypt")
    }
    do { return try PaymentData(plaintext: plaintext) } catch { throw Self.refusal(error.reason) }
  }

  private func key(hashed hash: [UInt8]) async throws -> (merchant: String, P256.KeyAgreement.PrivateKey)? {
    let rows = try await database.read { transaction in
      try transaction.rows("SELECT name, value FROM keys WHERE name LIKE 'processing:%' ORDER BY name").map {
        (try $0.text("name"), try $0.blob("value"))
      }
    }
    for (name, pem) in rows {
      let key = try P256.KeyAgreement.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
      if Array(SHA256.hash(data: key.publicKey.derRepresentation)) == hash {
        return (String(name.dropFirst("processing:".count)), key)
      }
    }
    return nil
  }

  private static func contentKey(_ secret: SharedSecret, for merchant: String) -> SymmetricKey {
    let counter: [UInt8] = [0, 0, 0, 1]
    let partyInfo = [13] + Array("id-aes256-GCM".utf8) + Array("Apple".utf8) + SHA256.hash(data: Array(merchant.utf8))
    let digest = secret.withUnsafeBytes { SHA256.hash(data: counter + Array($0) + partyInfo) }
    return SymmetricKey(data: Array(digest))
  }

  /// The last 16 bytes are the tag; the initialization vector is 16 zeros.
  private static func decrypt(_ data: [UInt8], _ key: SymmetricKey) throws -> [UInt8] {
    let box = try AES.GCM.SealedBox(
      nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)), ciphertext: data.dropLast(16),
      tag: data.suffix(16))
    return Array(try AES.GCM.open(box, using: key))
  }

  private static func refusal(_ reason: String) -> WorldlineDirectRefusal {
    WorldlineDirectRefusal(.invalidValue("mobilePaymentMethodSpecificInput.encryptedPaymentData", reason))
  }
}
