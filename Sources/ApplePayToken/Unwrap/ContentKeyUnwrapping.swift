import Crypto
import CryptoExtras
import TenderPayments

extension ProcessingKey {
  /// Apple's step 3: restores the symmetric key of one payment token.
  ///
  /// - Throws: stage `unwrap`, or `wrong_kind_of_key`.
  func unwrap(_ material: EncryptedPaymentToken.KeyMaterial) throws(PaymentTokenError) -> ContentKey {
    switch (material, secret) {
    case (.ephemeralPublicKey(let info), .p256(let key, let party)): try Self.agree(info, key, party)
    case (.wrappedKey(let wrapped), .rsa(let key)): try Self.unwrap(wrapped, key.key)
    case (.ephemeralPublicKey, .rsa):
      throw PaymentTokenError(.wrongKindOfKey, "the token is EC_v1 and the key is RSA")
    case (.wrappedKey, .p256):
      throw PaymentTokenError(.wrongKindOfKey, "the token is RSA_v1 and the key is of P-256")
    }
  }

  /// EC_v1: ECDH with the device's ephemeral key. The one form in which Apple writes it is required, and the point
  /// must lie on the curve, or the answer would tell about the private key.
  private static func agree(
    _ info: [UInt8], _ key: P256.KeyAgreement.PrivateKey, _ party: PartyInfo
  ) throws(PaymentTokenError) -> ContentKey {
    guard let point = PublicKeyInfo.point(info[...], PublicKeyInfo.p256Prefix, coordinateBytes: 32),
      let ephemeral = try? P256.KeyAgreement.PublicKey(x963Representation: point),
      let secret = try? key.sharedSecretFromKeyAgreement(with: ephemeral)
    else {
      throw PaymentTokenError(
        .badEphemeralKey, "not a point of P-256 in Apple's form", field: "header.ephemeralPublicKey")
    }
    return ContentKey(KeyDerivation.contentKey(sharedSecret: secret, party: party))
  }

  /// RSA_v1: RSA-OAEP with SHA-256, for the key of AES-128 itself.
  private static func unwrap(
    _ wrapped: [UInt8], _ key: _RSA.Encryption.PrivateKey
  ) throws(PaymentTokenError) -> ContentKey {
    guard let bytes = try? key.decrypt(wrapped, padding: .PKCS1_OAEP_SHA256), bytes.count == 16 else {
      throw PaymentTokenError(.badWrappedKey, "no AES key of 128 bits comes out", field: "header.wrappedKey")
    }
    return ContentKey(SymmetricKey(data: bytes))
  }
}
