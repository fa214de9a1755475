import ApplePayToken
import TenderPayments

/// Certificates that do not lead to the root, or that are not allowed to sign.
extension TokenVariant {
  static let brokenChains: [TokenVariant] = wrongIssuers + unfit + outOfDate

  private static let wrongIssuers: [TokenVariant] = [
    .refused("root-of-the-same-name", .untrustedRoot, "An untrusted root with the trusted root's name.") {
      let key = $0.untrustedRootKey()
      $0.intermediate { $0.issuerKey = key }
    },
    .refused("root-of-another-name", .untrustedRoot, "An untrusted root.") {
      let key = $0.untrustedRootKey()
      let name = try DERName.make(["Untrusted root", "Unknown unit", "Unknown organization"])
      $0.intermediate { ($0.issuer, $0.issuerKey) = (name, key) }
    },
    .refused("root-is-the-intermediate", .untrustedRoot, "The intermediate signed itself.") {
      let (name, key) = ($0.authority.intermediateName, $0.authority.intermediateKey)
      $0.intermediate { ($0.issuer, $0.issuerKey) = (name, key) }
    },
    .refused("intermediate-altered", .untrustedRoot, "One bit of the intermediate's signature differs.") {
      $0.signature { $0.certificates[1][$0.certificates[1].count - 1] ^= 1 }
    },
    .refused("intermediate-sha1", .untrustedRoot, "The intermediate's certificate says it is signed with SHA-1.") {
      $0.intermediate { $0.algorithm = BERWriter.definite(0x30, DEROID.ecdsaWithSHA1) }
    },
    .refused("signer-self-signed", .brokenChain, "The signer's certificate is its own issuer's.") {
      let key = try $0.authority.signer(isRSA: false, $0.random).key
      $0.signer { ($0.issuer, $0.issuerKey) = ($0.subject, key) }
    },
    .refused("signer-of-a-stranger", .brokenChain, "An untrusted key issued it in the intermediate's name.") {
      let key = $0.untrustedKey()
      $0.signer { $0.issuerKey = key }
    },
    .refused("signer-below-the-root", .brokenChain, "The root issued it, beside the intermediate.") {
      let (name, key) = ($0.authority.rootName, $0.authority.rootKey)
      $0.signer { ($0.issuer, $0.issuerKey) = (name, key) }
    },
    .refused("signer-altered", .brokenChain, "One bit of the signer's certificate differs.") {
      $0.signature { $0.certificates[0][$0.certificates[0].count - 1] ^= 1 }
    },
    .refused("signer-sha1", .brokenChain, "The signer's certificate says it is signed with SHA-1.") {
      $0.signer { $0.algorithm = BERWriter.definite(0x30, DEROID.ecdsaWithSHA1) }
    },
    .refused("signer-algorithm-with-null", .brokenChain, "ECDSA's identifier with parameters (RFC 5758 §3.2 has none).")
    {
      $0.signer { $0.algorithm = BERWriter.definite(0x30, DEROID.ecdsaWithSHA256, DEROID.null) }
    },
  ]

  private static let unfit: [TokenVariant] = [
    .refused("signer-is-authority", .unfitCertificate, "The signer is an authority.") {
      $0.signer { $0.set(.basicConstraints(isAuthority: true)) }
    },
    .refused("signer-may-not-sign", .unfitCertificate, "The signer's key is for key agreement.") {
      $0.signer { $0.set(.keyUsage(0x08)) }
    },
    .refused("signer-without-usage", .unfitCertificate, "The signer's certificate does not say what its key is for.") {
      $0.signer { $0.remove(.keyUsage(0x80)) }
    },
    .refused("signer-unknown-critical", .unfitCertificate, "An unknown critical extension.") {
      $0.signer { $0.extensions.append(.init(identifier: DEROID.apple(7, 1), isCritical: true, value: DEROID.null)) }
    },
    .refused("intermediate-no-authority", .unfitCertificate, "The intermediate is no authority.") {
      $0.intermediate { $0.set(.basicConstraints(isAuthority: false)) }
    },
    .refused(
      "intermediate-without-constraints", .unfitCertificate, "The intermediate does not say that it is an authority."
    ) {
      $0.intermediate { $0.remove(.basicConstraints(isAuthority: true)) }
    },
    .refused("intermediate-may-not-issue", .unfitCertificate, "The intermediate's key is for signing data.") {
      $0.intermediate { $0.set(.keyUsage(0x80)) }
    },
    .refused("intermediate-without-usage", .unfitCertificate, "The intermediate does not say what its key is for.") {
      $0.intermediate { $0.remove(.keyUsage(0x06)) }
    },
    .refused(
      "intermediate-name-constraints", .unfitCertificate,
      "Name constraints, which are critical and not understood here."
    ) {
      $0.intermediate {
        $0.extensions.append(
          .init(identifier: DEROID.certificateExtension(30), isCritical: true, value: [0x30, 0x00]))
      }
    },
    .refused(
      "intermediate-policy-constraints", .unfitCertificate, "Policy constraints, critical and not understood here."
    ) {
      $0.intermediate {
        $0.extensions.append(
          .init(identifier: DEROID.certificateExtension(36), isCritical: true, value: [0x30, 0x00]))
      }
    },
    .refused("signer-p384", .unfitCertificate, "The signer's key is of P-384.") {
      let key = $0.untrustedRootKey()
      $0.signer { $0.publicKeyInfo = key.publicKeyInfo }
      $0.signature { $0.key = key }
    },
    .refused("signer-secp256k1", .unfitCertificate, "The signer's key says it is of secp256k1.") {
      $0.signer { $0.publicKeyInfo = PublicKeyForms.secp256k1($0.publicKeyInfo) }
    },
    .refused("signer-compressed", .unfitCertificate, "The signer's key is a compressed point.") {
      $0.signer { $0.publicKeyInfo = PublicKeyForms.compressed($0.publicKeyInfo) }
    },
    .refused("signer-off-curve", .unfitCertificate, "The signer's key is no point of the curve.") {
      $0.signer { $0.publicKeyInfo[90] ^= 1 }
    },
  ]

  private static let outOfDate: [TokenVariant] = [
    .refused(
      "signer-expired", .certificateNotValidThen, "The signer's certificate had expired one second before it signed."
    ) {
      let time = $0.signingTime
      $0.signer { $0.notAfter = time.adding(.seconds(-1)) }
    },
    .refused(
      "signer-not-yet-valid", .certificateNotValidThen, "The signer's certificate became valid one second after."
    ) {
      let time = $0.signingTime
      $0.signer { $0.notBefore = time.adding(.seconds(1)) }
    },
    .refused("intermediate-expired", .certificateNotValidThen, "The intermediate had expired one second before.") {
      let time = $0.signingTime
      $0.intermediate { $0.notAfter = time.adding(.seconds(-1)) }
    },
    .refused("intermediate-not-yet-valid", .certificateNotValidThen, "The intermediate became valid one second after.")
    {
      let time = $0.signingTime
      $0.intermediate { $0.notBefore = time.adding(.seconds(1)) }
    },
    .refused("signing-time-1950", .certificateNotValidThen, "UTCTime's 50 is 1950, when no certificate was valid.") {
      $0.signature { $0.set(DEROID.signingTime, [BERWriter.definite(0x17, Array("500101000000Z".utf8))]) }
    },
    .refused("signing-time-2049", .certificateNotValidThen, "UTCTime's 49 is 2049, when none is valid any more.") {
      $0.signature { $0.set(DEROID.signingTime, [BERWriter.definite(0x17, Array("491231235959Z".utf8))]) }
    },
  ]
}

/// A P-256 SubjectPublicKeyInfo of 91 bytes, written in ways that it must not be.
enum PublicKeyForms {
  static func compressed(_ info: [UInt8]) -> [UInt8] {
    rebuilt(info, curve: Array(info[13..<23]), point: [info[90] & 1 == 0 ? 0x02 : 0x03] + info[27..<59])
  }

  static func hybrid(_ info: [UInt8]) -> [UInt8] {
    rebuilt(info, curve: Array(info[13..<23]), point: [info[90] & 1 == 0 ? 0x06 : 0x07] + info[27...])
  }

  static func infinity(_ info: [UInt8]) -> [UInt8] { rebuilt(info, curve: Array(info[13..<23]), point: [0]) }

  static func secp256k1(_ info: [UInt8]) -> [UInt8] {
    rebuilt(info, curve: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A], point: Array(info[26...]))
  }

  /// X at or above the field's prime, which has a second spelling below it.
  static func beyondField(_ info: [UInt8]) -> [UInt8] {
    rebuilt(info, curve: Array(info[13..<23]), point: [0x04] + [UInt8](repeating: 0xFF, count: 32) + info[59...])
  }

  static func withoutCurve(_ info: [UInt8]) -> [UInt8] { rebuilt(info, curve: [], point: Array(info[26...])) }

  private static func rebuilt(_ info: [UInt8], curve: [UInt8], point: [UInt8]) -> [UInt8] {
    let algorithm = BERWriter.definite(0x30, Array(info[4..<13]), curve)
    return BERWriter.definite(0x30, algorithm, BERWriter.definite(0x03, [0], point))
  }
}
