package import Storage
package import Telemetry
package import TenderPayments

/// A change of a payment, as it was when it happened.
package struct OutboxEvent: Sendable, Hashable {
  package let payment: PaymentID
  package let merchant: MerchantID
  package let order: OrderID
  package let basket: BasketID
  /// 1, 2, 3 … without gaps within the payment, but for one at each restore of the store.
  package let sequence: Int64
  /// The operation that changed it.
  package let operation: AttemptReference
  /// That operation's place among the payment's operations, in the order in which they were written: 0 for the
  /// authorization.
  package let operationNumber: Int64
  package let operationKind: OperationKind
  package let operationAmount: Amount
  /// The merchant's own name of it.
  package let operationReference: String?
  package let operationSentAt: Timestamp
  /// Why it was refused, also where that became known after this change.
  package let decline: Decline?
  /// Whether with this change it moved its money; false where it was refused, or what it had moved came back.
  package let movesMoney: Bool
  package let status: PaymentStatus
  package let amount: Amount
  /// Minor units of `amount.currency`, after the change.
  package let authorized: Int64
  package let captured: Int64
  package let refunded: Int64
  /// Before the change.
  package let refundedBefore: Int64
  package let chargedBack: Int64
  package let authorizationCode: String?
  package let card: CardSummary
  package let transactionIdentifier: String?
  /// The agreement that the payment began or charges.
  package let agreement: AgreementID?
  /// How that agreement was changed, where the event is about that and not about the payment.
  package let agreementEvent: AgreementEvent?
  /// When the payment was made.
  package let createdAt: Timestamp
  package let happenedAt: Timestamp
  /// The span in which the payment was made; nil where it was not traced.
  package let trace: TraceContext?

  /// Minor units that were captured, and neither refunded nor charged back.
  package var kept: Int64 { captured.subtractingClamped(refunded).subtractingClamped(chargedBack) }
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
    operationKind = try row.value("operation_kind")
    operationAmount = try row.amount("operation_amount")
    operationReference = try row.textOrNil("operation_reference")
    operationSentAt = try row.time("operation_sent_at")
    decline = try row.decline(code: "operation_code")
    status = try row.value("status")
    amount = try row.amount("amount")
    authorized = try row.integer("authorized")
    captured = try row.integer("captured")
    refunded = try row.integer("refunded")
    refundedBefore = try row.integer("refunded_before")
    chargedBack = try row.integer("charged_back")
    authorizationCode = try row.textOrNil("authorization_code")
    card = try row.card()
    transactionIdentifier = try row.textOrNil("transaction_identifier")
    agreement = try row.textOrNil("agreement").map { AgreementID($0) }
    agreementEvent = try row.textOrNil("agreement_event").map { _ in try row.value("agreement_event") }
    createdAt = try row.time("created_at")
    happenedAt = try row.time("happened_at")
    trace = try row.textOrNil("trace").flatMap { TraceContext(stored: $0) }
    movesMoney =
      switch operationKind {
      case .capture: captured > (try row.integer("captured_before"))
      case .refund: refunded > refundedBefore
      case .void: authorized < (try row.integer("authorized_before"))
      case .authorize, .increment, .reverse, .chargeback, .chargebackReversal: true
      }
  }

  /// With the event before it, so that what changed is known whatever has become of the operation since.
  private static let select = """
    SELECT outbox.*, payments.order_id, payments.basket, payments.amount, payments.currency,
      payments.authorization_code, payments.card_name, payments.card_suffix, payments.card_expiry,
      payments.card_network, payments.card_type, payments.card_has_eci, payments.transaction_identifier,
      payments.agreement, payments.created_at, payments.trace, cause.number AS operation_number,
      cause.kind AS operation_kind,
      cause.amount AS operation_amount, cause.merchant_reference AS operation_reference,
      cause.sent_at AS operation_sent_at,
      CASE WHEN cause.state = 'approved' THEN NULL ELSE cause.decline_reason END AS decline_reason,
      COALESCE(cause.code, '') AS operation_code,
      COALESCE(earlier.authorized, 0) AS authorized_before, COALESCE(earlier.captured, 0) AS captured_before,
      COALESCE(earlier.refunded, 0) AS refunded_before
    FROM outbox JOIN payments ON payments.id = outbox.payment JOIN operations AS cause
      ON cause.reference = outbox.operation
      LEFT JOIN outbox AS earlier ON earlier.payment = outbox.payment AND earlier.seq =
        (SELECT MAX(seq) FROM outbox AS others WHERE others.payment = outbox.payment AND others.seq < outbox.seq)
    """
}

/// Whose events stay in the outbox.
package struct LeftEvents: Error {
  /// Not served by this process: their events stay for ``OutboxEvent/longestWait``.
  package var merchants: Set<MerchantID>
  /// With an event that this version cannot read: they wait for a later version.
  package var payments: Set<PaymentID>
  /// With an event for which the consumer could not write what becomes of it: they wait for ``pauseOfRefused``, and from
  /// 64 payments on so do all events of their merchant.
  package var refused: [PaymentID: Refused]

  package struct Refused: Sendable {
    let merchant: MerchantID
    let reason: String
  }

  /// How long events wait that could not be handed over.
  package static let pauseOfRefused: Duration = .seconds(60)

  package init(
    merchants: Set<MerchantID> = [], payments: Set<PaymentID> = [], refused: [PaymentID: Refused] = [:]
  ) {
    (self.merchants, self.payments, self.refused) = (merchants, payments, refused)
  }

  /// What to throw where an event's own writing has failed: the event, so that it holds up no other.
  ///
  /// - Returns: the error itself where it is no matter of one event, or where so many are left that it is none either.
  package func refusal(of event: OutboxEvent, _ error: StorageError) -> any Error {
    guard error.isOfOneStatement, refused.count < 1_024 else { return error }
    return LeftEvents(refused: [event.payment: Refused(merchant: event.merchant, reason: "\(error)")])
  }

  fileprivate var refusedMerchants: Set<MerchantID> {
    let counts = Dictionary(refused.values.map { ($0.merchant, 1) }, uniquingKeysWith: +)
    return Set(counts.filter { $0.value >= 64 }.keys)
  }

  /// Leaves these too, until the merchant is served.
  ///
  /// - Returns: what to report of them.
  package mutating func add(_ found: LeftEvents) -> [String] {
    merchants.formUnion(found.merchants)
    payments.formUnion(found.payments)
    refused.merge(found.refused) { $1 }
    return found.merchants.map { "the events of \($0) wait: this server does not serve it" }
      + found.payments.map { "the events of \($0) wait: this version cannot read them" }
      + found.refused.map { "the events of \($0) wait: they cannot be handed over: \($1.reason)" }
  }
}

/// The hand-over of events, inside a transaction of the consumer.
extension OutboxEvent {
  /// Takes events out of the outbox for a consumer, in order within each payment. The caller writes what becomes of them
  /// in the same commit.
  ///
  /// For webhooks, one process at a time does it, so that a position is visible only after all before it: a reader that
  /// goes on after a position misses none. For mail, concurrent processes take different events.
  ///
  /// - Parameters:
  ///   - payments: of at most so many payments. A payment comes with all of its events, so that a later one cannot be
  ///     taken before an earlier one.
  ///   - left: whose events stay.
  /// - Returns: none as well while another process takes them.
  /// - Throws: ``LeftEvents`` where this version cannot read the events of more payments: roll back, and leave these too.
  package static func take(
    for consumer: OutboxConsumer, payments: Int, butOf left: LeftEvents = LeftEvents(), in store: Transaction
  ) throws -> [OutboxEvent] {
    switch consumer {
    case .webhooks: try takeForWebhooks(payments, left, in: store)
    case .mail: try takeForMail(payments, left, in: store)
    }
  }

  private static func takeForMail(_ payments: Int, _ left: LeftEvents, in store: Transaction) throws -> [OutboxEvent] {
    let due = due(for: .mail, butOf: left, after: 1, in: store)
    let places = try store.unclaimedRows(
      """
      SELECT payment, seq FROM outbox WHERE \(OutboxConsumer.mail.condition) AND payment IN
        (SELECT payment FROM outbox WHERE \(due.sql) ORDER BY happened_at LIMIT $1) ORDER BY payment, seq
      """, [.integer(Int64(payments))] + due.values
    ).map { (payment: try $0.value("payment") as PaymentID, sequence: try $0.integer("seq")) }
    guard !places.isEmpty else { return [] }
    let found = try zip(places, find(places, in: store)).map { place, event in (place.payment, event) }
    let unreadable = found.filter { if case .success? = $1 { false } else { true } }
    guard unreadable.isEmpty else { throw LeftEvents(payments: Set(unreadable.map(\.0))) }
    for place in places {
      try store.run(
        "UPDATE outbox SET waits_for_mail = NULL WHERE payment = $1 AND seq = $2", .text(place.payment.rawValue),
        .integer(place.sequence))
    }
    return try found.compactMap { try $1?.get() }
  }

  private static func takeForWebhooks(
    _ payments: Int, _ left: LeftEvents, in store: Transaction
  ) throws -> [OutboxEvent] {
    guard let head = try headOfWaiting(left, in: store) else { return [] }
    let (position, before) = (try head.integer("position"), try head.time("handed_over_at"))
    let last =
      position + Int64(try number(payments, left, after: position, notBefore: max(store.now, before), in: store))
    guard last > position else { return [] }
    try store.run(
      """
      UPDATE outbox_head SET position = $1, handed_over_at =
        (SELECT delivered_at FROM outbox WHERE outbox.position = $1)
      """, .integer(last))
    let rows = try store.rows(
      select + " WHERE outbox.position > $1 AND outbox.position <= $2 ORDER BY outbox.position", .integer(position),
      .integer(last))
    var (events, unreadable) = ([OutboxEvent](), Set<PaymentID>())
    for row in rows {
      do { events.append(try OutboxEvent(row)) } catch StorageError.column {
        unreadable.insert(PaymentID(try row.text("payment")))
      }
    }
    guard unreadable.isEmpty else { throw LeftEvents(payments: unreadable) }
    return events
  }

  /// How long an event waits for its merchant to be served.
  package static let longestWait: Duration = .seconds(30 * 86_400)

  /// Which events a consumer has to take.
  ///
  /// - Parameter count: how many values the statement has before these.
  private static func due(
    for consumer: OutboxConsumer, butOf left: LeftEvents, after count: Int, in store: Transaction
  ) -> (sql: String, values: [SQLValue]) {
    var (sql, values) = (consumer.condition, [SQLValue]())
    if !left.merchants.isEmpty {
      let merchants = MerchantCondition(left.merchants.sorted { $0.rawValue < $1.rawValue }, after: count + 1)
      sql += " AND (happened_at <= $\(count + 1) OR NOT \(merchants.sql))"
      values = [.time(store.now.adding(.zero - longestWait))] + merchants.values
    }
    let refused = left.refusedMerchants
    if !refused.isEmpty {
      let merchants = MerchantCondition(refused.sorted { $0.rawValue < $1.rawValue }, after: count + values.count)
      sql += " AND NOT \(merchants.sql)"
      values += merchants.values
    }
    let payments = left.payments.union(left.refused.filter { !refused.contains($0.value.merchant) }.keys)
    if !payments.isEmpty {
      let places = (1...payments.count).map { "$\(count + values.count + $0)" }.joined(separator: ", ")
      sql += " AND payment NOT IN (\(places))"
      values += payments.map(\.rawValue).sorted().map { .text($0) }
    }
    return (sql, values)
  }

  /// The place of the last event that was handed over, locked until the transaction ends; nil when no event is due, as
  /// most looks find, and while another process has locked it.
  private static func headOfWaiting(_ left: LeftEvents, in store: Transaction) throws -> Row? {
    let due = due(for: .webhooks, butOf: left, after: 0, in: store)
    let (head, waiting) = try store.first(
      Query(SQLStatement(findHead, locking: .skipping)),
      Query(SQLStatement("SELECT payment FROM outbox WHERE \(due.sql) ORDER BY happened_at LIMIT 1", due.values)))
    guard waiting != nil else { return nil }
    return try head ?? firstHead(in: store)
  }

  private static let findHead = "SELECT position, handed_over_at FROM outbox_head WHERE id = 1"

  private static func firstHead(in store: Transaction) throws -> Row? {
    guard try store.row(findHead) == nil else { return nil }
    try store.run(
      "INSERT INTO outbox_head (id, position, handed_over_at) VALUES (1, 0, 0) ON CONFLICT DO NOTHING")
    return try store.unclaimedRows(findHead).first
  }

  /// Gives the waiting events the next positions, by one statement, because every other write waits for it. All get the
  /// same time of hand-over: never before an earlier position's time nor before an event's own, although a clock may be
  /// set back.
  ///
  /// - Returns: how many.
  private static func number(
    _ payments: Int, _ left: LeftEvents, after position: Int64, notBefore time: Timestamp,
    in store: Transaction
  ) throws -> Int {
    let due = due(for: .webhooks, butOf: left, after: 3, in: store)
    return try store.changes(
      """
      UPDATE outbox SET position = $2 + placed.number,
        delivered_at = CASE WHEN placed.latest > $3 THEN placed.latest ELSE $3 END
      FROM (SELECT payment, seq, ROW_NUMBER() OVER (ORDER BY payment, seq) AS number, MAX(happened_at) OVER () AS latest
        FROM outbox WHERE \(OutboxConsumer.webhooks.condition) AND payment IN
          (SELECT payment FROM outbox WHERE \(due.sql) ORDER BY happened_at LIMIT $1)) AS placed
      WHERE outbox.payment = placed.payment AND outbox.seq = placed.seq
      """, [.integer(Int64(payments)), .integer(position), .time(time)] + due.values)
  }
}

extension OutboxEvent {
  package static func find(_ payment: PaymentID, _ sequence: Int64, in store: Transaction) throws -> OutboxEvent? {
    try find([(payment, sequence)], in: store)[0]?.get()
  }

  /// The event of each payment and sequence, or nil; a failure where this version cannot read it.
  package static func find(
    _ events: [(payment: PaymentID, sequence: Int64)], in store: Transaction
  ) throws -> [Result<OutboxEvent, any Error>?] {
    let one = select + " WHERE outbox.payment = $1 AND outbox.seq = $2"
    return try store.firstRows(
      of: events.map { SQLStatement(one, .text($0.payment.rawValue), .integer($0.sequence)) }
    ).map { row in row.map { row in Result { try OutboxEvent(row) } } }
  }

  /// Finds the events of a merchant's payments whose ids begin with the same digits: 12 for those of one millisecond.
  package static func findPlaces(
    ofPaymentsBeginning digits: String, of merchant: MerchantID, in store: Transaction
  ) throws -> [(payment: PaymentID, sequence: Int64)] {
    // Behind every hexadecimal digit is g.
    try store.rows(
      "SELECT payment, seq FROM outbox WHERE payment >= $1 AND payment < $2 AND merchant = $3", .text(digits),
      .text(digits + "g"), .text(merchant.rawValue)
    ).map { (try $0.value("payment"), try $0.integer("seq")) }
  }

  /// What was handed over after a certain place, in that order: within a payment as it happened.
  ///
  /// - Returns: each event with the place right after it; nil for an event that this version cannot read, so that the
  ///   reader goes on behind it.
  package static func after(
    _ cursor: Cursor, limit: Int, in store: Transaction
  ) throws -> [(event: OutboxEvent?, cursor: Cursor)] {
    try store.rows(
      select + " WHERE outbox.position > $1 ORDER BY outbox.position LIMIT $2", .integer(cursor.position),
      .integer(Int64(limit))
    ).map(placed)
  }

  /// What was handed over after a certain place for the payments of one merchant, in that order.
  package static func after(
    _ cursor: Cursor, of merchant: MerchantID, limit: Int, in store: Transaction
  ) throws -> [(event: OutboxEvent?, cursor: Cursor)] {
    try store.rows(
      select + " WHERE outbox.merchant = $3 AND outbox.position > $1 ORDER BY outbox.position LIMIT $2",
      .integer(cursor.position), .integer(Int64(limit)), .text(merchant.rawValue)
    ).map(placed)
  }

  private static func placed(_ row: Row) throws -> (event: OutboxEvent?, cursor: Cursor) {
    let cursor = Cursor(position: try row.integer("position"))
    do { return (try OutboxEvent(row), cursor) } catch StorageError.column { return (nil, cursor) }
  }

  /// A place in the history of all payments, by the order in which events were handed over.
  package struct Cursor: Sendable, Hashable {
    package let position: Int64

    package init(position: Int64) { self.position = position }

    package static let start = Cursor(position: 0)

    /// The place after all that was handed over.
    package static func end(in store: Transaction) throws -> Cursor {
      Cursor(position: try store.row("SELECT position FROM outbox_head")?.integer("position") ?? 0)
    }

    /// A place with everything after it that happened at a time or later, and little else. The times of hand-over rise
    /// with the positions, and none is before its event.
    package static func before(_ time: Timestamp, in store: Transaction) throws -> Cursor {
      var (low, high) = (Int64(0), try end(in: store).position)
      while low < high {
        let middle = low + (high - low + 1) / 2
        if try isHandedOver(middle, before: time, in: store) { low = middle } else { high = middle - 1 }
      }
      return Cursor(position: low)
    }

    /// True also of a position that is not there any more.
    private static func isHandedOver(
      _ position: Int64, before time: Timestamp, in store: Transaction
    ) throws -> Bool {
      let row = try store.row("SELECT delivered_at FROM outbox WHERE position = $1", .integer(position))
      return try row.map { try $0.time("delivered_at") < time } ?? true
    }
  }
}
