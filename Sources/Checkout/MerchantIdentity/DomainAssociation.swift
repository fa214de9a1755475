import StrictJSON
import TenderPayments

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

  /// A file that a person brings. Apple's is a JSON object in hexadecimal; what else downloads and forms make of it, Apple
  /// refuses later.
  package init(brought bytes: [UInt8]) throws(MerchantIdentityError) {
    let text = bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
    guard let json = Hex.decode(String(decoding: text, as: UTF8.self)), case .object? = try? JSONReader.read(json)
    else {
      let look =
        switch text.first {
        case UInt8(ascii: "<"): "a page, perhaps of an error"
        case UInt8(ascii: "{"): "JSON in clear"
        default: "\(bytes.count) bytes that are no hexadecimal JSON"
        }
      throw MerchantIdentityError(
        .badAssociationFile, "This is not Apple's domain association file but \(look).",
        advice: "Download it again from the developer account, and give it unchanged; it begins with 7B.")
    }
    try self.init(bytes: bytes)
  }
}
