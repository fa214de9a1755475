import Storage
import TenderPayments

/// The table `token_uses`: a payment token pays once, by each of its two fingerprints.
enum TokenUses {
  /// Adds and returns no row when the payment token has been used.
  static func addition(of use: TokenUse, to payment: PaymentID) -> Query<Row> {
    Query(
      SQLStatement(
        """
        INSERT INTO token_uses (transaction_id, payload_hash, payment, used_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING RETURNING payment
        """,
        .text(use.transactionID), .text(use.payloadHash), .text(payment.rawValue), .integer(0)
      ).fromNow(4))
  }

  static func payment(using use: TokenUse, in store: Transaction) throws -> PaymentID? {
    let row = try store.row(
      "SELECT payment FROM token_uses WHERE transaction_id = $1 OR payload_hash = $2", .text(use.transactionID),
      .text(use.payloadHash))
    return try row?.value("payment")
  }
}
