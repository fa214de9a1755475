import Crypto
import CryptoExtras
import TenderPayments

/// A private key in this process's memory.
enum KeyHolderInMemory: ProcessingKeyHolder {
  case p256(P256.KeyAgreement.PrivateKey, PartyInfo)
  case rsa(RSADecryptionKey)

  func contentKey(
    from material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> ContentKey {
    switch (material, self) {
    case (.ephemeralPublicKey(let info), .p256(let key, let party)):
      ContentKey(KeyDerivation.contentKey(sharedSecret: try Self.agree(info, key), party: party))
    case (.wrappedKey(let wrapped), .rsa(let key)): try Self.unwrap(wrapped, key.key)
    case (.ephemeralPublicKey, .rsa):
      throw PaymentTokenError(.wrongKindOfKey, "the token is EC_v1 and the key is RSA")
    case (.wrappedKey, .p256):
      throw PaymentTokenError(.wrongKindOfKey, "the token is RSA_v1 and the key is of P-256")
    }
  }

  func keysOfMistakes(
    in material: EncryptedPaymentToken.KeyMaterial, within timeout: Duration
  ) throws(PaymentTokenError) -> [(mistake: KeyDerivationMistake, key: ContentKey)] {
    guard case (.ephemeralPublicKey(let info), .p256(let key, let party)) = (material, self) else { return [] }
    let secret = try Self.agree(info, key)
    return party.mistaken.map { mistake, text in
      (mistake, ContentKey(KeyDerivation.contentKey(sharedSecret: secret, partyBytes: text)))
    } + Self.shortened(secret, party)
  }

  /// EC_v1: ECDH with the device's ephemeral key. The key must have the one form that Apple writes, and the point must
  /// lie on the curve: otherwise the result would reveal parts of the private key.
  private static func agree(
    _ info: [UInt8], _ key: P256.KeyAgreement.PrivateKey
  ) throws(PaymentTokenError) -> SharedSecret {
    guard let point = PublicKeyInfo.point(info[...], PublicKeyInfo.p256Prefix, coordinateBytes: 32),
      let ephemeral = try? P256.KeyAgreement.PublicKey(x963Representation: point),
      let secret = try? key.sharedSecretFromKeyAgreement(with: ephemeral)
    else {
      throw PaymentTokenError(
        .badEphemeralKey, "not a point of P-256 in Apple's form", field: "header.ephemeralPublicKey")
    }
    return secret
  }

  private static func shortened(
    _ secret: SharedSecret, _ party: PartyInfo
  ) -> [(mistake: KeyDerivationMistake, key: ContentKey)] {
    let key: SymmetricKey? = secret.withUnsafeBytes { coordinate in
      guard coordinate.first == 0 else { return nil }
      let short = UnsafeRawBufferPointer(rebasing: coordinate.drop { $0 == 0 })
      return KeyDerivation.contentKey(coordinate: short, partyBytes: party.bytes)
    }
    guard let key else { return [] }
    return [(.secretWithoutLeadingZeros, ContentKey(key))]
  }

  /// RSA_v1: RSA-OAEP with SHA-256, for the key of AES-128 itself.
  private static func unwrap(
    _ wrapped: [UInt8], _ key: _RSA.Encryption.PrivateKey
  ) throws(PaymentTokenError) -> ContentKey {
    guard var bytes = try? key.decrypt(wrapped, padding: .PKCS1_OAEP_SHA256), bytes.count == 16 else {
      throw PaymentTokenError(.badWrappedKey, "no AES key of 128 bits comes out", field: "header.wrappedKey")
    }
    defer { bytes.wipe() }
    return ContentKey(SymmetricKey(data: bytes))
  }
}

/// An RSA key that several tasks may use at once. swift-crypto declares its signing key Sendable, but not this one;
/// both wrap an immutable BoringSSL key, which `openssl/rsa.h` allows to be shared.
struct RSADecryptionKey: @unchecked Sendable {
  let key: _RSA.Encryption.PrivateKey
}
