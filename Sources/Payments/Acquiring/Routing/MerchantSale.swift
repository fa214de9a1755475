package import TenderPayments

/// What a merchant's configuration says of every sale.
package struct MerchantSale: Sendable, Hashable {
  /// What the cardholder reads on the statement; nil for the basket's business name.
  package let statementDescriptor: String?
  /// ISO 18245: four digits.
  package let merchantCategory: String?
  /// The merchant's account at the provider, by route, where it is not the route's first.
  package let accounts: [String: String]

  package init(
    statementDescriptor: String? = nil, merchantCategory: String? = nil, accounts: [String: String] = [:]
  ) {
    self.statementDescriptor = statementDescriptor
    self.merchantCategory = merchantCategory
    self.accounts = accounts
  }
}

extension SaleDetails {
  /// The sale at one route, as the payment keeps it and the provider is asked.
  ///
  /// - Parameter amount: decides the account of a provider that has one for each currency.
  package func completed(
    by merchant: MerchantSale, at acquirer: AcquirerCapabilities, for amount: Amount
  ) -> SaleDetails {
    var sale = self
    sale.merchantAccount =
      merchant.accounts[acquirer.route] ?? merchantAccount ?? acquirer.merchantAccount(amount.currency)
    sale.statementDescriptor = merchant.statementDescriptor ?? statementDescriptor
    sale.merchantCategory = merchant.merchantCategory ?? merchantCategory
    return sale
  }
}
