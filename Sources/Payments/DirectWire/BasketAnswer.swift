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
  /// The total that was last shown, or that would be shown when the sheet opens.
  package var total: WireAmount
  /// The total is not known yet, and `total` is zero.
  package var pending: Bool
  /// When the basket can no longer be paid.
  package var expiresAt: WireTime
  package var order: OrderAnswer?

  package init(
    basketId: BasketID, state: State, total: WireAmount, pending: Bool, expiresAt: WireTime, order: OrderAnswer? = nil
  ) {
    self.basketId = basketId
    self.state = state
    self.total = total
    self.pending = pending
    self.expiresAt = expiresAt
    self.order = order
  }
}

/// The order made of a basket, and what became of its payment.
package struct OrderAnswer: Sendable, Hashable, Codable {
  package var orderId: OrderID
  package var paymentId: PaymentID?
  package var merchantReference: String
  /// Nil while the acquirer has not been asked.
  package var status: PaymentStatus?
  package var amount: WireAmount
  /// What the amount is made of, as the sheet showed it: goods, discount, fees, the way they travel.
  package var lines: [Line]?
  /// The items that could not be had at the address, and are not part of the order.
  package var unavailableItems: [String]?

  /// A line of the sheet.
  package struct Line: Sendable, Hashable, Codable {
    package var label: String
    /// Minor units; negative for a discount.
    package var amount: Int64

    package init(label: String, amount: Int64) {
      self.label = label
      self.amount = amount
    }
  }

  package init(
    orderId: OrderID, paymentId: PaymentID?, merchantReference: String, status: PaymentStatus?, amount: WireAmount,
    lines: [Line]? = nil, unavailableItems: [String]? = nil
  ) {
    self.lines = lines
    self.unavailableItems = unavailableItems
    self.orderId = orderId
    self.paymentId = paymentId
    self.merchantReference = merchantReference
    self.status = status
    self.amount = amount
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
