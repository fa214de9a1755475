/// The file by which Apple knows that a domain is the merchant's: opaque bytes, served exactly as Apple gave them.
package struct DomainAssociation: Sendable, Hashable {
  /// Where Apple looks. The registration API uses the first name, the developer portal the second: serve both.
  package static let paths = [
    "/.well-known/apple-developer-merchantid-domain-association",
    "/.well-known/apple-developer-merchantid-domain-association.txt",
  ]
  /// Files of 5 to 10 KB have been seen.
  static let maximumBytes = 65_536

  package let bytes: [UInt8]

  package init(bytes: [UInt8]) throws(MerchantIdentityError) {
    guard (1...Self.maximumBytes).contains(bytes.count) else {
      throw MerchantIdentityError(
        .badAssociationFile, "The domain association file has \(bytes.count) bytes.",
        advice: "Download it again from the developer account, for this very domain, and change nothing in it.")
    }
    self.bytes = bytes
  }
}
