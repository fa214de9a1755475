/// One payment: a fold over its operations at the acquirer.
public struct Payment: Sendable, Hashable {
  public let id: PaymentID
  public let order: OrderID
  public let merchant: MerchantID
  public let basket: BasketID
  public let status: PaymentStatus
  /// What was asked for.
  public let amount: Amount
  /// Minor units of `amount.currency` that the acquirer holds, has taken, has given back.
  public let authorized: Int64
  public let captured: Int64
  public let refunded: Int64
  public let authorizationCode: String?
  public let decline: Decline?
  public let card: CardSummary
  /// Whether the amount inside the payment token was read and equals the order's. False for a token that went on
  /// sealed: only the provider can open it, and its answer is all that vouches for the amount.
  public let amountConfirmed: Bool
  /// What the shopper was told last; nil when nobody could say anything yet. After *failure* nothing may be taken.
  public let told: Telling?
  /// When the attempt was written, just before the acquirer was asked.
  public let createdAt: Timestamp
  public let updatedAt: Timestamp

  public init(
    id: PaymentID, order: OrderID, merchant: MerchantID, basket: BasketID, status: PaymentStatus, amount: Amount,
    authorized: Int64, captured: Int64, refunded: Int64, authorizationCode: String?, decline: Decline?,
    card: CardSummary, amountConfirmed: Bool = true, told: Telling? = nil, createdAt: Timestamp, updatedAt: Timestamp
  ) {
    self.id = id
    self.order = order
    self.merchant = merchant
    self.basket = basket
    self.status = status
    self.amount = amount
    self.authorized = authorized
    self.captured = captured
    self.refunded = refunded
    self.authorizationCode = authorizationCode
    self.decline = decline
    self.card = card
    self.amountConfirmed = amountConfirmed
    self.told = told
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}

/// Where a payment stands.
public enum PaymentStatus: String, Sendable, Hashable, Codable, CaseIterable {
  /// The attempt is written and the acquirer is being asked.
  case authorizing
  /// The provider has the authorization and will answer later.
  case pending
  case authorized
  case partiallyCaptured = "partially_captured"
  case captured
  case partiallyRefunded = "partially_refunded"
  case refunded
  case voided
  case declined
  /// Provably nothing happened at the acquirer.
  case failed
  /// The outcome at the acquirer is not known yet.
  case unknown

  /// Whether the acquirer has answered for good; until then nobody can say whether the order is paid.
  public var isSettled: Bool {
    switch self {
    case .authorizing, .pending, .unknown: false
    default: true
    }
  }

  /// Whether the payment holds its order: as long as it does, no other payment may be made for it.
  public var isLive: Bool {
    switch self {
    case .declined, .failed, .voided: false
    default: true
    }
  }
}

/// What the shopper has been told of a payment. Once it was *failure*, a late approval may only be reversed.
public enum Telling: String, Sendable, Hashable, Codable {
  case success, pending, failure
}
