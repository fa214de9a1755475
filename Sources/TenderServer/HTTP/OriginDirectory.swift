import TenderPayments

/// Which merchant a page belongs to: by its origin, or by the host it asked when it sends none.
struct OriginDirectory: Sendable {
  /// The server's own origin, whose pages are same-origin.
  let ownOrigin: String
  private let merchants: [String: MerchantID]

  /// - Parameter origins: `scheme://host[:port]`, each of one merchant.
  init(ownOrigin: String, origins: [String: MerchantID]) {
    self.ownOrigin = ownOrigin
    self.merchants = origins
  }

  func merchant(ofOrigin origin: String) -> MerchantID? { merchants[origin] }

  /// The merchant one of whose origins has this `host[:port]`.
  func merchant(ofHost host: String) -> MerchantID? {
    merchants["https://\(host)"] ?? merchants["http://\(host)"]
  }

  /// `host[:port]` without the port: what Apple calls the domain.
  static func domain(ofOrigin origin: String) -> String {
    let host = origin.drop { $0 != "/" }.drop { $0 == "/" }
    return String(host.prefix { $0 != ":" && $0 != "/" })
  }
}
