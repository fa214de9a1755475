import HTTPTypes
import StrictJSON
package import TenderPayments

/// A merchant at the emulated Braintree.
package struct BraintreeAccount: Sendable {
  package let merchantID: String
  package let publicKey: String
  package let privateKey: String
  /// The currency of each merchant account.
  package let merchantAccounts: [String: Currency]
  /// The merchant account of a request that names none.
  package let defaultMerchantAccount: String
  /// How long another transaction with the same card, amount and order id is rejected; zero for not at all.
  package var duplicateWindow: Duration = .zero
  /// Whether one authorization can be settled in several parts.
  package var settlesInParts = true

  package init(
    merchantID: String, publicKey: String, privateKey: String, merchantAccounts: [String: Currency],
    defaultMerchantAccount: String
  ) {
    self.merchantID = merchantID
    self.publicKey = publicKey
    self.privateKey = privateKey
    self.merchantAccounts = merchantAccounts
    self.defaultMerchantAccount = defaultMerchantAccount
  }

  /// The account that `tender-sandbox` has: a merchant account for each of these currencies, `tender_eur` and so on.
  package static let sandbox = BraintreeAccount(
    merchantID: "tender_sandbox", publicKey: "sandbox_public_key", privateKey: "sandbox_private_key",
    merchantAccounts: Dictionary(
      uniqueKeysWithValues: ["EUR", "USD", "GBP", "CHF", "SEK", "DKK", "NOK", "PLN", "JPY", "KWD"].compactMap { code in
        Currency(code: code).map { ("tender_\(code.lowercased())", $0) }
      }), defaultMerchantAccount: "tender_eur")

  /// Whether the request has this account's keys.
  func accepts(_ headers: HTTPFields) -> Bool {
    headers[.authorization] == "Basic " + Base64.encode(Array("\(publicKey):\(privateKey)".utf8))
  }
}
