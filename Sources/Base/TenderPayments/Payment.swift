/// One payment, computed from its operations at the acquirer.
public struct Payment: Sendable, Hashable {
  /// Tender's name for the payment.
  public let id: PaymentID
  /// The order that it pays.
  public let order: OrderID
  /// Who sells.
  public let merchant: MerchantID
  /// The basket that it pays.
  public let basket: BasketID
  /// Its status.
  public let status: PaymentStatus
  /// What was asked for.
  public let amount: Amount
  /// Minor units of `amount.currency` that the acquirer authorized, without those that were released again.
  public let authorized: Int64
  /// Minor units that increments have added to what was asked for.
  public let incremented: Int64
  /// Minor units that were captured.
  public let captured: Int64
  /// Minor units that were refunded.
  public let refunded: Int64
  /// Minor units that cardholders took back through their banks.
  public let chargedBack: Int64
  /// Six characters from the issuer, once it has approved.
  public let authorizationCode: String?
  /// Why it was declined; nil unless it was.
  public let decline: Decline?
  /// What may be shown of the card.
  public let card: CardSummary
  /// Apple's identifier of the transaction, `header.transactionId` of the payment token: 64 lowercase hexadecimal digits.
  /// Where a merchant opened the token, what the merchant names; nil if none.
  public let transactionIdentifier: String?
  /// Whether the amount inside the payment token was read and equals the order's. False for a sealed token: only the
  /// provider can decrypt it, so only its answer confirms the amount.
  public let amountConfirmed: Bool
  /// The outcome last reported to the shopper; nil before the first report. After *failure* nothing may be captured.
  public let reportedOutcome: ReportedOutcome?
  /// The status at which *success* or *failure* was reported to the shopper; nil before that. The merchant reports
  /// later changes, such as a refund.
  public let reportedStatus: PaymentStatus?
  /// When the attempt was written, just before the acquirer was asked.
  public let createdAt: Timestamp
  /// When its status or its balances last changed.
  public let updatedAt: Timestamp

  /// A payment as the journal records it.
  public init(
    id: PaymentID, order: OrderID, merchant: MerchantID, basket: BasketID, status: PaymentStatus, amount: Amount,
    authorized: Int64, incremented: Int64 = 0, captured: Int64, refunded: Int64, chargedBack: Int64 = 0,
    authorizationCode: String?,
    decline: Decline?, card: CardSummary, transactionIdentifier: String? = nil, amountConfirmed: Bool = true,
    reportedOutcome: ReportedOutcome? = nil,
    reportedStatus: PaymentStatus? = nil,
    createdAt: Timestamp, updatedAt: Timestamp
  ) {
    self.id = id
    self.order = order
    self.merchant = merchant
    self.basket = basket
    self.status = status
    self.amount = amount
    self.authorized = authorized
    self.incremented = incremented
    self.captured = captured
    self.refunded = refunded
    self.chargedBack = chargedBack
    self.authorizationCode = authorizationCode
    self.decline = decline
    self.card = card
    self.transactionIdentifier = transactionIdentifier
    self.amountConfirmed = amountConfirmed
    self.reportedOutcome = reportedOutcome
    self.reportedStatus = reportedStatus
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }

  /// Whether the shopper has paid: money is held or taken, and not all of it was given back. A payment that was reported
  /// as a failure is none: its late approval is reversed.
  package var isPaid: Bool {
    switch status {
    case .authorized, .partiallyCaptured, .captured, .partiallyRefunded, .verified: reportedOutcome != .failure
    case .refunded: uncaptured > 0 && reportedOutcome != .failure
    case .authorizing, .pending, .unknown, .declined, .failed, .voided: false
    }
  }
  /// Minor units that were captured, and neither refunded nor charged back.
  package var kept: Int64 { captured.subtractingClamped(refunded).subtractingClamped(chargedBack) }
  /// Minor units that are held and were not captured.
  package var uncaptured: Int64 { authorized.subtractingClamped(captured) }
  /// Minor units that were held, and were released without being captured: by a void, a final capture or a reversal.
  package var released: Int64 {
    switch status {
    case .authorizing, .pending, .unknown, .declined, .failed, .verified: 0
    case .authorized, .partiallyCaptured, .captured, .partiallyRefunded, .refunded, .voided:
      amount.minorUnits.addingClamped(incremented).subtractingClamped(authorized)
    }
  }
}

/// The status of a payment.
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
  /// The card was verified by an authorization of zero: nothing is held, and nothing can be taken.
  case verified
  /// The hold was released; nothing was taken.
  case voided
  /// The acquirer, the network or the issuer said no.
  case declined
  /// Provably nothing happened at the acquirer.
  case failed
  /// The outcome at the acquirer is not known yet.
  case unknown

  /// Whether the acquirer's answer is final; until then it is unknown whether the order is paid.
  public var isResolved: Bool {
    switch self {
    case .authorizing, .pending, .unknown: false
    default: true
    }
  }

  /// Whether the payment reserves its order: while it does, no other payment may be made for it.
  public var isLive: Bool {
    switch self {
    case .declined, .failed, .voided: false
    default: true
    }
  }
}

/// The outcome reported to the shopper. After *failure*, a late approval may only be reversed.
public enum ReportedOutcome: String, Sendable, Hashable, Codable {
  /// The payment succeeded; the answer comes later; nothing was paid.
  case success, pending, failure
}
