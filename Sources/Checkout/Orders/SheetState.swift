package import TenderPayments
package import TenderSheet

/// What the shopper has chosen so far, as far as prices depend on it.
///
/// Only the zone of the address is kept: nothing that a redacted contact says about a person is stored.
package struct SheetState: Sendable, Hashable, Codable {
  package var service: ServiceType
  package var destination: Destination
  /// The identifier of the selected method; nil until one is offered.
  package var shippingMethod: String?
  package var couponCode: String?
  /// Nil until the sheet has reported it.
  package var paymentMethod: PaymentMethodType?
  /// What a merchant who prices by itself wants to be reminded of; never read.
  package var merchantContext: String?

  package init(
    service: ServiceType, destination: Destination = .unknown, shippingMethod: String? = nil,
    couponCode: String? = nil, paymentMethod: PaymentMethodType? = nil, merchantContext: String? = nil
  ) {
    self.service = service
    self.destination = destination
    self.shippingMethod = shippingMethod
    self.couponCode = couponCode
    self.paymentMethod = paymentMethod
    self.merchantContext = merchantContext
  }
}

/// Where the order goes, in the basket's own terms.
package enum Destination: Sendable, Hashable, Codable {
  /// The shopper has not said yet.
  case unknown
  /// The basket has no zones.
  case anywhere
  /// The id of a zone.
  case zone(String)
  case unserviceable
  /// The postal code has not the form of its country's.
  case misspelt
}

extension SheetState {
  /// The state after a change. Whether a method is offered or a coupon is good is for the pricing to say.
  func applying(_ change: SheetChange, in basket: Basket) -> SheetState {
    var state = self
    switch change {
    case .shippingContact(let contact): state.destination = basket.destination(shown: contact)
    case .shippingMethod(let identifier): state.shippingMethod = identifier
    case .couponCode(let code): state.couponCode = code.contains { !$0.isWhitespace } ? code : nil
    case .paymentMethod(let type): state.paymentMethod = type
    }
    return state
  }
}
