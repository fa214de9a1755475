import TenderPayments

/// The chain from the certificate that signed a payment token to a trusted root: Apple's steps 1.a to 1.c, checked for
/// each token. Only the signatures between the certificates may come from a cache.
///
/// Its dates are checked at the signing time, which is known after the signature is verified: see ``check(at:)``.
struct SignerChain {
  let signer: Certificate
  let intermediate: Certificate
  let root: Certificate
  let key: SignerKey
  let environment: Environment
  /// Whether its certificates were not in the cache.
  let isNew: Bool

  /// - Parameter enclosed: the certificates of the signature, in any order: the two, and the trusted root if it came
  ///   along.
  init(
    _ enclosed: [ArraySlice<UInt8>], _ trust: TokenTrust, _ cache: ChainCache
  ) throws(PaymentTokenError) {
    let certificates = try Self.withoutRoot(enclosed, trust)
    let cached = cache.pair(certificates[0], certificates[1])
    isNew = cached == nil
    let (first, second) =
      if let cached { (cached.first, cached.second) } else {
        (try Self.read(certificates[0]), try Self.read(certificates[1]))
      }
    (signer, intermediate) = try Self.roles(first, second)
    try Self.checkFitness(signer: signer, intermediate: intermediate)
    let anchor = try Self.trustedRoot(of: intermediate, trust, cached)
    root = anchor.root
    key = try Self.signerKey(signer, intermediate, anchor, cached)
    environment = anchor.environment(ofSigner: signer.commonName)
    try Self.checkEnvironment(environment, trust)
    guard isNew else { return }
    cache.remember(
      ProvenPair(first: first, second: second, rootKeyInfo: root.publicKeyInfo, signerKey: key))
  }

  /// Checks that both certificates are valid at the signing time; they may have expired since.
  ///
  /// Source: RFC 5280 §6.1.3 (a)(2), with the signing time for the time of validation.
  func check(at signingTime: Timestamp) throws(PaymentTokenError) {
    try Self.check(signer, "signer", at: signingTime)
    try Self.check(intermediate, "intermediate", at: signingTime)
    try Self.check(root, "root", at: signingTime)
  }

  private static func check(
    _ certificate: Certificate, _ name: String, at signingTime: Timestamp
  ) throws(PaymentTokenError) {
    guard certificate.isValid(at: signingTime) else {
      throw PaymentTokenError(
        .certificateNotValidThen, "the \(name)'s certificate was not valid at the signing time, \(signingTime)")
    }
  }

  /// The two certificates. A third one may be a trusted root, byte for byte the local copy, which alone is trusted.
  private static func withoutRoot(
    _ enclosed: [ArraySlice<UInt8>], _ trust: TokenTrust
  ) throws(PaymentTokenError) -> [ArraySlice<UInt8>] {
    lazy var others = enclosed.filter { certificate in
      !trust.anchors.contains { $0.root.encoding[...].isSame(as: certificate) }
    }
    let certificates = enclosed.count == 3 ? others : enclosed
    guard certificates.count == 2 else {
      throw PaymentTokenError(
        .certificateCount,
        "the signature carries \(enclosed.count) certificates instead of two, or two and the trusted root")
    }
    return certificates
  }

  private static func read(_ encoding: ArraySlice<UInt8>) throws(PaymentTokenError) -> Certificate {
    do {
      return try Certificate(der: encoding)
    } catch {
      throw PaymentTokenError(.malformedCertificate, error.reason)
    }
  }

  /// Step 1.a: the signer has the marker …6.29, the intermediate …6.2.14. Their values and their order in the signature
  /// do not matter; each must be on exactly one certificate.
  ///
  /// Source: Apple, *Payment token format reference*, "Ensure that the certificates contain the correct custom OIDs".
  private static func roles(
    _ first: Certificate, _ second: Certificate
  ) throws(PaymentTokenError) -> (Certificate, Certificate) {
    let (markedFirst, markedSecond) = (first.extensions.hasSignerMarker, second.extensions.hasSignerMarker)
    guard markedFirst != markedSecond else {
      throw PaymentTokenError(
        .signerNotFound, "\(markedFirst ? 2 : 0) certificates have the marker of Apple Pay's signer instead of one")
    }
    let (signer, intermediate) = markedFirst ? (first, second) : (second, first)
    guard intermediate.extensions.hasIntermediateMarker, !signer.extensions.hasIntermediateMarker else {
      throw PaymentTokenError(
        .intermediateNotFound, "the signer's certificate does not come with an intermediate that has Apple's marker")
    }
    return (signer, intermediate)
  }

  /// Checks what the certificates may sign.
  ///
  /// Source: RFC 5280 §4.2 (critical extensions), §4.2.1.3 (key usage), §4.2.1.9 (basic constraints).
  private static func checkFitness(signer: Certificate, intermediate: Certificate) throws(PaymentTokenError) {
    guard !signer.extensions.hasUnknownCritical, !intermediate.extensions.hasUnknownCritical else {
      throw PaymentTokenError(.unfitCertificate, "a certificate has a critical extension that is not known")
    }
    guard signer.extensions.basicConstraints?.isAuthority != true, signer.extensions.keyUsage?.digitalSignature == true
    else { throw PaymentTokenError(.unfitCertificate, "the signer's certificate may not sign data") }
    guard intermediate.mayIssue(above: 0) else {
      throw PaymentTokenError(.unfitCertificate, "the intermediate's certificate may not issue certificates")
    }
  }

  /// Step 1.b: the root that issued the intermediate's certificate is one of those that are trusted here: found by name and
  /// checked by its key. It may issue such a chain.
  ///
  /// - Parameter cached: the same pair of certificates, checked before. Then the key's signature is not checked again.
  /// Source: Apple, *Payment token format reference*, "Ensure that the root CA is the Apple Root CA - G3".
  private static func trustedRoot(
    of intermediate: Certificate, _ trust: TokenTrust, _ cached: ProvenPair?
  ) throws(PaymentTokenError) -> TrustAnchor {
    let anchor = trust.anchors.first { anchor in
      anchor.root.subject.isSame(as: intermediate.issuer)
        && (cached?.rootKeyInfo.isSame(as: anchor.root.publicKeyInfo) == true || anchor.key.signed(intermediate))
    }
    guard let anchor else {
      throw PaymentTokenError(.untrustedRoot, "the intermediate is not issued by a root that is trusted here")
    }
    guard anchor.root.mayIssue(above: 1) else {
      throw PaymentTokenError(.unfitCertificate, "the root's certificate may not issue this chain")
    }
    return anchor
  }

  /// Step 1.c: the intermediate issued the signer's certificate. The root's signature on the intermediate is already
  /// checked, when the root is found.
  ///
  /// Source: Apple, *Payment token format reference*, "Ensure that there is a valid X.509 chain of trust".
  private static func signerKey(
    _ signer: Certificate, _ intermediate: Certificate, _ anchor: TrustAnchor, _ cached: ProvenPair?
  ) throws(PaymentTokenError) -> SignerKey {
    guard signer.issuer.isSame(as: intermediate.subject) else { throw broken }
    if let cached { return cached.signerKey }
    guard let key = AuthorityKey(intermediate.publicKeyInfo), key.signed(signer) else { throw broken }
    guard let signerKey = SignerKey(signer.publicKeyInfo) else {
      throw PaymentTokenError(.unfitCertificate, "the signer's key is neither of P-256 nor RSA")
    }
    return signerKey
  }

  private static var broken: PaymentTokenError {
    PaymentTokenError(.brokenChain, "the intermediate did not issue the signer's certificate")
  }

  private static func checkEnvironment(_ environment: Environment, _ trust: TokenTrust) throws(PaymentTokenError) {
    guard trust.environments.contains(environment) else {
      throw PaymentTokenError(.wrongEnvironment, "signed for \(environment.rawValue), which is not accepted here")
    }
  }
}

extension Certificate {
  /// Whether it is an authority that may have `authorities` others below it.
  fileprivate func mayIssue(above authorities: Int) -> Bool {
    guard let constraints = extensions.basicConstraints, constraints.isAuthority,
      extensions.keyUsage?.certificateSigning == true
    else { return false }
    return constraints.pathLength.map { $0 >= authorities } ?? true
  }
}
