import Synchronization
package import TenderPayments

/// What the merchants' folders say of routes and sales. The copies of a ``RouteTable`` share it, so that a running server
/// can read the folders again. A payment that has begun keeps its route and what its provider was told.
package final class MerchantRouting: Sendable {
  private struct Contents {
    let rules: [MerchantID: [RouteRule]]
    let sales: [MerchantID: MerchantSale]
  }

  private let contents: Mutex<Contents>

  /// - Parameter rules: in order. A merchant without rules may take every route, in the order of the configuration.
  package init(rules: [MerchantID: [RouteRule]] = [:], sales: [MerchantID: MerchantSale] = [:]) {
    contents = Mutex(Contents(rules: rules, sales: sales))
  }

  package func replace(rules: [MerchantID: [RouteRule]], sales: [MerchantID: MerchantSale]) {
    contents.withLock { $0 = Contents(rules: rules, sales: sales) }
  }

  func rules(of merchant: MerchantID) -> [RouteRule]? { contents.withLock { $0.rules[merchant] } }

  func sale(of merchant: MerchantID) -> MerchantSale { contents.withLock { $0.sales[merchant] } ?? MerchantSale() }
}
