import Crypto
import SwiftASN1
import TenderPayments
package import X509

/// SHA-256 of a merchant identifier: the name by which Apple's protocols know a merchant.
package struct MerchantHash: Sendable, Hashable, CustomStringConvertible {
  /// 32 bytes, as they enter the key derivation.
  let bytes: [UInt8]

  package init(merchantIdentifier: String) { bytes = Array(SHA256.hash(data: Array(merchantIdentifier.utf8))) }

  /// Out of a merchant's certificate: 64 hex digits in extension 1.2.840.113635.100.6.32; nil when they are not there.
  package init?(certificate: Certificate) {
    guard let value = certificate.extensions[oid: AppleObjectIdentifier.merchantHash]?.value,
      value.count == 66, value.starts(with: [0x0C, 0x40]),
      let bytes = Hex.decode(String(decoding: value.dropFirst(2), as: UTF8.self))
    else { return nil }
    self.bytes = bytes
  }

  /// 64 capital hex digits, as certificates, sessions and Apple's error texts spell it.
  package var description: String { Hex.encode(bytes).uppercased() }

  /// The extension's content: a UTF8String of 64 characters, 66 bytes in all.
  var extensionValue: [UInt8] { [0x0C, 0x40] + Array(description.utf8) }
}
