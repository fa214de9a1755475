package import Crypto
package import TenderPayments

/// What Apple's signature covers: the raw bytes, one after another, without separators.
///
/// Source: Apple, *Payment token format reference*, step 1.d: ephemeralPublicKey or wrappedKey, data, transactionId,
/// and applicationData if the token has it.
package struct SignedContent: Sendable {
  package let parts: [[UInt8]]

  package init(_ token: EncryptedPaymentToken) {
    let parts = [token.keyMaterial.bytes, token.data, token.transactionID]
    self.parts = if let hash = token.applicationDataHash { parts + [hash] } else { parts }
  }

  package var bytes: [UInt8] { Array(parts.joined()) }

  /// SHA-256 of all parts, and of the first two parts, which identify a payment token.
  package var digests: (content: SHA256.Digest, payload: SHA256.Digest) {
    var hash = SHA256()
    for part in parts.prefix(2) { hash.update(data: part) }
    let payload = hash
    for part in parts.dropFirst(2) { hash.update(data: part) }
    return (hash.finalize(), payload.finalize())
  }
}
