import Storage
import TenderPayments

/// The table `outbox`: one row for every change that is sent to the merchant, numbered without gaps within a
/// payment, written in the commit of the change. A row is a snapshot; the dispatcher gives it its wire form.
enum Outbox {
  static func add(_ record: PaymentRecord, after operation: AttemptReference, in store: Transaction) throws {
    let payment = record.payment
    try store.run(
      """
      INSERT INTO outbox (payment, merchant, seq, operation, status, authorized, captured, refunded, charged_back,
        happened_at)
      VALUES ($1, $2, (SELECT COALESCE(MAX(seq), 0) + 1 FROM outbox WHERE payment = $1), $3, $4, $5, $6, $7, $8, $9)
      """,
      .text(payment.id.rawValue), .text(payment.merchant.rawValue), .text(operation.rawValue),
      .text(payment.status.rawValue), .integer(payment.authorized), .integer(payment.captured),
      .integer(payment.refunded), .integer(payment.chargedBack), .time(store.now))
  }
}
