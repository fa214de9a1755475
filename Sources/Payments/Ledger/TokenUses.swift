import Storage
import TenderPayments

/// The table `token_uses`: a payment token pays once, by each of its two fingerprints.
enum TokenUses {
  /// Adds and returns no row when the payment token has been used, or was signed so long ago that its use may have been
  /// forgotten.
  ///
  /// - Parameter signed: nil for what has no signing time that was verified: its use is never forgotten.
  static func addition(of use: TokenUse, signed: Timestamp?, to payment: PaymentID) -> Query<Row> {
    Query(
      SQLStatement(
        """
        INSERT INTO token_uses (transaction_id, payload_hash, payment, used_at) SELECT $1, $2, $3, $4
        WHERE NOT EXISTS (SELECT 1 FROM retention WHERE task = 'tokens' AND until > $5)
        ON CONFLICT DO NOTHING RETURNING payment
        """,
        .text(use.transactionID), .text(use.payloadHash), .text(payment.rawValue), .integer(0),
        .time(signed?.adding(.zero - Journal.tolerance) ?? Timestamp(microseconds: .max))
      ).fromNow(4))
  }

  /// When the newest payment was made; nil where there is none.
  static func newestPayment(in store: Transaction) throws -> Timestamp? {
    let id = try store.row("SELECT id FROM payments ORDER BY id DESC LIMIT 1")?.text("id")
    return id.flatMap { Timestamp(ofID: $0) }
  }

  static func payment(using use: TokenUse, in store: Transaction) throws -> PaymentID? {
    let row = try store.row(
      "SELECT payment FROM token_uses WHERE transaction_id = $1 OR payload_hash = $2", .text(use.transactionID),
      .text(use.payloadHash))
    return try row?.value("payment")
  }
}
