package import TenderPayments

/// What `GET` and `PUT /v2/{merchantId}/guests/{guestId}` return: a shopper without an account, and the orders.
package struct GuestAnswer: Sendable, Hashable, Codable {
  package var guestId: String
  /// The merchant's customer who claimed the guest; nil until then.
  package var merchantCustomerId: String?
  /// The newest first, at most 500.
  package var orders: [Order]

  package struct Order: Sendable, Hashable, Codable {
    package var orderId: OrderID
    package var basketId: BasketID
    package var merchantReference: String

    package init(orderId: OrderID, basketId: BasketID, merchantReference: String) {
      self.orderId = orderId
      self.basketId = basketId
      self.merchantReference = merchantReference
    }
  }

  package init(guestId: String, merchantCustomerId: String?, orders: [Order]) {
    self.guestId = guestId
    self.merchantCustomerId = merchantCustomerId
    self.orders = orders
  }
}

/// The body of `PUT /v2/{merchantId}/guests/{guestId}`.
package struct GuestClaim: Sendable, Hashable, Codable {
  package var merchantCustomerId: String

  package init(merchantCustomerId: String) { self.merchantCustomerId = merchantCustomerId }
}
