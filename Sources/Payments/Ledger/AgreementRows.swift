import Storage
import TenderPayments

/// The tables of agreements: rows are added and changed, never removed.
enum AgreementRows {
  static func insert(
    _ new: NewAgreement, as id: AgreementID, of merchant: MerchantID, paidBy payment: PaymentID, in store: Transaction
  ) throws {
    let (terms, agreement) = (new.terms.terms, new.terms)
    let (recurring, trial) = (agreement.recurring, agreement.recurring?.trial)
    try store.run(
      """
      INSERT INTO agreements (id, merchant, payment, merchant_reference, customer, kind, status, currency, description,
        management_url, billing_agreement, notification_url, time_zone, label, amount, interval_unit, interval_count,
        starts_at, ends_at, trial_label, trial_amount, trial_unit, trial_count, trial_starts_at, trial_ends_at, threshold,
        due_at, free_until, free_until_zone, merchant_token, version, created_at, updated_at)
      VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
        $22, $23, $24, $25, $26, $27, $28, $29, 1, $30, $30)
      """,
      .text(id.rawValue), .text(merchant.rawValue), .text(payment.rawValue), .text(new.merchantReference),
      .text(optional: new.customer), .text(agreement.kind.rawValue), .text(agreement.amount.currency.code),
      .text(terms.paymentDescription), .text(terms.managementURL), .text(optional: terms.billingAgreement),
      .text(optional: terms.tokenNotificationURL), .text(new.timeZone), .text(agreement.label),
      .integer(agreement.amount.minorUnits), .text(optional: recurring?.regular.interval.unit.rawValue),
      .integer(optional: recurring.map { Int64($0.regular.interval.count) }),
      .time(optional: recurring?.regular.start), .time(optional: recurring?.regular.end),
      .text(optional: trial?.label), .integer(optional: trial?.amount.minorUnits),
      .text(optional: trial?.interval.unit.rawValue), .integer(optional: trial.map { Int64($0.interval.count) }),
      .time(optional: trial?.start), .time(optional: trial?.end),
      .integer(optional: agreement.reload?.threshold.minorUnits), .time(optional: agreement.deferral?.date),
      .time(optional: agreement.deferral?.freeCancellation?.until),
      .text(optional: agreement.deferral?.freeCancellation?.timeZone), .text(optional: new.merchantToken),
      .time(store.now))
  }

  static func find(_ id: AgreementID, in store: Transaction) throws -> Agreement? {
    try store.row("SELECT * FROM agreements WHERE id = $1", .text(id.rawValue)).map(Agreement.init)
  }

  static func lock(_ id: AgreementID, in store: Transaction) throws -> Agreement {
    guard let row = try store.lockedRow("SELECT * FROM agreements WHERE id = $1", .text(id.rawValue)) else {
      throw AgreementError.unknown(id)
    }
    return try Agreement(row)
  }

  /// Writes the status after an event, and the event as a line of the history.
  static func move(
    _ before: Agreement, by event: AgreementEvent, to status: AgreementStatus, _ party: AgreementParty,
    because reason: String?, in store: Transaction
  ) throws {
    try store.run(
      "UPDATE agreements SET status = $2, version = version + 1, updated_at = $3 WHERE id = $1",
      .text(before.id.rawValue), .text(status.rawValue), .time(store.now))
    try store.run(
      """
      INSERT INTO agreement_changes (agreement, number, event, status_before, status_after, party, reason, changed_at)
      VALUES ($1, (SELECT COUNT(*) FROM agreement_changes WHERE agreement = $1), $2, $3, $4, $5, $6, $7)
      """,
      .text(before.id.rawValue), .text(event.rawValue), .text(before.status.rawValue), .text(status.rawValue),
      .text(party.rawValue), .text(optional: reason), .time(store.now))
    if status == .ended { try Journal.noteUnneeded(before, after: event, in: store) }
  }

  static func history(of id: AgreementID, in store: Transaction) throws -> [AgreementChange] {
    try store.rows("SELECT * FROM agreement_changes WHERE agreement = $1 ORDER BY number", .text(id.rawValue)).readable
    {
      AgreementChange(
        event: try $0.value("event"), before: try $0.value("status_before"), after: try $0.value("status_after"),
        party: try $0.value("party"), reason: try $0.textOrNil("reason"), at: try $0.time("changed_at"))
    }
  }

  /// Those of a merchant token, ended ones too.
  static func list(of merchant: MerchantID, with token: String, in store: Transaction) throws -> [AgreementID] {
    try store.rows(
      "SELECT id FROM agreements WHERE merchant = $1 AND merchant_token = $2 ORDER BY id", .text(merchant.rawValue),
      .text(token)
    ).map { try $0.value("id") }
  }

  /// Whether an agreement that has not ended has the merchant token.
  static func needs(_ token: String, of merchant: MerchantID, in store: Transaction) throws -> Bool {
    try store.row(
      "SELECT id FROM agreements WHERE merchant = $1 AND merchant_token = $2 AND status <> 'ended' LIMIT 1",
      .text(merchant.rawValue), .text(token)) != nil
  }

  /// The agreement whose first payment was for the order.
  static func list(begunBy order: OrderID, in store: Transaction) throws -> [AgreementID] {
    try store.rows(
      "SELECT id FROM agreements WHERE payment IN (SELECT id FROM payments WHERE order_id = $1) ORDER BY id",
      .text(order.rawValue)
    ).map { try $0.value("id") }
  }

  /// Those that ended before a time and say still whose they were.
  static func list(endedBefore end: Timestamp, atMost limit: Int, in store: Transaction) throws -> [AgreementID] {
    try store.unclaimedRows(
      """
      SELECT id FROM agreements
      WHERE status = 'ended' AND updated_at < $1 AND (customer IS NOT NULL OR merchant_token IS NOT NULL)
      ORDER BY id LIMIT $2
      """, .time(end), .integer(Int64(limit))
    ).map { try $0.value("id") }
  }

  static func forgetShopper(of id: AgreementID, in store: Transaction) throws {
    let known = try find(id, in: store)
    try store.run(
      """
      UPDATE agreements SET customer = NULL, merchant_token = NULL, version = version + 1, updated_at = $2
      WHERE id = $1 AND (customer IS NOT NULL OR merchant_token IS NOT NULL)
      """, .text(id.rawValue), .time(store.now))
    guard let known, let token = known.merchantToken else { return }
    try MerchantTokenRows.forget(token, of: known.merchant, in: store)
  }

  /// Gives a period its order, unless it has one.
  ///
  /// - Returns: the period's order.
  static func take(
    _ period: Int64, of id: AgreementID, for order: OrderID, due: Timestamp?, in store: Transaction
  ) throws -> OrderID {
    try store.run(
      """
      INSERT INTO agreement_charges (agreement, period, order_id, due_at, created_at) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT DO NOTHING
      """,
      .text(id.rawValue), .integer(period), .text(order.rawValue), .time(optional: due), .time(store.now))
    guard let taken = try Self.order(of: period, of: id, in: store) else { throw AgreementError.conflict }
    return taken
  }

  /// Gives period 0 the first payment's order. If a card before was declined, the order is that of an agreement which has
  /// ended with it.
  static func takeFirst(of id: AgreementID, for order: OrderID, in store: Transaction) throws {
    let moved = try store.changes(
      "UPDATE agreement_charges SET agreement = $1 WHERE order_id = $2 AND period = 0", .text(id.rawValue),
      .text(order.rawValue))
    if moved == 0 { _ = try take(0, of: id, for: order, due: nil, in: store) }
  }

  static func order(of period: Int64, of id: AgreementID, in store: Transaction) throws -> OrderID? {
    try store.row(
      "SELECT order_id FROM agreement_charges WHERE agreement = $1 AND period = $2", .text(id.rawValue),
      .integer(period)
    ).map { OrderID(try $0.text("order_id")) }
  }

  /// The last period that has an order; nil for none.
  static func lastPeriod(of id: AgreementID, in store: Transaction) throws -> Int64? {
    try store.row(
      "SELECT MAX(period) AS period FROM agreement_charges WHERE agreement = $1", .text(id.rawValue)
    )?.integerOrNil("period")
  }

  /// Writes what the schedule charges next, and when it looks at it.
  static func schedule(_ id: AgreementID, _ next: AgreementSchedule, in store: Transaction) throws {
    try store.run(
      "UPDATE agreements SET schedule_period = $2, schedule_at = $3, version = version + 1 WHERE id = $1",
      .text(id.rawValue), .integer(next.period), .time(optional: next.at))
  }

  /// The price that the merchant has named for what is due at a time; nil where the terms say it.
  static func price(of agreement: Agreement, at due: Timestamp, in store: Transaction) throws -> Amount? {
    try store.row(
      "SELECT amount FROM agreement_prices WHERE agreement = $1 AND from_at <= $2 ORDER BY from_at DESC LIMIT 1",
      .text(agreement.id.rawValue), .time(due)
    ).map { Amount(minorUnits: try $0.integer("amount"), currency: agreement.terms.amount.currency) }
  }

  /// Gives a period the order of a payment that was lost and came back.
  static func replaceOrder(
    of period: Int64, of id: AgreementID, by order: OrderID, due: Timestamp?, in store: Transaction
  ) throws {
    try store.run(
      """
      INSERT INTO agreement_charges (agreement, period, order_id, due_at, created_at) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (agreement, period) DO UPDATE SET order_id = excluded.order_id
      """,
      .text(id.rawValue), .integer(period), .text(order.rawValue), .time(optional: due), .time(store.now))
  }

  /// Takes back that it was changed since it was made, so that a restored store's schedule waits.
  static func hold(_ id: AgreementID, in store: Transaction) throws {
    try store.run("UPDATE agreements SET updated_at = created_at WHERE id = $1", .text(id.rawValue))
  }

  static func mark(_ payment: PaymentID, as chargeOf: AgreementID, in store: Transaction) throws {
    try store.run(
      "UPDATE payments SET agreement = $2 WHERE id = $1", .text(payment.rawValue), .text(chargeOf.rawValue))
  }
}

extension Agreement {
  init(_ row: Row) throws {
    id = try row.value("id")
    merchant = try row.value("merchant")
    firstPayment = try row.value("payment")
    merchantReference = try row.text("merchant_reference")
    customer = try row.textOrNil("customer")
    terms = try PaymentAgreement(row)
    timeZone = try row.text("time_zone")
    status = try row.value("status")
    merchantToken = try row.textOrNil("merchant_token")
    let at = try row.timeOrNil("schedule_at")
    schedule = try row.integerOrNil("schedule_period").map { AgreementSchedule(period: $0, at: at) }
    createdAt = try row.time("created_at")
    updatedAt = try row.time("updated_at")
  }
}

extension PaymentAgreement {
  fileprivate init(_ row: Row) throws {
    let terms = AgreementTerms(
      paymentDescription: try row.text("description"), managementURL: try row.text("management_url"),
      billingAgreement: try row.textOrNil("billing_agreement"),
      tokenNotificationURL: try row.textOrNil("notification_url"))
    let (label, amount) = (try row.text("label"), try row.amount("amount"))
    switch try row.value("kind") as AgreementKind {
    case .recurring:
      let regular = RecurringPayment.Billing(
        label: label, amount: amount,
        interval: BillingInterval(try row.value("interval_unit"), count: Int(try row.integer("interval_count"))),
        start: try row.timeOrNil("starts_at"), end: try row.timeOrNil("ends_at"))
      self = .recurring(RecurringPayment(terms: terms, regular: regular, trial: try Self.trial(row)))
    case .automaticReload:
      self = .automaticReload(
        AutomaticReload(terms: terms, label: label, amount: amount, threshold: try row.amount("threshold")))
    case .deferred:
      self = .deferred(
        DeferredPayment(
          terms: terms, label: label, amount: amount, date: try row.time("due_at"),
          freeCancellation: try row.timeOrNil("free_until").map {
            .init(until: $0, timeZone: try row.text("free_until_zone"))
          }))
    }
  }

  private static func trial(_ row: Row) throws -> RecurringPayment.Billing? {
    guard let label = try row.textOrNil("trial_label") else { return nil }
    return RecurringPayment.Billing(
      label: label, amount: try row.amount("trial_amount"),
      interval: BillingInterval(try row.value("trial_unit"), count: Int(try row.integer("trial_count"))),
      start: try row.timeOrNil("trial_starts_at"), end: try row.timeOrNil("trial_ends_at"))
  }

  fileprivate var recurring: RecurringPayment? { if case .recurring(let payment) = self { payment } else { nil } }
  fileprivate var reload: AutomaticReload? { if case .automaticReload(let reload) = self { reload } else { nil } }
  fileprivate var deferral: DeferredPayment? { if case .deferred(let payment) = self { payment } else { nil } }

  fileprivate var label: String {
    switch self {
    case .recurring(let payment): payment.regular.label
    case .automaticReload(let reload): reload.label
    case .deferred(let payment): payment.label
    }
  }
}
