import SwiftASN1
import X509

/// The extensions that say where a certificate's status is found, and under which policy it was issued.
enum RevocationExtensions {
  /// RFC 5280 §4.2.2.1, with OCSP alone.
  static func informationAccess(_ address: String) -> Certificate.Extension {
    let access = BERWriter.definite(0x30, DEROID.ocsp, BERWriter.definite(0x86, Array(address.utf8)))
    return raw([1, 3, 6, 1, 5, 5, 7, 1, 1], BERWriter.definite(0x30, access))
  }

  /// RFC 5280 §4.2.1.13, with one full name.
  static func distributionPoint(_ address: String) -> Certificate.Extension {
    let name = BERWriter.definite(0xA0, BERWriter.definite(0xA0, BERWriter.definite(0x86, Array(address.utf8))))
    return raw([2, 5, 29, 31], BERWriter.definite(0x30, BERWriter.definite(0x30, name)))
  }

  /// RFC 5280 §4.2.1.4: Apple's policy, with a notice and an address as Apple's certificates have.
  static func policy(_ address: String) -> Certificate.Extension {
    let notice = Array("\(SandboxName.organization): for tests alone.".utf8)
    let qualifiers = BERWriter.definite(
      0x30,
      BERWriter.definite(0x30, DEROID.userNotice, BERWriter.definite(0x30, BERWriter.definite(0x0C, notice))),
      BERWriter.definite(0x30, DEROID.practiceStatement, BERWriter.definite(0x16, Array(address.utf8))))
    let policy = BERWriter.definite(0x30, DEROID.apple(5, 1), qualifiers)
    return raw([2, 5, 29, 32], BERWriter.definite(0x30, policy))
  }

  private static func raw(_ oid: ASN1ObjectIdentifier, _ value: [UInt8]) -> Certificate.Extension {
    Certificate.Extension(oid: oid, critical: false, value: value[...])
  }
}
