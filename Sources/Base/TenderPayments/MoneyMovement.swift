/// Money that a provider or a card scheme moved by itself, or a person in the provider's dashboard.
package enum MoneyMovement: String, Sendable, Hashable, CaseIterable {
  /// A person captured in the provider's dashboard, or the account captures by itself.
  case capture
  /// A person voided in the provider's dashboard.
  case void
  /// A person refunded in the provider's dashboard.
  case refund
  /// A refund came back to the merchant.
  case refundReturned = "refund_returned"
  /// The cardholder disputes the payment, and the amount was taken back.
  case chargeback
  /// A dispute ended in the merchant's favour.
  case chargebackReversed = "chargeback_reversed"
  /// The hold ended without a capture.
  case holdExpired = "hold_expired"
}
