/// A processing channel of the emulated Checkout.com, with the keys of its account.
package struct CheckoutComAccount: Sendable, Hashable {
  package let processingChannel: String
  /// Authenticates every call but `POST /tokens`.
  package let secretKey: String
  /// Authenticates `POST /tokens`, and nothing else.
  package let publicKey: String
  /// The workflow's key, which signs the account's events.
  package let signatureKey: String

  package init(processingChannel: String, secretKey: String, publicKey: String, signatureKey: String) {
    self.processingChannel = processingChannel
    self.secretKey = secretKey
    self.publicKey = publicKey
    self.signatureKey = signatureKey
  }

  enum Key: Sendable { case secret, `public` }

  func value(of key: Key) -> String { key == .secret ? secretKey : publicKey }

  /// The account of `tender-sandbox`. Its keys open nothing else.
  package static let sandbox = CheckoutComAccount(
    processingChannel: "pc_tendersandboxchannel2222222", secretKey: "sk_sbox_tendersandboxsecretkey22222",
    publicKey: "pk_sbox_tendersandboxpublickey22222", signatureKey: "tender-sandbox-signature-key")
}
