public import TenderPayments

/// What `PUT` and `GET /v2/{merchantId}/baskets/{basketId}` return.
public struct BasketAnswer: Sendable, Hashable, Codable {
  public enum State: String, Sendable, Hashable, Codable {
    case open
    /// An order was made of it, whatever its payment came to.
    case placed
    case cancelled
  }

  public var basketId: BasketID
  public var state: State
  /// The total that was last shown, or that would be shown when the sheet opens.
  public var total: WireAmount
  /// The total is not known yet, and `total` is zero.
  public var pending: Bool
  /// When the basket can no longer be paid.
  public var expiresAt: WireTime
  public var order: OrderAnswer?

  public init(
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
public struct OrderAnswer: Sendable, Hashable, Codable {
  public var orderId: OrderID
  public var paymentId: PaymentID?
  public var merchantReference: String
  /// Nil while the acquirer has not been asked.
  public var status: PaymentStatus?
  public var amount: WireAmount
  /// What the amount is made of, as the sheet showed it: goods, discount, fees, the way they travel.
  public var lines: [Line]?
  /// The items that could not be had at the address, and are not part of the order.
  public var unavailableItems: [String]?

  /// A line of the sheet.
  public struct Line: Sendable, Hashable, Codable {
    public var label: String
    /// Minor units; negative for a discount.
    public var amount: Int64

    public init(label: String, amount: Int64) {
      self.label = label
      self.amount = amount
    }
  }

  public init(
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
public struct WireAmount: Sendable, Hashable, Codable {
  /// Minor units.
  public var amount: Int64
  public var currencyCode: Currency

  public init(_ amount: Amount) {
    self.amount = amount.minorUnits
    self.currencyCode = amount.currency
  }
}
