import Crypto
import CryptoExtras
import SwiftASN1
package import TenderPayments
import X509

extension SandboxPKI {
  /// Authorities that come out of a seed: the same bytes every time, for vectors that are kept. Nobody but a test
  /// shall ever trust them, because everybody can make their keys.
  ///
  /// - Parameters:
  ///   - random: bytes out of the seed.
  ///   - begin: when the certificates begin to be valid.
  ///   - rsaSignerPEM: a key for the signer of RSA_v1, as BoringSSL makes RSA keys by chance alone.
  package init(repeatable random: RandomBytes, from begin: Timestamp, rsaSignerPEM: String) throws {
    let forms = RepeatableForms(random: random, begin: begin)
    let rootKey = MintKey.p384(try forms.p384Key())
    let root = try forms.authority(SandboxName.tokenRoot, rootKey, under: nil, years: 25)
    let intermediate = try forms.authority(
      SandboxName.tokenIntermediate, .p256(forms.p256Key()), under: root, years: 15, marker: [.intermediateMarker])
    let signer = try forms.signer(under: intermediate)
    let relations = try forms.authority(SandboxName.developerRelations, .p256(forms.p256Key()), under: root, years: 15)
    let tls = try forms.authority(SandboxName.tlsRoot, .p256(forms.p256Key()), under: nil, years: 10)
    let rsaKey = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(pemRepresentation: rsaSignerPEM))
    let rsa = try Self.rsaSigner(rsaKey, under: intermediate, like: signer, isRepeatable: true, random: random)
    self.init(
      tokenRoot: root, intermediate: intermediate, signer: signer, relations: relations, tls: tls,
      rsaSigner: RSATokenSigner(rsa))
  }
}

private struct RepeatableForms {
  let random: RandomBytes
  let begin: Timestamp

  /// A number below the order; nearly every draw is one.
  func p256Key() throws -> P256.Signing.PrivateKey {
    try P256.Signing.PrivateKey(rawRepresentation: try SealingRecipe.key(random).rawRepresentation)
  }

  /// The first byte is kept small, and so the number is below the order.
  func p384Key() throws -> P384.Signing.PrivateKey {
    try P384.Signing.PrivateKey(rawRepresentation: [0x42] + random.next(47))
  }

  func authority(
    _ name: [String], _ key: MintKey, under issuer: CertifiedKey?, years: Int64,
    marker: [CertificateRecipe.Extension] = []
  ) throws -> CertifiedKey {
    let pathLength: UInt8? = issuer == nil ? nil : 0
    return try certified(
      name, key, under: issuer, years: years,
      [.basicConstraints(isAuthority: true, pathLength: pathLength), .keyUsage(0x06)] + marker)
  }

  func signer(under issuer: CertifiedKey) throws -> CertifiedKey {
    try certified(
      SandboxName.tokenSigner, .p256(p256Key()), under: issuer, years: 5,
      [.basicConstraints(isAuthority: false), .keyUsage(0x80), .signerMarker])
  }

  private func certified(
    _ name: [String], _ key: MintKey, under issuer: CertifiedKey?, years: Int64,
    _ extensions: [CertificateRecipe.Extension]
  ) throws -> CertifiedKey {
    let issuerKey = try issuer.map { try MintKey($0.key) } ?? key
    let subject = try DERName.make(name)
    let identifiers: [CertificateRecipe.Extension] =
      [.subjectKeyIdentifier(key.publicKeyInfo)]
      + (issuer == nil ? [] : [.authorityKeyIdentifier(issuerKey.publicKeyInfo)])
    let recipe = CertificateRecipe(
      serialNumber: CertificateRecipe.serialNumber(random),
      issuer: try issuer.map { try DERName.subject(of: $0.certificate) } ?? subject, subject: subject,
      notBefore: begin, notAfter: begin.adding(months: 12 * years), publicKeyInfo: key.publicKeyInfo,
      extensions: extensions + identifiers, issuerKey: issuerKey)
    let der = try recipe.encoded(isRepeatable: true)
    return CertifiedKey(certificate: try Certificate(derEncoded: der), key: key.certificateKey)
  }
}
