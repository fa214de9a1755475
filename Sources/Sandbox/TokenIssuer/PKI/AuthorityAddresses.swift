/// The sandbox's authorities that issue certificates for others.
package enum IssuingAuthority: String, Sendable, CaseIterable {
  case tokenRoot = "token-root"
  case tokenIntermediate = "token-intermediate"
  case developerRelations = "developer-relations"
}

/// Where a certificate says that its issuer's revocation list and OCSP responder are. ``SandboxPKI`` writes them into new
/// certificates; a sandbox that listens elsewhere later leaves them as they are.
package struct AuthorityAddresses: Sendable {
  /// Scheme, host and port, without a path.
  package let base: String

  /// The sandbox's usual address.
  package static let usual = AuthorityAddresses(base: "http://127.0.0.1:8402")

  package init(base: String) { self.base = base }

  func ocsp(_ authority: IssuingAuthority) -> String { "\(base)/ocsp/\(authority.rawValue)" }
  func revocationList(_ authority: IssuingAuthority) -> String { "\(base)/crl/\(authority.rawValue).crl" }
}
