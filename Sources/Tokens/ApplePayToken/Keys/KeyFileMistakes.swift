import TenderPayments

/// Recognises files that are given in place of a private key in PEM.
package enum KeyFileMistakes {
  /// The mistake; nil for a file that may be PEM.
  package static func find(in bytes: [UInt8]) -> PaymentTokenError? {
    guard bytes.contains(where: { $0 > 0x20 }) else {
      return PaymentTokenError(.unreadableKey, "the private key's file is empty")
    }
    if isPKCS12(bytes) { return PaymentTokenError(.pkcs12File, "the file is PKCS #12, as Keychain Access exports it") }
    guard (try? Certificate(der: bytes[...])) == nil else {
      return PaymentTokenError(.notAPrivateKey, "the file holds a certificate, and no private key")
    }
    return nil
  }

  /// RFC 7292 §4: a SEQUENCE of version 3 and a ContentInfo.
  private static func isPKCS12(_ bytes: [UInt8]) -> Bool {
    guard var fields = try? BERReader.only(bytes[...], BERTag.sequence, .ber, "a file").children(.ber),
      let version = try? fields.next(BERTag.integer, "its version"), version.content.elementsEqual([3]),
      let content = try? fields.next(BERTag.sequence, "its content")
    else { return false }
    return content.content.first == BERTag.objectIdentifier
  }
}
