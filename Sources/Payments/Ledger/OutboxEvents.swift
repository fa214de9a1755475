package import Storage
package import TenderPayments

/// A change of a payment that is sent to its merchant, as it was when it happened.
package struct OutboxEvent: Sendable, Hashable {
  package let payment: PaymentID
  package let merchant: MerchantID
  package let order: OrderID
  package let basket: BasketID
  /// 1, 2, 3 … without gaps within the payment.
  package let sequence: Int64
  /// The operation that changed it.
  package let operation: AttemptReference
  /// That operation's place among the payment's operations, in the order in which they were written: 0 for the
  /// authorization.
  package let operationNumber: Int64
  package let status: PaymentStatus
  package let amount: Amount
  /// Minor units of `amount.currency`, after the change.
  package let authorized: Int64
  package let captured: Int64
  package let refunded: Int64
  package let chargedBack: Int64
  package let happenedAt: Timestamp
}

extension OutboxEvent {
  init(_ row: Row) throws {
    payment = try row.value("payment")
    merchant = try row.value("merchant")
    order = try row.value("order_id")
    basket = try row.value("basket")
    sequence = try row.integer("seq")
    operation = try row.value("operation")
    operationNumber = try row.integer("operation_number")
    status = try row.value("status")
    amount = try row.amount("amount")
    authorized = try row.integer("authorized")
    captured = try row.integer("captured")
    refunded = try row.integer("refunded")
    chargedBack = try row.integer("charged_back")
    happenedAt = try row.time("happened_at")
  }

  private static let select = """
    SELECT outbox.*, payments.order_id, payments.basket, payments.amount, payments.currency,
      cause.number AS operation_number
    FROM outbox JOIN payments ON payments.id = outbox.payment JOIN operations AS cause
      ON cause.reference = outbox.operation
    """
}

/// Reads the outbox, inside a transaction of the dispatcher.
extension OutboxEvent {
  /// Events that no dispatcher has taken yet, in order within each payment.
  ///
  /// - Parameter payments: of at most so many payments. A payment comes with all of its events, so that a later one
  ///   cannot be taken before an earlier one.
  package static func waiting(payments: Int, in store: Transaction) throws -> [OutboxEvent] {
    try store.rows(
      select + """
         WHERE outbox.delivered_at IS NULL AND outbox.payment IN
          (SELECT payment FROM outbox WHERE delivered_at IS NULL ORDER BY next_try LIMIT $1)
        ORDER BY outbox.payment, outbox.seq
        """, .integer(Int64(payments))
    ).map(OutboxEvent.init)
  }

  /// Removes the event from the outbox. The caller writes its deliveries in the same commit.
  package func markTaken(in store: Transaction) throws {
    try store.run(
      "UPDATE outbox SET delivered_at = $3 WHERE payment = $1 AND seq = $2", .text(payment.rawValue),
      .integer(sequence), .time(store.now))
  }

  package static func find(_ payment: PaymentID, _ sequence: Int64, in store: Transaction) throws -> OutboxEvent? {
    try store.row(
      select + " WHERE outbox.payment = $1 AND outbox.seq = $2", .text(payment.rawValue), .integer(sequence)
    ).map(OutboxEvent.init)
  }

  /// What happened after a certain event, oldest first.
  package static func after(_ cursor: Cursor, limit: Int, in store: Transaction) throws -> [OutboxEvent] {
    try store.rows(
      select + """
         WHERE outbox.happened_at > $1 OR (outbox.happened_at = $1
          AND (outbox.payment > $2 OR (outbox.payment = $2 AND outbox.seq > $3)))
        ORDER BY outbox.happened_at, outbox.payment, outbox.seq LIMIT $4
        """, .time(cursor.time), .text(cursor.payment), .integer(cursor.sequence), .integer(Int64(limit))
    ).map(OutboxEvent.init)
  }

  /// The same for the payments of one merchant.
  package static func after(
    _ cursor: Cursor, of merchant: MerchantID, limit: Int, in store: Transaction
  ) throws -> [OutboxEvent] {
    try store.rows(
      select + """
         WHERE outbox.merchant = $5 AND outbox.happened_at >= $1 AND (outbox.happened_at > $1
          OR outbox.payment > $2 OR (outbox.payment = $2 AND outbox.seq > $3))
        ORDER BY outbox.happened_at, outbox.payment, outbox.seq LIMIT $4
        """, .time(cursor.time), .text(cursor.payment), .integer(cursor.sequence), .integer(Int64(limit)),
      .text(merchant.rawValue)
    ).map(OutboxEvent.init)
  }

  /// A place in the history of all payments.
  package struct Cursor: Sendable, Hashable {
    package let time: Timestamp
    package let payment: String
    package let sequence: Int64

    package init(time: Timestamp, payment: String = "", sequence: Int64 = 0) {
      self.time = time
      self.payment = payment
      self.sequence = sequence
    }
  }

  /// The place right after this event.
  package var cursor: Cursor { Cursor(time: happenedAt, payment: payment.rawValue, sequence: sequence) }
}
