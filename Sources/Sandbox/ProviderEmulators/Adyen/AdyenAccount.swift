/// A merchant account of the emulated Adyen, with its credentials.
package struct AdyenAccount: Sendable, Hashable {
  package let merchantAccount: String
  /// What `X-API-Key` has to hold.
  package let apiKey: String
  /// Signs the account's events: 64 hexadecimal digits.
  package let hmacKey: String
  /// Whether the rest of an authorization stays held after a partial capture. Adyen releases it unless its support team
  /// has enabled this for the account.
  package let multiplePartialCaptures: Bool

  package init(merchantAccount: String, apiKey: String, hmacKey: String, multiplePartialCaptures: Bool = true) {
    self.merchantAccount = merchantAccount
    self.apiKey = apiKey
    self.hmacKey = hmacKey
    self.multiplePartialCaptures = multiplePartialCaptures
  }

  /// The account of `tender-sandbox`. Its keys open nothing else.
  package static let sandbox = AdyenAccount(
    merchantAccount: "TenderSandbox", apiKey: "sandbox-adyen-key",
    hmacKey: "5AD8B0A1C3E2F4769B8D7C6E5F4A3B2C1D0E9F8A7B6C5D4E3F2A1B0C9D8E7F60")
}
