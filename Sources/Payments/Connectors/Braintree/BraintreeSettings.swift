package import Acquiring
package import TenderPayments

/// An account at Braintree.
package struct BraintreeSettings: Sendable {
  package var environment: BraintreeEnvironment
  /// Braintree's name of the merchant: part of every address.
  package var merchantID: String
  package var publicKey: String
  package var privateKey: BraintreePrivateKey
  /// The merchant account for each currency. Braintree takes a payment's currency from its merchant account.
  package var merchantAccounts: [Currency: String]
  /// Merchant accounts beside these, which a merchant's configuration may name.
  package var furtherAccounts: [AcquirerCapabilities.MerchantAccount] = []
  /// Decimals of currencies that Braintree counts otherwise than ISO 4217.
  package var decimals: [Currency: Int] = [:]
  /// The operator's name of the account, if there is more than one.
  package var account: String?
  /// Whether Braintree has switched on several partial settlements of one authorization for this account. Without it an
  /// authorization is captured once, and a capture of less releases the rest.
  package var capturesInParts = false

  package init(
    environment: BraintreeEnvironment, merchantID: String, publicKey: String, privateKey: BraintreePrivateKey,
    merchantAccounts: [Currency: String], account: String? = nil
  ) {
    self.environment = environment
    self.merchantID = merchantID
    self.publicKey = publicKey
    self.privateKey = privateKey
    self.merchantAccounts = merchantAccounts
    self.account = account
  }

  /// Every merchant account, in the order of their currencies.
  var accounts: [AcquirerCapabilities.MerchantAccount] {
    merchantAccounts.sorted { $0.key.code < $1.key.code }
      .map { AcquirerCapabilities.MerchantAccount($0.value, currency: $0.key) } + furtherAccounts
  }

  /// The decimals of a currency; nil when no merchant account takes it.
  func decimals(for currency: Currency) -> Int? {
    guard currency.isMoney, merchantAccounts[currency] != nil else { return nil }
    return decimals[currency] ?? currency.exponent
  }
}

/// Where Braintree is.
package enum BraintreeEnvironment: Sendable, Hashable {
  /// Braintree's sandbox.
  case test
  case live
  /// The origin of `tender-sandbox`, without a slash at the end.
  case simulated(origin: String)

  /// Scheme and host of the REST API.
  var gateway: String {
    switch self {
    case .test: "https://api.sandbox.braintreegateway.com"
    case .live: "https://api.braintreegateway.com"
    case .simulated(let origin): origin
    }
  }

  /// The address of the GraphQL API.
  var graphQL: String {
    switch self {
    case .test: "https://payments.sandbox.braintree-api.com/graphql"
    case .live: "https://payments.braintree-api.com/graphql"
    case .simulated(let origin): origin + "/graphql"
    }
  }
}

/// Authenticates calls and signs webhooks. Its description is masked and it cannot be encoded.
package struct BraintreePrivateKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  package init(_ text: String) { self.text = text }

  /// The text itself. Only for the `Authorization` header and for signatures.
  var revealed: String { text }

  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
