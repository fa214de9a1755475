/// Which Apple a deployment talks to. Set by configuration, never by a caller; each refuses the others' tokens,
/// keys, sessions and hosts.
public enum Environment: String, Sendable, Hashable, Codable, CaseIterable {
  /// Tender's own root, gateway and acquirer: everything offline.
  case simulated
  /// Apple's test environment: Apple's root, signers whose name ends `-SANDBOX`, the `…-cert.apple.com` hosts.
  case appleSandbox = "apple-sandbox"
  /// Apple's production: real cards, real money.
  case production
}
