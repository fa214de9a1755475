import DirectWire
import TenderPayments

/// Payment products: Apple Pay is the only one.
package struct PlatformProducts: Sendable {
  private let merchant: PlatformMerchant

  package init(_ merchant: PlatformMerchant) { self.merchant = merchant }

  /// `GET /products`: none where the merchant takes no Apple Pay now, or the query asks for what is none.
  package func list(_ query: ProductQuery) throws -> PlatformAnswer {
    try PlatformAnswer(PaymentProductsAnswer(paymentProducts: try query.isServed(merchant) ? [product(query)] : []))
  }

  /// `GET /products/{id}`
  package func show(_ id: String, _ query: ProductQuery) throws -> PlatformAnswer {
    try Self.check(id)
    guard try query.isServed(merchant) else { throw Self.unknown }
    return try PlatformAnswer(product(query))
  }

  /// `GET /products/{id}/networks`
  package func networks(_ id: String, _ query: ProductQuery) throws -> PlatformAnswer {
    try Self.check(id)
    return try PlatformAnswer(PaymentProductNetworks(networks: try query.isServed(merchant) ? names : []))
  }

  private var names: [String] { merchant.networks.map(\.appleName) }

  private func product(_ query: ProductQuery) -> PaymentProduct { PaymentProduct(networks: names, hides: query.hidden) }

  private static func check(_ id: String) throws {
    guard Int64(id) == MobilePaymentInput.applePay else { throw unknown }
  }

  private static let unknown = PlatformRefusal(
    PlatformFault(
      ours: "unknown_product_id", status: 404, detail: "The merchant has no such payment product.",
      property: "paymentProductId", isRetriable: false))
}

/// The query of the calls about products. Python sends `True`, other SDKs `true`.
package struct ProductQuery: Sendable, Hashable {
  package var countryCode: String?
  package var currencyCode: String?
  package var isRecurring: Bool
  /// `fields`, `accountsOnFile`, `productsWithoutFields`, …
  package var hidden: Set<String>

  /// - Parameter values: in their order; `hide` may come more than once.
  package init(_ values: [(name: String, value: String)]) {
    func value(_ name: String) -> String? { values.first { $0.name == name }?.value }
    countryCode = value("countryCode").flatMap { $0.isEmpty ? nil : $0 }
    currencyCode = value("currencyCode")
    isRecurring = value("isRecurring")?.lowercased() == "true"
    hidden = Set(values.filter { $0.name == "hide" }.map(\.value))
  }

  /// - Throws: for a query without a currency. Shops' plugins leave the country empty while they know none.
  fileprivate func isServed(_ merchant: PlatformMerchant) throws -> Bool {
    guard let currencyCode else { throw PlatformRefusal.missing("currencyCode") }
    guard Currency(code: currencyCode)?.isMoney == true else {
      throw PlatformRefusal.invalid("currencyCode", "Not a currency of ISO 4217.")
    }
    if let countryCode, !CountryCode.isAssigned(countryCode) {
      throw PlatformRefusal.invalid("countryCode", "Not a country of ISO 3166-1 in two capital letters.")
    }
    return !isRecurring && !merchant.networks.isEmpty && merchant.refusal == nil
  }
}
