/// What the configuration says of a merchant's routes and sales.
package struct MerchantRouting: Sendable {
  /// In order; nil for every route, in the order of the configuration.
  package let rules: [RouteRule]?
  package let sale: MerchantSale

  package init(rules: [RouteRule]? = nil, sale: MerchantSale = MerchantSale()) {
    self.rules = rules
    self.sale = sale
  }

  /// Whether the rules let a payment take the route.
  func mayTake(_ route: String) -> Bool { rules?.contains { $0.route.description == route } ?? true }
}
