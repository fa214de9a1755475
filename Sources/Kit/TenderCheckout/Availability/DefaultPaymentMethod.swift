/// The payment method that a checkout preselects.
public enum DefaultPaymentMethod: Sendable, Hashable {
  /// Apple Pay comes first.
  case applePay
  /// Another way, by the app's own name for it.
  case other(String)
  /// None is preselected; the shopper chooses.
  case none

  /// Apple Pay for the first purchase; later the method that was last used, while it is available.
  ///
  /// - Parameters:
  ///   - availability: Apple Pay is preselected only if its button is `buy`.
  ///   - lastUsed: nil before the first purchase.
  ///   - others: the app's other payment methods, the preferred one first.
  public init(_ availability: ApplePayAvailability, lastUsed: DefaultPaymentMethod?, others: [String] = []) {
    let canBuy = availability.button == .buy
    switch lastUsed {
    case .other(let name)? where others.contains(name): self = .other(name)
    case _ where canBuy: self = .applePay
    default: self = others.first.map(DefaultPaymentMethod.other) ?? .none
    }
  }
}
