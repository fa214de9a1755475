import Storage
import TenderPayments

/// Who takes events out of the outbox. Each takes every event once, in a transaction of its own, which also writes what
/// becomes of the event; an event that all have taken has left the outbox.
package enum OutboxConsumer: Sendable, CaseIterable {
  /// Reports to the merchant. It also gives an event its place in the history of all payments.
  case webhooks
  /// Writes to the shopper.
  case mail

  /// Which events wait for it.
  var condition: String {
    switch self {
    case .webhooks: "delivered_at IS NULL"
    case .mail: "waits_for_mail = 1"
    }
  }
}

/// The table `outbox`: one row for every change of a payment, numbered without gaps within the payment, written in the
/// commit of the change. A row is a snapshot; each ``OutboxConsumer`` gives it its own form.
enum Outbox {
  /// - Parameter floor: the numbers up to this one may have been sent; nil where the store has all that were.
  static func add(
    _ record: PaymentRecord, after operation: AttemptReference, for consumers: Set<OutboxConsumer>,
    above floor: Int64? = nil, agreement: AgreementEvent? = nil, in store: Transaction
  ) throws {
    let payment = record.payment
    let last = floor.map { "MAX(CASE WHEN seq > \($0) THEN seq ELSE \($0) END), \($0)" } ?? "MAX(seq), 0"
    try store.run(
      """
      INSERT INTO outbox (payment, merchant, seq, operation, status, authorized, captured, refunded, charged_back,
        happened_at, waits_for_mail, agreement_event)
      VALUES ($1, $2, (SELECT COALESCE(\(last)) + 1 FROM outbox WHERE payment = $1), $3, $4, $5, $6, $7, $8, $9, $10, $11)
      """,
      .text(payment.id.rawValue), .text(payment.merchant.rawValue), .text(operation.rawValue),
      .text(payment.status.rawValue), .integer(payment.authorized), .integer(payment.captured),
      .integer(payment.refunded), .integer(payment.chargedBack), .time(store.now),
      .integer(optional: consumers.contains(.mail) ? 1 : nil), .text(optional: agreement?.rawValue))
  }
}

extension Journal {
  /// Writes the event of a change. In a restored store it has a number above all that were sent before.
  func addEvent(_ record: PaymentRecord, after operation: AttemptReference, in store: Transaction) throws {
    let floor = restore.flatMap { $0.mayHaveKnown(record.payment) ? $0.eventFloor : nil }
    try Outbox.add(record, after: operation, for: consumers, above: floor, in: store)
  }

  /// Writes the event of an agreement's change, as one of its first payment. It has nothing for a shopper's mail.
  func addEvent(_ event: AgreementEvent, of first: PaymentRecord, in store: Transaction) throws {
    let row = try store.row(
      "SELECT reference FROM operations WHERE payment = $1 AND kind = 'authorize' ORDER BY number DESC LIMIT 1",
      .text(first.payment.id.rawValue))
    guard let authorization: AttemptReference = try row?.value("reference") else { return }
    let floor = restore.flatMap { $0.mayHaveKnown(first.payment) ? $0.eventFloor : nil }
    try Outbox.add(
      first, after: authorization, for: consumers.subtracting([.mail]), above: floor, agreement: event, in: store)
  }

  /// Lets the events leave the outbox that wait for mail, where mail is not set up any more.
  package func forgetMail() async throws {
    guard !consumers.contains(.mail) else { return }
    try await database.write {
      try $0.run("UPDATE outbox SET waits_for_mail = NULL WHERE \(OutboxConsumer.mail.condition)")
    }
  }
}
