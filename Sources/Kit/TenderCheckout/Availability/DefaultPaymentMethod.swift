/// The way to pay that a checkout proposes.
public enum DefaultPaymentMethod: Sendable, Hashable {
  /// Apple Pay comes first.
  case applePay
  /// Another way, by the app's own name for it.
  case other(String)
  /// Nothing is proposed; the shopper chooses.
  case none

  /// The first purchase is proposed with Apple Pay; later the way that was last used, as long as it is there.
  ///
  /// - Parameters:
  ///   - availability: Apple Pay is proposed only where it can buy.
  ///   - lastUsed: nil before the first purchase.
  ///   - others: the app's other ways to pay, the preferred one first.
  public init(_ availability: ApplePayAvailability, lastUsed: DefaultPaymentMethod?, others: [String] = []) {
    let canBuy = availability.button == .buy
    switch lastUsed {
    case .other(let name)? where others.contains(name): self = .other(name)
    case _ where canBuy: self = .applePay
    default: self = others.first.map(DefaultPaymentMethod.other) ?? .none
    }
  }
}
