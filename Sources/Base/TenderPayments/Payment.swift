/// One payment: a fold over its operations at the acquirer.
public struct Payment: Sendable, Hashable {
  /// Tender's name for the payment.
  public let id: PaymentID
  /// The order that it pays.
  public let order: OrderID
  /// Who sells.
  public let merchant: MerchantID
  /// The basket that it pays.
  public let basket: BasketID
  /// Where it stands.
  public let status: PaymentStatus
  /// What was asked for.
  public let amount: Amount
  /// Minor units of `amount.currency` that the acquirer holds, has taken, has given back.
  public let authorized: Int64
  /// Minor units that were taken.
  public let captured: Int64
  /// Minor units that were given back.
  public let refunded: Int64
  /// Six characters from the issuer, once it has approved.
  public let authorizationCode: String?
  /// Why it was declined; nil unless it was.
  public let decline: Decline?
  /// What may be shown of the card.
  public let card: CardSummary
  /// Whether the amount inside the payment token was read and equals the order's. False for a token that went on
  /// sealed: only the provider can open it, and its answer is all that vouches for the amount.
  public let amountConfirmed: Bool
  /// What the shopper was told last; nil when nobody could say anything yet. After *failure* nothing may be taken.
  public let told: Telling?
  /// The status with which the shopper was told *success* or *failure*; nil as long as they were told neither. What
  /// becomes of the payment afterwards, a refund for instance, is the merchant's to tell.
  public let toldStatus: PaymentStatus?
  /// When the attempt was written, just before the acquirer was asked.
  public let createdAt: Timestamp
  /// When its status or its balances last changed.
  public let updatedAt: Timestamp

  /// A payment as the journal knows it.
  public init(
    id: PaymentID, order: OrderID, merchant: MerchantID, basket: BasketID, status: PaymentStatus, amount: Amount,
    authorized: Int64, captured: Int64, refunded: Int64, authorizationCode: String?, decline: Decline?,
    card: CardSummary, amountConfirmed: Bool = true, told: Telling? = nil, toldStatus: PaymentStatus? = nil,
    createdAt: Timestamp, updatedAt: Timestamp
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
    self.toldStatus = toldStatus
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
  /// The amount is held on the card; nothing was taken yet.
  case authorized
  /// A part of what was held was taken.
  case partiallyCaptured = "partially_captured"
  /// All of what was to be taken was taken.
  case captured
  /// A part of what was taken was given back.
  case partiallyRefunded = "partially_refunded"
  /// All of what was taken was given back.
  case refunded
  /// The hold was released; nothing was taken.
  case voided
  /// The acquirer, the network or the issuer said no.
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
  /// That it worked; that the answer comes later; that nothing was paid.
  case success, pending, failure
}
