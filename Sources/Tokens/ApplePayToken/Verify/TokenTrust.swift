public import TenderPayments

/// The roots and environments whose payment tokens are accepted.
///
/// A root is always a local copy; a root inside a payment token is never trusted.
public struct TokenTrust: Sendable {
  let anchors: [TrustAnchor]
  let environments: Set<Environment>

  /// Apple's root, with the signers of production, of Apple's sandbox, or both.
  public static func apple(production: Bool = true, sandbox: Bool = true) -> TokenTrust {
    apple([try? TrustAnchor.apple].compactMap(\.self), production, sandbox)
  }

  /// Apple's rules with a test root in place of Apple's, so that tests can issue both kinds of signers.
  package static func apple(
    standIn rootPEM: String, production: Bool, sandbox: Bool
  ) throws(PaymentTokenError) -> TokenTrust {
    apple([try TrustAnchor(pem: rootPEM, isApple: true)], production, sandbox)
  }

  private static func apple(_ anchors: [TrustAnchor], _ production: Bool, _ sandbox: Bool) -> TokenTrust {
    var environments: Set<Environment> = []
    if production { environments.insert(.production) }
    if sandbox { environments.insert(.appleSandbox) }
    return TokenTrust(anchors: anchors, environments: environments)
  }

  /// The root of a Tender sandbox. Nothing of Apple's is accepted.
  ///
  /// - Parameter rootPEM: one certificate.
  /// - Throws: `unreadable_root`, also for Apple's own root: it signs nothing that is simulated.
  public static func simulated(rootPEM: String) throws(PaymentTokenError) -> TokenTrust {
    let anchor = try TrustAnchor(pem: rootPEM, isApple: false)
    guard try !anchor.isSameRoot(as: .apple) else {
      throw PaymentTokenError(.unreadableRoot, "this is Apple's root, which signs nothing that is simulated")
    }
    return TokenTrust(anchors: [anchor], environments: [.simulated])
  }

  /// These roots: Apple's own with all its signers, every other as a sandbox's.
  public static func roots(_ pems: [String]) throws(PaymentTokenError) -> TokenTrust {
    var anchors: [TrustAnchor] = []
    for pem in pems {
      let anchor = try TrustAnchor(pem: pem, isApple: false)
      anchors.append(try anchor.isSameRoot(as: .apple) ? .apple : anchor)
    }
    return TokenTrust(anchors: anchors, environments: Set(Environment.allCases))
  }

  /// Trusts these roots for the signers of one environment alone.
  public func only(_ environment: Environment) -> TokenTrust {
    TokenTrust(anchors: anchors, environments: environments.intersection([environment]))
  }
}

/// One trusted root.
struct TrustAnchor {
  let root: Certificate
  let key: AuthorityKey
  private let isApple: Bool

  static var apple: TrustAnchor {
    get throws(PaymentTokenError) { try TrustAnchor(pem: AppleRoot.pem, isApple: true) }
  }

  init(pem: String, isApple: Bool) throws(PaymentTokenError) {
    root = try Certificate(onlyIn: pem, .unreadableRoot)
    guard let key = AuthorityKey(root.publicKeyInfo) else {
      throw PaymentTokenError(.unreadableRoot, "the root's key is neither of P-256 nor of P-384")
    }
    self.key = key
    self.isApple = isApple
  }

  /// By key: another certificate over the same key is the same root.
  func isSameRoot(as other: TrustAnchor) -> Bool { root.publicKeyInfo == other.root.publicKeyInfo }

  /// Apple signs for its test environment with signers of another name under the same root.
  func environment(ofSigner commonName: String?) -> Environment {
    guard isApple else { return .simulated }
    return commonName?.hasSuffix(AppleRoot.sandboxSuffix) == true ? .appleSandbox : .production
  }
}
