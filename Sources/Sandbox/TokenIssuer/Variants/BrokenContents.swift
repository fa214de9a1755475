import ApplePayToken
import Crypto
import CryptoExtras
import StrictJSON
import TenderPayments

/// Tokens that were altered after signing, that arrive too late, or that hold what cannot be decrypted or read.
extension TokenVariant {
  static let alteredTokens: [TokenVariant] = [
    .refused("altered-data", .wrongDigest, "One bit of the ciphertext differs.") { $0.token { $0.data[0] ^= 1 } },
    .refused("altered-tag", .wrongDigest, "One bit of the tag differs.") {
      $0.token { $0.data[$0.data.count - 1] ^= 1 }
    },
    .refused("altered-ephemeral-key", .wrongDigest, "One bit of the ephemeral key differs.") {
      $0.token { $0.keyMaterial[90] ^= 1 }
    },
    .refused("altered-transaction-id", .wrongDigest, "One bit of the transaction identifier differs.") {
      $0.token { $0.transactionID[0] ^= 1 }
    },
    .refused("altered-application-data", .wrongDigest, "One bit of the application data's hash differs.") {
      $0.applicationDataHash = $0.random.next(32)
      $0.token { $0.applicationDataHash?[0] ^= 1 }
    }.decidingApplicationData(),
    .refused("removed-application-data", .wrongDigest, "The application data's hash was taken away.") {
      $0.applicationDataHash = $0.random.next(32)
      $0.token { $0.applicationDataHash = nil }
    }.decidingApplicationData(),
    .refused("added-application-data", .wrongDigest, "An application data's hash was added.") {
      let hash = $0.random.next(32)
      $0.token { $0.applicationDataHash = hash }
    }.decidingApplicationData(),
    .refused("signature-of-another-token", .wrongDigest, "A good signature, of another token.") {
      let other = $0
      $0.token { $0.signature = try other.token(around: []).signature }
    },
    .refused("rsa-altered-wrapped-key", .wrongDigest, "One bit of the wrapped key differs.") {
      $0.token { $0.keyMaterial[0] ^= 1 }
    },
    .refused(
      "boundary-key-and-data", .badEphemeralKey,
      "A byte moved from key to data: the signed bytes have no separators, and are the same."
    ) {
      $0.token { $0.data.insert($0.keyMaterial.removeLast(), at: 0) }
    },
    .refused(
      "boundary-data-and-transaction", .tagMismatch,
      "The data's last 32 bytes as transaction identifier, and that as application data: the signed bytes are the same."
    ) {
      $0.token {
        $0.applicationDataHash = $0.transactionID
        $0.transactionID = Array($0.data.suffix(32))
        $0.data.removeLast(32)
      }
    },
  ]

  static let brokenTimes: [TokenVariant] = wrongTimes + malformedTimes.map(withSigningTime)

  private static let wrongTimes: [TokenVariant] = [
    .refused("signed-long-ago", .tooOld, "Five minutes and a second ago.") { _ in }.arriving(.seconds(301)),
    .refused("signed-yesterday", .tooOld, "A day ago.") { _ in }.arriving(.seconds(86_400)),
    .refused("signed-in-the-future", .inTheFuture, "Five minutes and a second from now.") { _ in }
      .arriving(.seconds(-301)),
    .refused("signing-time-missing", .malformedSigningTime, "No signing time.") {
      $0.signature { $0.remove(DEROID.signingTime) }
    },
  ]

  private typealias MalformedTime = (name: String, tag: UInt8, text: String, summary: String)

  private static let malformedTimes: [MalformedTime] = [
    (
      "generalized", 0x18, "20250615150640Z", "GeneralizedTime before 2050, where RFC 5652 §11.3 requires UTCTime."
    ),
    ("fraction", 0x18, "20250615150640.5Z", "A fraction of a second."),
    ("offset", 0x17, "250615150640+0200", "An offset in place of Z."),
    ("without-zone", 0x17, "250615150640", "No zone."),
    ("without-seconds", 0x17, "2506151506Z", "No seconds."),
    ("lowercase-zone", 0x17, "250615150640z", "A small z."),
    ("month-13", 0x17, "251315150640Z", "The thirteenth month."),
    ("february-30", 0x17, "250230150640Z", "The thirtieth of February."),
    ("second-60", 0x17, "250615150660Z", "Second 60."),
    ("four-digit-year", 0x17, "20250615150640Z", "Four digits of the year in a UTCTime."),
    ("letters", 0x17, "25O615150640Z", "A letter for a digit."),
    ("empty", 0x17, "", "Empty."),
    ("printable-string", 0x13, "250615150640Z", "Another type."),
  ]

  private static func withSigningTime(_ time: MalformedTime) -> TokenVariant {
    .refused("signing-time-\(time.name)", .malformedSigningTime, time.summary) {
      $0.signature {
        $0.set(DEROID.signingTime, [BERWriter.definite(time.tag, Array(time.text.utf8))])
        $0.sort()
      }
    }
  }

  static let brokenKeys: [TokenVariant] = wrongKeys + wrongEphemeralKeys.map(withEphemeralKey)

  private static let wrongKeys: [TokenVariant] = [
    .refused("unknown-key", .unknownKey, "Encrypted to a key that is not the merchant's.") {
      $0.recipient.key = .p256(P256.KeyAgreement.PrivateKey().publicKey)
    },
    .refused("altered-key-hash", .unknownKey, "The key's hash, which is not signed, names another key.") {
      $0.token { $0.publicKeyHash[31] ^= 1 }
    },
    .refused("other-merchant", .tagMismatch, "The merchant's key, and another merchant's identifier.") {
      $0.recipient.merchantHash = MerchantHash(merchantIdentifier: "merchant.com.example.other")
    },
    .refused(
      "merchant-hash-as-text", .wrongKeyDerivation,
      "The hash as 64 digits in the key derivation, where its 32 bytes belong."
    ) {
      $0.encryption.party = Array($0.recipient.merchantHash.description.utf8)
    },
    .refused(
      "secret-without-zero", .wrongKeyDerivation,
      "The secret's leading zero was dropped, as libraries of big numbers do."
    ) {
      try $0.drawKey { try $0.secretOfRecipient()[0] == 0 }
      $0.encryption.editSecret = { Array($0.drop { $0 == 0 }) }
    },
    .refused("vector-of-12-bytes", .tagMismatch, "An initialization vector of 12 zero bytes.") {
      $0.encryption.vector = [UInt8](repeating: 0, count: 12)
    },
    .refused("ephemeral-key-p384", .badEphemeralKey, "A key of P-384.") {
      let key = $0.untrustedRootKey().publicKeyInfo
      $0.content { $0.keyMaterial = key }
    },
  ]

  private typealias EphemeralKey = (name: String, summary: String, edit: @Sendable ([UInt8]) -> [UInt8])

  private static let wrongEphemeralKeys: [EphemeralKey] = [
    ("compressed", "A compressed point.", PublicKeyForms.compressed),
    ("hybrid", "A hybrid point.", PublicKeyForms.hybrid),
    ("infinity", "The point at infinity.", PublicKeyForms.infinity),
    ("secp256k1", "Another curve's name.", PublicKeyForms.secp256k1),
    ("without-curve", "No curve's name.", PublicKeyForms.withoutCurve),
    ("beyond-field", "An X beyond the field.", PublicKeyForms.beyondField),
    (
      "off-curve", "A point beside the curve, which would leak the merchant's key.",
      { $0.dropLast() + [$0[90] ^ 1] }
    ),
    ("zero", "The point (0, 0).", { Array($0.prefix(27)) + [UInt8](repeating: 0, count: 64) }),
    ("trailing-byte", "A byte follows.", { $0 + [0] }), ("raw-point", "The point alone.", { Array($0.suffix(65)) }),
    ("cut-off", "The last byte is missing.", { Array($0.dropLast()) }),
  ]

  private static func withEphemeralKey(_ key: EphemeralKey) -> TokenVariant {
    .refused("ephemeral-key-\(key.name)", .badEphemeralKey, key.summary) {
      $0.content { $0.keyMaterial = key.edit($0.keyMaterial) }
    }
  }

  static let brokenRSA: [TokenVariant] = [
    .refused("rsa-unknown-key", .unknownKey, "The key's hash names another key.") {
      $0.token { $0.publicKeyHash[0] ^= 1 }
    },
    .refused("rsa-wrapped-garbage", .badWrappedKey, "Random bytes for a wrapped key.") {
      let bytes = [0] + $0.random.next(255)
      $0.content { $0.keyMaterial = bytes }
    },
    .refused("rsa-wrapped-zero", .badWrappedKey, "256 zero bytes for a wrapped key.") {
      $0.content { $0.keyMaterial = [UInt8](repeating: 0, count: 256) }
    },
    .refused("rsa-wrapped-beyond-modulus", .badWrappedKey, "A number beyond the modulus.") {
      $0.content { $0.keyMaterial = [UInt8](repeating: 0xFF, count: 256) }
    },
    .refused("rsa-wrapped-short", .badWrappedKey, "255 bytes.") { $0.content { $0.keyMaterial.removeLast() } },
    .refused("rsa-wrapped-long", .badWrappedKey, "257 bytes.") { $0.content { $0.keyMaterial.insert(0, at: 0) } },
    .refused("rsa-key-of-32-bytes", .badWrappedKey, "An AES key of 256 bits, where RSA_v1 has 128.") {
      $0.encryption.contentKey = $0.random.next(32)
    },
    .refused("rsa-key-of-24-bytes", .badWrappedKey, "An AES key of 192 bits.") {
      $0.encryption.contentKey = $0.random.next(24)
    },
    .refused("rsa-oaep-sha1", .badWrappedKey, "Wrapped with OAEP and SHA-1.") {
      $0.encryption.padding = .PKCS1_OAEP
    },
    .refused("rsa-pkcs1", .badWrappedKey, "Wrapped with the padding of PKCS #1 version 1.5.") {
      $0.encryption.padding = ._WEAK_AND_INSECURE_PKCS_V1_5
    },
    .refused("rsa-value-bit-flipped", .invalidSignature, "The last bit of the signature's value differs.") {
      $0.signature { $0.editValue = { $0.dropLast() + [$0[$0.count - 1] ^ 1] } }
    },
    .refused("rsa-value-short", .invalidSignature, "255 bytes of value.") {
      $0.signature { $0.editValue = { Array($0.dropLast()) } }
    },
    .refused("rsa-value-ones", .invalidSignature, "The number 1, whose every power is 1.") {
      $0.signature { $0.editValue = { _ in [UInt8](repeating: 0, count: 255) + [1] } }
    },
    .refused("rsa-pss", .forbiddenAlgorithm, "RSASSA-PSS is named.") {
      $0.signature { $0.signatureAlgorithm = BERWriter.definite(0x30, DEROID.rsassaPSS) }
    },
    .refused("rsa-algorithm-without-null", .forbiddenAlgorithm, "RSA's identifier without NULL (RFC 4055 §5 has it).") {
      $0.signature { $0.signatureAlgorithm = BERWriter.definite(0x30, DEROID.sha256WithRSAEncryption) }
    },
    .refused("rsa-tag-zero", .tagMismatch, "RSA_v1 with a tag of zeros.") {
      $0.encryption.editData = { $0.dropLast(16) + [UInt8](repeating: 0, count: 16) }
    },
    .refused("rsa-marker-missing", .signerNotFound, "The RSA signer's certificate lacks Apple's marker.") {
      $0.signer { $0.remove(.signerMarker) }
    },
    .refused("rsa-stranger-signs", .wrongSigner, "An elliptic signature in the name of another certificate.") {
      $0.signature { $0.serialNumber = [0x02, 0x01, 0x07] }
    },
  ]

  static let brokenData: [TokenVariant] = [
    .refused("tag-zero", .tagMismatch, "A tag of zeros.") {
      $0.encryption.editData = { $0.dropLast(16) + [UInt8](repeating: 0, count: 16) }
    },
    .refused("tag-bit-flipped", .tagMismatch, "One bit of the tag, before signing.") {
      $0.encryption.editData = { $0.dropLast() + [$0[$0.count - 1] ^ 1] }
    },
    .refused(
      "ciphertext-bit-flipped", .tagMismatch,
      "One bit of the ciphertext, before signing: an amount could become another."
    ) {
      $0.encryption.editData = { [$0[0] ^ 1] + $0.dropFirst() }
    },
    .refused("tag-of-12-bytes", .tagMismatch, "A tag of 12 bytes.") {
      $0.encryption.editData = { Array($0.dropLast(4)) }
    },
    .refused("tag-missing", .tagMismatch, "No tag.") { $0.encryption.editData = { Array($0.dropLast(16)) } },
    .refused("tag-first", .tagMismatch, "The tag before the ciphertext.") {
      $0.encryption.editData = { Array($0.suffix(16)) + $0.dropLast(16) }
    },
    .refused("data-is-a-tag", .tooShort, "16 bytes: a tag, and nothing under it.") {
      $0.encryption.editData = { Array($0.suffix(16)) }
    },
    .refused("data-of-one-byte", .tooShort, "One byte.") { $0.encryption.editData = { Array($0.prefix(1)) } },
  ]
}
