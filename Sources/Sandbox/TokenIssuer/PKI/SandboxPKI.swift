import Crypto
import SwiftASN1
package import TenderPayments
import X509

/// The sandbox's certificate authorities, each made of fresh random keys and kept in a directory.
///
/// Shaped like Apple's (a P-384 root; an intermediate and a leaf that sign payment tokens; an issuer of merchants'
/// certificates), plus an authority for the TLS certificate of the simulated gateway.
package struct SandboxPKI: Sendable {
  package let tokenRoot: CertifiedKey
  let tokenIntermediate: CertifiedKey
  package let tokenSigner: CertifiedKey
  let rsaSigner: RSATokenSigner
  /// What Apple calls Worldwide Developer Relations: it issues the merchants' certificates.
  package let developerRelations: CertifiedKey
  let tlsRoot: CertifiedKey
  /// What new certificates say about where their status is found.
  let addresses: AuthorityAddresses

  /// Reads the authorities from `directory`, or makes new ones when it holds none.
  package init(
    directory: String, addresses: AuthorityAddresses = .usual, clock: WallClock = .system, random: RandomBytes = .system
  ) throws {
    let files = try StateDirectory(path: directory)
    if let kept = try Self.load(from: files, addresses) {
      self = kept
    } else {
      self = try SandboxPKI(addresses, clock: clock, random: random, files: files)
      try save(to: files)
    }
  }

  /// New authorities that live as long as the value.
  package init(clock: WallClock = .system, random: RandomBytes = .system) throws {
    self = try SandboxPKI(.usual, clock: clock, random: random, files: nil)
  }

  private init(
    _ addresses: AuthorityAddresses, clock: WallClock, random: RandomBytes, files: StateDirectory?
  ) throws {
    let forms = Forms(now: clock.now(), random: random, addresses: addresses)
    self.addresses = addresses
    tokenRoot = try forms.root(
      SandboxName.tokenRoot, key: .init(P384.Signing.PrivateKey()), .ecdsaWithSHA384, years: 25)
    tokenIntermediate = try forms.tokenIntermediate(under: tokenRoot)
    tokenSigner = try forms.tokenSigner(under: tokenIntermediate)
    developerRelations = try forms.developerRelations(under: tokenRoot)
    tlsRoot = try forms.root(
      SandboxName.tlsRoot, key: .init(P256.Signing.PrivateKey()), .ecdsaWithSHA256, years: 10)
    rsaSigner = RSATokenSigner(files: files)
  }

  init(
    tokenRoot: CertifiedKey, intermediate: CertifiedKey, signer: CertifiedKey, relations: CertifiedKey,
    tls: CertifiedKey, rsaSigner: RSATokenSigner, addresses: AuthorityAddresses
  ) {
    self.addresses = addresses
    self.tokenRoot = tokenRoot
    tokenIntermediate = intermediate
    tokenSigner = signer
    developerRelations = relations
    tlsRoot = tls
    self.rsaSigner = rsaSigner
  }

  /// What a verifier of simulated payment tokens trusts.
  package var rootPEM: String { get throws { try tokenRoot.certificate.serializeAsPEM().pemString } }

  /// What a client of the simulated gateway trusts.
  package var tlsRootPEM: String { get throws { try tlsRoot.certificate.serializeAsPEM().pemString } }
}

/// How each authority is made, with lifetimes as long as those of its model.
private struct Forms {
  let now: Timestamp
  let random: RandomBytes
  let addresses: AuthorityAddresses

  /// Everything begins a month ago, so that tests may sign in the past.
  private var begin: Timestamp { now.adding(months: -1) }

  func root(
    _ name: [String], key: Certificate.PrivateKey, _ algorithm: Certificate.SignatureAlgorithm, years: Int64
  ) throws -> CertifiedKey {
    try CertifiedKey.root(
      form(name, key, years: years, extensions: CertificateExtensions.root), key: key, algorithm, random: random)
  }

  func tokenIntermediate(under issuer: CertifiedKey) throws -> CertifiedKey {
    let marker = CertificateExtensions.marker(AppleObjectIdentifier.applicationIntegration)
    return try issue(SandboxName.tokenIntermediate, under: issuer, years: 15) {
      try CertificateExtensions.intermediate($0, addresses, marker: marker)
    }
  }

  func tokenSigner(under issuer: CertifiedKey) throws -> CertifiedKey {
    try issue(SandboxName.tokenSigner, under: issuer, years: 5) {
      try CertificateExtensions.tokenSigner($0, addresses)
    }
  }

  func developerRelations(under issuer: CertifiedKey) throws -> CertifiedKey {
    try issue(SandboxName.developerRelations, under: issuer, years: 15) {
      try CertificateExtensions.intermediate($0, addresses, marker: nil)
    }
  }

  private func issue(
    _ name: [String], under issuer: CertifiedKey, years: Int64,
    extensions: @escaping (KeyIdentifiers) throws -> [Certificate.Extension]
  ) throws -> CertifiedKey {
    let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    let certificate = try issuer.issue(form(name, key, years: years, extensions: extensions), random: random)
    return CertifiedKey(certificate: certificate, key: key)
  }

  private func form(
    _ name: [String], _ key: Certificate.PrivateKey, years: Int64,
    extensions: @escaping (KeyIdentifiers) throws -> [Certificate.Extension]
  ) throws -> CertificateRequestForm {
    CertificateRequestForm(
      subject: try SandboxName.make(name), publicKey: key.publicKey, notBefore: begin,
      notAfter: begin.adding(months: years * 12), extensions: extensions)
  }
}
