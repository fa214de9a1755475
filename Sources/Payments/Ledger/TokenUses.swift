import Storage
import TenderPayments

/// The table `token_uses`: a payment token pays once, by each of its two fingerprints.
enum TokenUses {
  /// False when the payment token has been used.
  static func add(_ use: TokenUse, of payment: PaymentID, in store: Transaction) throws -> Bool {
    let added = try store.changes(
      """
      INSERT INTO token_uses (transaction_id, payload_hash, payment, used_at) VALUES ($1, $2, $3, $4)
      ON CONFLICT DO NOTHING
      """,
      .text(use.transactionID), .text(use.payloadHash), .text(payment.rawValue), .time(store.now))
    return added == 1
  }

  static func payment(using use: TokenUse, in store: Transaction) throws -> PaymentID? {
    let row = try store.row(
      "SELECT payment FROM token_uses WHERE transaction_id = $1 OR payload_hash = $2", .text(use.transactionID),
      .text(use.payloadHash))
    return try row?.value("payment")
  }
}
