import TenderPayments

/// The way from the certificate that signed a payment token to a root that is trusted. Made only when every
/// signature on it is right; its dates are judged for each token, at the moment of signing.
struct SignerChain {
  let signer: Certificate
  let intermediate: Certificate
  let root: Certificate
  let key: SignerKey
  let environment: Environment

  /// Apple's steps 1.a to 1.c.
  ///
  /// - Parameter certificates: the two of the signature, in any order.
  init(_ certificates: [ArraySlice<UInt8>], _ trust: TokenTrust) throws(PaymentTokenError) {
    let pair = try Self.read(certificates)
    (signer, intermediate) = try Self.roles(pair)
    try Self.checkFitness(signer: signer, intermediate: intermediate)
    let anchor = try Self.anchor(of: intermediate, trust)
    try Self.checkSignatures(signer: signer, intermediate: intermediate, anchor)
    guard let key = SignerKey(signer.publicKeyInfo) else {
      throw PaymentTokenError(.unfitCertificate, "the signer's key is neither of P-256 nor RSA")
    }
    self.key = key
    root = anchor.root
    environment = anchor.environment(ofSigner: signer.commonName)
    guard trust.environments.contains(environment) else {
      throw PaymentTokenError(.wrongEnvironment, "signed for \(environment.rawValue), which is not accepted here")
    }
  }

  /// A certificate that has expired since, or was not valid yet, says nothing about the moment of signing.
  func check(at signingTime: Timestamp) throws(PaymentTokenError) {
    for (name, certificate) in [("signer", signer), ("intermediate", intermediate), ("root", root)] {
      guard certificate.isValid(at: signingTime) else {
        throw PaymentTokenError(
          .certificateNotValidThen, "the \(name)'s certificate was not valid at the signing time, \(signingTime)")
      }
    }
  }

  /// There are exactly two: a third has no business there, and the root must be our own copy.
  private static func read(_ encodings: [ArraySlice<UInt8>]) throws(PaymentTokenError) -> [Certificate] {
    guard encodings.count == 2 else {
      throw PaymentTokenError(.certificateCount, "the signature carries \(encodings.count) certificates instead of two")
    }
    do {
      return [try Certificate(der: encodings[0]), try Certificate(der: encodings[1])]
    } catch {
      throw PaymentTokenError(.malformedCertificate, error.reason)
    }
  }

  /// Step 1.a: the signer has the marker …6.29, the intermediate …6.2.14. Their values do not matter, their places
  /// in the signature neither; that each stands on one certificate does.
  private static func roles(_ pair: [Certificate]) throws(PaymentTokenError) -> (Certificate, Certificate) {
    let signers = pair.filter { $0.extensions.value(ObjectIdentifier.signerMarker) != nil }
    let intermediates = pair.filter { $0.extensions.value(ObjectIdentifier.intermediateMarker) != nil }
    guard signers.count == 1 else {
      throw PaymentTokenError(
        .signerNotFound, "\(signers.count) certificates have the marker of Apple Pay's signer instead of one")
    }
    guard intermediates.count == 1, intermediates[0].encoding != signers[0].encoding else {
      throw PaymentTokenError(
        .intermediateNotFound, "the signer's certificate does not come with an intermediate that has Apple's marker")
    }
    return (signers[0], intermediates[0])
  }

  /// RFC 5280 §6.1.4: who may sign what.
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

  /// Step 1.b: the root is our own copy, found by name and proven by its key.
  private static func anchor(of intermediate: Certificate, _ trust: TokenTrust) throws(PaymentTokenError) -> TrustAnchor
  {
    guard
      let anchor = trust.anchors.first(where: { $0.root.subject == intermediate.issuer && $0.key.signed(intermediate) })
    else { throw PaymentTokenError(.untrustedRoot, "the intermediate is not issued by a root that is trusted here") }
    return anchor
  }

  /// Step 1.c. The root's signature on the intermediate was what found the root.
  private static func checkSignatures(
    signer: Certificate, intermediate: Certificate, _ anchor: TrustAnchor
  ) throws(PaymentTokenError) {
    guard signer.issuer == intermediate.subject, let key = AuthorityKey(intermediate.publicKeyInfo), key.signed(signer)
    else { throw PaymentTokenError(.brokenChain, "the intermediate did not issue the signer's certificate") }
    guard anchor.root.mayIssue(above: 1) else {
      throw PaymentTokenError(.unfitCertificate, "the root's certificate may not issue this chain")
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
