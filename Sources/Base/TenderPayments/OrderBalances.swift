/// What became of one payment as the merchant knows it: from its own orders, where the provider gives no list.
package struct OrderBalances: Sendable, Hashable {
  package let payment: PaymentID
  /// What is held or was captured; zero for a payment that was voided.
  package let authorized: Amount
  package let captured: Amount
  package let refunded: Amount
  /// The provider's name of the authorization; nil where the merchant does not know it. Nothing can follow without.
  package let name: String?

  package init(payment: PaymentID, authorized: Amount, captured: Amount, refunded: Amount, name: String? = nil) {
    (self.payment, self.authorized, self.captured) = (payment, authorized, captured)
    (self.refunded, self.name) = (refunded, name)
  }
}
