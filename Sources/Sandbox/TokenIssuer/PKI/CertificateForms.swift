import SwiftASN1
import TenderPayments
import X509

/// The names of the sandbox's certificates: shaped like Apple's, and impossible to take for them.
package enum SandboxName {
  package static let organization = "Tender Sandbox (NOT APPLE)"
  package static let team = "TENDERTEST"

  static let tokenRoot = authority("Tender Sandbox Root CA - G3 (NOT APPLE)")
  static let tokenIntermediate = authority("Tender Sandbox Application Integration CA - G3 (NOT APPLE)")
  static let developerRelations = authority("Tender Sandbox Worldwide Developer Relations CA (NOT APPLE)")
  static let tlsRoot = authority("Tender Sandbox TLS CA (NOT APPLE)")
  static let tokenSigner = ["ecc-smp-broker-sign_TENDER-SIMULATED", "Tender Sandbox Systems", organization]
  static let rsaTokenSigner = ["rsa-smp-broker-sign_TENDER-SIMULATED", "Tender Sandbox Systems", organization]

  private static func authority(_ commonName: String) -> [String] {
    [commonName, "Tender Sandbox Certification Authority", organization]
  }

  /// CN, OU, O, and a country that no country has.
  static func make(_ parts: [String], userID: String? = nil) throws -> DistinguishedName {
    typealias Attribute = RelativeDistinguishedName.Attribute
    let types: [ASN1ObjectIdentifier] = [
      .RDNAttributeType.commonName, .RDNAttributeType.organizationalUnitName, .RDNAttributeType.organizationName,
    ]
    let user = userID.map { [Attribute(type: AppleObjectIdentifier.userID, utf8String: $0)] } ?? []
    let named = zip(types, parts).map { Attribute(type: $0, utf8String: $1) }
    let country = try Attribute(type: .RDNAttributeType.countryName, printableString: "XX")
    return try DistinguishedName(user + named + [country])
  }
}

/// The extensions that each kind of certificate carries, in the order of Apple's.
enum CertificateExtensions {
  /// `05 00`: the value under both of Apple's markers, of which only the presence counts.
  private static let markerValue: ArraySlice<UInt8> = [0x05, 0x00]

  static func root(_ keys: KeyIdentifiers) throws -> [Certificate.Extension] {
    [keys.subject, try constraints(.isCertificateAuthority(maxPathLength: nil)), try usage(authorityUsage)]
  }

  /// An authority below the root.
  static func intermediate(
    _ keys: KeyIdentifiers, _ addresses: AuthorityAddresses, marker: Certificate.Extension?
  ) throws -> [Certificate.Extension] {
    [
      RevocationExtensions.informationAccess(addresses.ocsp(.tokenRoot)), keys.subject,
      try constraints(.isCertificateAuthority(maxPathLength: nil)), keys.authority,
      RevocationExtensions.distributionPoint(addresses.revocationList(.tokenRoot)), try usage(authorityUsage),
    ] + (marker.map { [$0] } ?? [])
  }

  /// What the signers of payment tokens carry, for either kind of key.
  static func tokenSigner(_ keys: KeyIdentifiers, _ addresses: AuthorityAddresses) throws -> [Certificate.Extension] {
    [
      RevocationExtensions.informationAccess(addresses.ocsp(.tokenIntermediate)), keys.subject,
      try constraints(.notCertificateAuthority), keys.authority, RevocationExtensions.policy(addresses.base),
      RevocationExtensions.distributionPoint(addresses.revocationList(.tokenIntermediate)),
      try usage(KeyUsage(digitalSignature: true)), marker(AppleObjectIdentifier.tokenSigner),
    ]
  }

  /// What a merchant's certificates carry.
  static func merchant(
    _ keys: KeyIdentifiers, _ addresses: AuthorityAddresses, _ hash: MerchantHash, _ own: KeyUsage,
    extended: Certificate.Extension?
  ) throws -> [Certificate.Extension] {
    [
      try constraints(.notCertificateAuthority), keys.authority,
      RevocationExtensions.informationAccess(addresses.ocsp(.developerRelations)),
      RevocationExtensions.policy(addresses.base),
    ] + (extended.map { [$0] } ?? []) + [
      RevocationExtensions.distributionPoint(addresses.revocationList(.developerRelations)), keys.subject,
      try usage(own), merchant(hash),
    ]
  }

  /// A TLS server.
  static func server(_ keys: KeyIdentifiers, _ names: SubjectAlternativeNames) throws -> [Certificate.Extension] {
    [
      try constraints(.notCertificateAuthority), try usage(KeyUsage(digitalSignature: true)),
      try extended(.serverAuth), try Certificate.Extension(names, critical: false), keys.authority, keys.subject,
    ]
  }

  private static let authorityUsage = KeyUsage(keyCertSign: true, cRLSign: true)

  private static func constraints(_ constraints: BasicConstraints) throws -> Certificate.Extension {
    try Certificate.Extension(constraints, critical: true)
  }

  private static func usage(_ usage: KeyUsage) throws -> Certificate.Extension {
    try Certificate.Extension(usage, critical: true)
  }

  static func extended(_ usage: ExtendedKeyUsage.Usage) throws -> Certificate.Extension {
    try Certificate.Extension(ExtendedKeyUsage([usage]), critical: false)
  }

  static func marker(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
    Certificate.Extension(oid: oid, critical: false, value: markerValue)
  }

  private static func merchant(_ hash: MerchantHash) -> Certificate.Extension {
    Certificate.Extension(
      oid: AppleObjectIdentifier.merchantHash, critical: false, value: hash.extensionValue[...])
  }
}
