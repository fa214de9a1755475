import Crypto
package import TenderPayments

/// The cryptographic primitives of the procedure, one by one, for tests with known answers.
///
/// Each runs the same code and the same parsers as a payment token does.
package enum TokenPrimitives {
  /// A signer's signature over SHA-256 of the message.
  package static func signerVerifies(publicKeyInfo: [UInt8], message: [UInt8], signature: [UInt8]) -> Bool {
    SignerKey(publicKeyInfo[...])?.isValid(signature[...], for: SHA256.hash(data: message)) ?? false
  }

  /// A certificate authority's signature over SHA-384 of the message, or over SHA-256.
  package static func authorityVerifies(
    publicKeyInfo: [UInt8], message: [UInt8], signature: [UInt8], isSHA384: Bool
  ) -> Bool {
    guard let key = AuthorityKey(publicKeyInfo[...]) else { return false }
    return isSHA384
      ? key.isValid(signature[...], for: SHA384.hash(data: message))
      : key.isValid(signature[...], for: SHA256.hash(data: message))
  }

  /// From the token's key material to its AES key; nil when it is refused.
  package static func contentKey(_ material: EncryptedPaymentToken.KeyMaterial, _ key: ProcessingKey) -> [UInt8]? {
    try? key.holder.contentKey(from: material, within: .seconds(5)).bytes
  }

  /// AES-GCM with Apple's initialization vector; nil when the tag is wrong.
  package static func opened(_ data: [UInt8], with key: [UInt8]) -> [UInt8]? {
    try? ContentKey(bytes: key)?.open(data)
  }
}
