package import Ledger
package import Storage
package import TenderPayments

/// What an operator refunds alone, judged in the commit that reserves it: together with what the same person has refunded
/// alone of this payment, and of all payments within a day.
package struct RefundLimit: Sendable {
  let user: OfficeUser

  package init(user: OfficeUser) {
    self.user = user
  }

  /// A refund that needs a second person. It leaves the transaction, so nothing of it is reserved.
  package struct Exceeded: Error {
    package let amount: Amount
  }

  /// In which a limit is used up.
  static let day = Duration.seconds(86_400)

  /// Notes the refund as one that the user makes alone.
  ///
  /// - Throws: ``Exceeded``, unless an administrator refunds.
  package func take(_ attempts: [Attempt], of payment: Payment, in store: Transaction) throws {
    guard user.role(of: payment.merchant) != .administrator else { return }
    // Two refunds of one person are judged one after the other, whatever their payments.
    _ = try store.lockedRow("SELECT name FROM office_users WHERE name = $1", .text(user.name))
    let amount = try attempts.map(\.amount).total(in: payment.amount.currency)
    let earlier = try earlier(beside: payment.id, amount.currency, in: store)
    guard user.limits.allow(try amount.adding(earlier)) else { throw Exceeded(amount: amount) }
    for attempt in attempts {
      try store.run(
        "INSERT INTO office_refunds (operation, user_name, payment, currency, at) VALUES ($1, $2, $3, $4, $5)",
        .text(attempt.reference.rawValue), .text(user.name), .text(payment.id.rawValue),
        .text(amount.currency.code), .time(store.now))
    }
  }

  /// What was refused, or never reached the provider, gave nothing back. What a person says of a refund counts it still:
  /// its money may be gone.
  private func earlier(beside payment: PaymentID, _ currency: Currency, in store: Transaction) throws -> Amount {
    let amounts = try store.rows(
      """
      SELECT operations.amount FROM office_refunds JOIN operations ON operations.reference = office_refunds.operation
      WHERE user_name = $1 AND currency = $2 AND (office_refunds.payment = $3 OR at > $4)
        AND (operations.state NOT IN ('declined', 'failed') OR operations.decided = 1)
      """, .text(user.name), .text(currency.code), .text(payment.rawValue), .time(store.now.adding(.zero - Self.day)))
    return try amounts.map { Amount(minorUnits: try $0.integer("amount"), currency: currency) }.total(in: currency)
  }
}
