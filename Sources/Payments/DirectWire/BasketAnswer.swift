package import TenderPayments

/// What `PUT` and `GET /v2/{merchantId}/baskets/{basketId}` return.
package struct BasketAnswer: Sendable, Hashable, Codable {
  package enum State: String, Sendable, Hashable, Codable {
    case open
    /// An order was made of it, whatever the result of its payment.
    case placed
    case cancelled
  }

  package var basketId: BasketID
  package var state: State
  /// The merchant's own name for the order, from the basket.
  package var merchantReference: String
  /// The total that was last shown, or that would be shown when the sheet opens.
  package var total: WireAmount
  /// The total is not known yet, and `total` is zero.
  package var pending: Bool
  /// When the basket can no longer be paid.
  package var expiresAt: WireTime
  package var order: OrderAnswer?

  package init(
    basketId: BasketID, state: State, merchantReference: String, total: WireAmount, pending: Bool, expiresAt: WireTime,
    order: OrderAnswer? = nil
  ) {
    self.basketId = basketId
    self.state = state
    self.merchantReference = merchantReference
    self.total = total
    self.pending = pending
    self.expiresAt = expiresAt
    self.order = order
  }
}

/// Worldline's `AmountOfMoney`.
package struct WireAmount: Sendable, Hashable, Codable {
  /// Minor units.
  package var amount: Int64
  package var currencyCode: Currency

  package init(_ amount: Amount) {
    self.amount = amount.minorUnits
    self.currencyCode = amount.currency
  }
}
