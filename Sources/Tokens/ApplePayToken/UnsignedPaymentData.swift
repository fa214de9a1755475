import Crypto
package import TenderPayments

/// Encrypted payment data without Apple's signature: `data`, `ephemeralPublicKey` and `publicKeyHash` alone, the form
/// that Worldline Direct documents.
///
/// It is a type of its own because nothing says that Apple made it: anybody can encrypt to a public key. What it holds
/// proves itself only at the card's network, by its cryptogram.
package struct UnsignedPaymentData: Sendable, Hashable {
  /// AES-GCM ciphertext followed by its 16-byte tag.
  package let data: [UInt8]
  /// X.509 SubjectPublicKeyInfo in DER.
  package let ephemeralPublicKey: [UInt8]
  /// SHA-256 of the merchant key's SubjectPublicKeyInfo, 32 bytes.
  package let publicKeyHash: [UInt8]

  /// - Throws: stage `format`.
  package init(data: String, ephemeralPublicKey: String, publicKeyHash: String) throws(PaymentTokenError) {
    self.data = try Self.bytes(data, "data", 17...TokenLimits.data)
    self.ephemeralPublicKey = try Self.bytes(ephemeralPublicKey, "ephemeralKey", 1...1_024)
    self.publicKeyHash = try Self.bytes(publicKeyHash, "publicKeyHash", 32...32)
  }

  private static func bytes(
    _ text: String, _ field: String, _ count: ClosedRange<Int>
  ) throws(PaymentTokenError) -> [UInt8] {
    guard let bytes = Base64.decode(text) else { throw PaymentTokenError(.badBase64, "not base64", field: field) }
    guard count.contains(bytes.count) else {
      throw PaymentTokenError(.wrongLength, "must have \(count.lowerBound) to \(count.upperBound) bytes", field: field)
    }
    return bytes
  }

  /// The fingerprint of the whole payment token, which refuses the one after the other; in the place of the transaction
  /// identifier, which this form lacks, it stands again.
  package var use: TokenUse {
    let hash = Hex.encode(SHA256.hash(data: ephemeralPublicKey + data))
    return TokenUse(transactionID: "unsigned:" + hash, payloadHash: hash)
  }
}

extension UnsignedPaymentData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Never the contents: they are not for logs.
  package var description: String { "UnsignedPaymentData(•••)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
