/// An account of the emulated Stripe, with its keys. All of them are of test mode.
package struct StripeAccount: Sendable, Hashable {
  package let id: String
  /// `sk_test_…`: may do everything.
  package let secretKey: String
  /// `pk_test_…`: may make tokens only.
  package let publishableKey: String
  /// `rk_test_…`: may read only.
  package let restrictedKey: String
  /// `whsec_…`: signs the account's events.
  package let signingSecret: String
  /// Signs them too while the secret is rolled.
  package let nextSigningSecret: String
  /// The accounts that `Stripe-Account` may name.
  package let connected: Set<String>
  /// Whether an intent may be captured several times, which Stripe enables for an account.
  package let multicapture: Bool

  package init(
    id: String, secretKey: String, publishableKey: String = "pk_test_none", restrictedKey: String = "rk_test_none",
    signingSecret: String, nextSigningSecret: String = "whsec_next", connected: Set<String> = [],
    multicapture: Bool = true
  ) {
    self.id = id
    self.secretKey = secretKey
    self.publishableKey = publishableKey
    self.restrictedKey = restrictedKey
    self.signingSecret = signingSecret
    self.nextSigningSecret = nextSigningSecret
    self.connected = connected
    self.multicapture = multicapture
  }

  /// The account of `tender-sandbox`. Its keys open nothing else.
  package static let sandbox = StripeAccount(
    id: "acct_tendersandbox", secretKey: "sk_test_tendersandbox", publishableKey: "pk_test_tendersandbox",
    restrictedKey: "rk_test_tendersandbox", signingSecret: "whsec_tendersandbox",
    nextSigningSecret: "whsec_tendersandboxnext", connected: ["acct_tenderconnected"])
}
