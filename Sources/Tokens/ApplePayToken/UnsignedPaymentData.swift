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

extension TokenOpener {
  /// Decrypts what no signature vouches for.
  ///
  /// - Parameters: as of ``open(_:for:at:within:)``.
  package func open(
    _ data: UnsignedPaymentData, for merchant: MerchantID, at time: Timestamp, within timeout: Duration = .seconds(2)
  ) throws(PaymentTokenError) -> PaymentData {
    let chosen = try keys.choose(for: data, of: merchant)
    let contentKey = try chosen.key.holder.contentKey(
      from: .ephemeralPublicKey(data.ephemeralPublicKey), within: timeout)
    var plaintext = try contentKey.open(data.data)
    defer { plaintext.wipe() }
    let payment = try PaymentData(plaintext: plaintext)
    keys.used(chosen, at: time)
    return payment
  }
}

extension PaymentData {
  /// The part of Apple's step 6 that needs no signature.
  ///
  /// - Throws: stage `order`.
  package func confirm(pays ordered: Amount) throws(PaymentTokenError) {
    try AmountCheck.confirm(amount, pays: ordered)
  }
}
