package import TenderPayments

/// An agreement with a shopper to charge the same card again, as the ledger keeps it.
///
/// It holds no number and no cryptogram. What charges the card again is the provider's reference of the first payment.
package struct Agreement: Sendable, Hashable {
  package let id: AgreementID
  package let merchant: MerchantID
  /// The payment that the shopper authorized.
  package let firstPayment: PaymentID
  package let merchantReference: String
  /// The merchant's reference of the shopper; nil for a guest.
  package let customer: String?
  package let terms: PaymentAgreement
  /// The calendar's: a name of the time zone database.
  package let timeZone: String
  package let status: AgreementStatus
  /// The network's identifier of the merchant token, not its number; nil for a device token, or where the provider opens the
  /// payment token.
  package let merchantToken: String?
  /// Nil where the merchant makes each charge.
  package let schedule: AgreementSchedule?
  package let createdAt: Timestamp
  package let updatedAt: Timestamp
}

/// What a caller brings for a new agreement, in the commit that claims its first payment.
package struct NewAgreement: Sendable, Hashable {
  package let terms: PaymentAgreement
  /// A name of the time zone database.
  package let timeZone: String
  package let merchantReference: String
  package let customer: String?
  package let merchantToken: String?
  /// Whether its periods are charged by its calendar.
  package let isScheduled: Bool

  package init(
    terms: PaymentAgreement, timeZone: String, merchantReference: String, customer: String? = nil,
    merchantToken: String? = nil, isScheduled: Bool = false
  ) {
    self.isScheduled = isScheduled
    self.terms = terms
    self.timeZone = timeZone
    self.merchantReference = merchantReference
    self.customer = customer
    self.merchantToken = merchantToken
  }

  /// This agreement with the merchant token that the payment token had.
  package func with(_ merchantToken: String?) -> NewAgreement {
    NewAgreement(
      terms: terms, timeZone: timeZone, merchantReference: merchantReference, customer: customer,
      merchantToken: merchantToken, isScheduled: isScheduled)
  }
}

/// A line of an agreement's history.
package struct AgreementChange: Sendable, Hashable {
  package let event: AgreementEvent
  package let before: AgreementStatus
  package let after: AgreementStatus
  package let party: AgreementParty
  /// For people; nil where the event says all.
  package let reason: String?
  package let at: Timestamp
}

/// Why an agreement is not changed or charged.
package enum AgreementError: Error, Sendable, Hashable {
  /// There is none, or it is another merchant's.
  case unknown(AgreementID)
  /// The status has no such event.
  case notPossible(AgreementEvent, AgreementStatus)
  /// The status allows no charge.
  case notChargeable(AgreementStatus)
  /// The calendar has no such period, or the agreement has ended by its terms.
  case noSuchPeriod(Int64)
  /// The period begins later.
  case notDue(Int64, Timestamp)
  /// The period has a payment that was not declined.
  case charged(Int64, PaymentID)
  /// A charge was declined with a reason after which the card is never tried again.
  case stopped(DeclineReason)
  /// So many charges were declined that the schemes allow none before this time.
  case tooManyDeclines(Timestamp)
  /// A reload and a deferred payment have the amount that the shopper saw, and no price.
  case noPrice(AgreementKind)
  /// A price cannot hold from a time that is over.
  case priceFromPast(Timestamp)
  /// Another call has begun the same period; ask again.
  case conflict
}
