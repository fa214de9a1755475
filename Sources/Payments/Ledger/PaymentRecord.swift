import Storage
import Telemetry
import TenderPayments

/// A row of `payments`: the payment as other modules see it, and what only the ledger needs.
struct PaymentRecord {
  var payment: Payment
  var balances: Balances
  /// Connector and account; another one only as long as it is proven that nothing was sent.
  var route: String
  /// As the acquirer was asked.
  var sale: StoredSale
  let captureMode: CaptureMode
  /// As of ``ClaimTerms/captureDelay``.
  let captureDelay: Duration?
  /// When recovery begins an immediate capture, if the first call did not.
  var captureDue: Timestamp?
  /// When the acquirer releases what is held.
  var holdUntil: Timestamp?
  /// The agreement that the payment began or charges.
  let agreement: AgreementID?
  /// The span in which it was made; nil where it was not traced.
  let trace: TraceContext?
  /// Why an operator must look; the first reason stays until an operator acknowledges it.
  private(set) var alarm: String?
  /// Reasons that were found since the row was read, each for a line in the audit chain.
  private(set) var raised: [AlarmReason] = []
  /// The alarm that ended since the row was read, because its cause is gone.
  private(set) var endedAlarm: String?
  private(set) var version: Int64

  /// A payment that is about to be asked for.
  init(_ order: Order, _ card: CardSummary, _ terms: ClaimTerms, id: PaymentID, at now: Timestamp) {
    payment = Payment(
      id: id, order: order.id, merchant: order.merchant, basket: order.basket, status: .authorizing,
      amount: order.amount, authorized: 0, captured: 0, refunded: 0, authorizationCode: nil, decline: nil, card: card,
      transactionIdentifier: terms.transactionIdentifier, amountConfirmed: terms.amountConfirmed, createdAt: now,
      updatedAt: now)
    balances = Balances(status: .authorizing)
    route = terms.route
    sale = terms.sale
    captureMode = order.capture
    captureDelay = terms.captureDelay
    holdUntil = terms.holdUntil
    (agreement, trace) = (nil, terms.trace)
    version = 1
  }

  /// The payment after a posting. What the issuer said of the authorization is kept from the answer that brought it;
  /// *failure*, once reported, stays, and so does the status that *success* or *failure* was reported with.
  ///
  /// - Parameter isBeforeFirstAnswer: whether the shopper's first answer has not left yet, so that it has this status.
  func moved(
    to balances: Balances, by answer: AcquirerAnswer? = nil, reported: ReportedOutcome? = nil,
    isBeforeFirstAnswer: Bool = false,
    at now: Timestamp
  ) -> PaymentRecord {
    var (code, decline) = (payment.authorizationCode, payment.decline)
    if case .approved(let approval) = answer { code = approval.authorizationCode ?? code }
    if case .declined(let reason) = answer, balances.status == .declined { decline = reason }
    let finalStatus = reported.flatMap { $0 == .pending ? nil : balances.status }
    let isReportedAgain = isBeforeFirstAnswer && payment.reportedOutcome == .success
    var after = self
    after.version = version + 1
    after.balances = balances
    after.payment = Payment(
      id: payment.id, order: payment.order, merchant: payment.merchant, basket: payment.basket,
      status: balances.status, amount: payment.amount, authorized: balances.authorized,
      incremented: balances.incremented,
      captured: balances.captured, refunded: balances.refunded, chargedBack: balances.chargedBack,
      authorizationCode: code, decline: decline,
      card: payment.card, transactionIdentifier: payment.transactionIdentifier,
      amountConfirmed: payment.amountConfirmed,
      reportedOutcome: payment.reportedOutcome == .failure ? .failure : reported ?? payment.reportedOutcome,
      reportedStatus: isReportedAgain ? balances.status : payment.reportedStatus ?? finalStatus,
      createdAt: payment.createdAt, updatedAt: now)
    if !balances.status.isLive || balances.status.isResolved && balances.authorized == balances.captured {
      (after.captureDue, after.holdUntil) = (nil, nil)
    }
    return after
  }

  /// Raises an alarm. While another reason is raised, this one is noted in the audit chain only.
  mutating func raise(_ reason: AlarmReason) {
    guard alarm != reason.rawValue else { return }
    raised.append(reason)
    alarm = alarm ?? reason.rawValue
  }

  /// Ends the alarm if it is one of these.
  mutating func endAlarm(among reasons: Set<String>) {
    guard let reason = alarm, reasons.contains(reason) else { return }
    (alarm, endedAlarm) = (nil, reason)
  }

  /// Ends the alarm because an operator has decided.
  mutating func endAlarm() { alarm = nil }

  /// The amount of an operation: what was asked for, or all that is left.
  func validated(
    _ amount: Amount?, for kind: OperationKind, atMost most: Int64 = .max
  ) throws(JournalError) -> Amount {
    let available = Amount(minorUnits: min(most, balances.available(to: kind)), currency: payment.amount.currency)
    let amount = amount ?? available
    guard amount.currency == available.currency else { throw .invalidAmount(amount) }
    guard available.isPositive, amount.minorUnits <= available.minorUnits else {
      let inFlight = balances.inFlight(beside: kind)
      let wouldFit = inFlight > 0 && amount.minorUnits <= available.minorUnits.addingClamped(inFlight)
      throw wouldFit ? .inFlight(available: available) : .exceeds(available: available)
    }
    guard amount.isPositive else { throw .invalidAmount(amount) }
    return amount
  }
}

extension PaymentRecord {
  /// The payment, locked until the transaction ends.
  static func lock(_ id: PaymentID, in store: Transaction) throws -> PaymentRecord {
    guard let record = try store.first(lockingQuery(id)) else { throw JournalError.noSuchPayment(id) }
    return record
  }

  static func lockingQuery(_ id: PaymentID) -> Query<PaymentRecord> {
    Query(
      SQLStatement("SELECT * FROM payments WHERE id = $1", .text(id.rawValue), locking: .waiting),
      read: PaymentRecord.init)
  }

  static func find(_ id: PaymentID, in store: Transaction) throws -> PaymentRecord? {
    try store.row("SELECT * FROM payments WHERE id = $1", .text(id.rawValue)).map(PaymentRecord.init)
  }

  /// Adds and returns no row when the order has a live payment.
  static func insertion(
    of id: PaymentID, _ order: Order, _ card: CardSummary, _ terms: ClaimTerms
  ) -> Query<Row> {
    Query(
      SQLStatement(
        """
        INSERT INTO payments (id, order_id, merchant, basket, route, status, live, amount, currency,
          amount_confirmed, capture_mode, authorized, captured, refunded, reserved_capture, reserved_void,
          reserved_refund, card_suffix, card_expiry, card_has_eci, hold_until, version, created_at, updated_at,
          merchant_account, statement_descriptor, merchant_category, card_name, capture_delay, authorization_type,
          card_network, card_type, transaction_identifier, trace)
        VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10, 0, 0, 0, 0, 0, 0, $11, $12, $13, $14, 1, $15, $15,
          $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
        ON CONFLICT DO NOTHING RETURNING id
        """,
        .text(id.rawValue), .text(order.id.rawValue), .text(order.merchant.rawValue), .text(order.basket.rawValue),
        .text(terms.route), .text(PaymentStatus.authorizing.rawValue), .integer(order.amount.minorUnits),
        .text(order.amount.currency.code), .integer(terms.amountConfirmed ? 1 : 0), .text(order.capture.rawValue),
        .text(optional: card.deviceAccountSuffix), .text(optional: card.expiry?.yymm), .integer(card.hasECI ? 1 : 0),
        .time(optional: terms.holdUntil), .integer(0), .text(optional: terms.sale.merchantAccount),
        .text(optional: terms.sale.statementDescriptor), .text(optional: terms.sale.merchantCategory),
        .text(optional: card.name), .integer(optional: terms.captureDelay?.components.seconds),
        .text(optional: terms.sale.authorizationType?.rawValue), .text(optional: card.network?.rawValue),
        .text(optional: card.type?.rawValue), .text(optional: terms.transactionIdentifier),
        .text(optional: terms.trace?.stored)
      ).fromNow(15))
  }

  func save(over before: PaymentRecord, in store: Transaction) throws {
    try store.changeOne(
      """
      UPDATE payments SET status = $3, live = $4, authorized = $5, captured = $6, refunded = $7,
        reserved_capture = $8, reserved_void = $9, reserved_refund = $10, authorization_code = $11,
        decline_reason = $12, decline_code = $13, reported_outcome = $14, capture_due = $15, hold_until = $16,
        alarm = $17, updated_at = $18, reported_status = $19, route = $20, charged_back = $21,
        merchant_account = $22, incremented = $23, version = $24, authorization_type = $25
      WHERE id = $1 AND version = $2
      """,
      .text(payment.id.rawValue), .integer(before.version), .text(balances.status.rawValue),
      .integer(balances.status.isLive ? 1 : 0), .integer(balances.authorized), .integer(balances.captured),
      .integer(balances.refunded), .integer(balances.reservedCapture), .integer(balances.reservedVoid),
      .integer(balances.reservedRefund), .text(optional: payment.authorizationCode),
      .text(optional: payment.decline?.reason.rawValue), .text(optional: payment.decline?.code),
      .text(optional: payment.reportedOutcome?.rawValue), .time(optional: captureDue), .time(optional: holdUntil),
      .text(optional: alarm), .time(payment.updatedAt), .text(optional: payment.reportedStatus?.rawValue), .text(route),
      .integer(balances.chargedBack), .text(optional: sale.merchantAccount), .integer(balances.incremented),
      .integer(version), .text(optional: sale.authorizationType?.rawValue), orThrow: JournalError.conflict)
  }

  init(_ row: Row) throws {
    balances = Balances(status: try row.value("status"))
    balances.authorized = try row.integer("authorized")
    balances.incremented = try row.integer("incremented")
    balances.captured = try row.integer("captured")
    balances.refunded = try row.integer("refunded")
    balances.chargedBack = try row.integer("charged_back")
    balances.reservedCapture = try row.integer("reserved_capture")
    balances.reservedVoid = try row.integer("reserved_void")
    balances.reservedRefund = try row.integer("reserved_refund")
    payment = Payment(
      id: try row.value("id"), order: try row.value("order_id"), merchant: try row.value("merchant"),
      basket: try row.value("basket"), status: balances.status, amount: try row.amount("amount"),
      authorized: balances.authorized, incremented: balances.incremented, captured: balances.captured,
      refunded: balances.refunded, chargedBack: balances.chargedBack,
      authorizationCode: try row.textOrNil("authorization_code"),
      decline: try row.decline(code: "decline_code"), card: try row.card(),
      transactionIdentifier: try row.textOrNil("transaction_identifier"),
      amountConfirmed: try row.integer("amount_confirmed") == 1,
      reportedOutcome: try row.valueOrNil("reported_outcome"),
      reportedStatus: try row.valueOrNil("reported_status"), createdAt: try row.time("created_at"),
      updatedAt: try row.time("updated_at"))
    route = try row.text("route")
    sale = StoredSale(
      merchantAccount: try row.textOrNil("merchant_account"),
      statementDescriptor: try row.textOrNil("statement_descriptor"),
      merchantCategory: try row.textOrNil("merchant_category"),
      authorizationType: try row.valueOrNil("authorization_type"))
    captureMode = try row.value("capture_mode")
    captureDelay = try row.integerOrNil("capture_delay").map { .seconds($0) }
    captureDue = try row.timeOrNil("capture_due")
    holdUntil = try row.timeOrNil("hold_until")
    agreement = try row.valueOrNil("agreement")
    trace = try row.textOrNil("trace").flatMap { TraceContext(stored: $0) }
    alarm = try row.textOrNil("alarm")
    version = try row.integer("version")
  }
}

extension SQLValue {
  static func time(optional time: Timestamp?) -> SQLValue { .integer(optional: time?.microseconds) }
}

extension Row {
  func timeOrNil(_ column: String) throws -> Timestamp? {
    try integerOrNil(column).map { Timestamp(microseconds: $0) }
  }

  /// The value that a text column encodes; an unknown text is an error.
  func value<Value: RawRepresentable<String>>(_ column: String) throws -> Value {
    guard let value: Value = try valueOrNil(column) else { throw StorageError.column(column) }
    return value
  }

  func valueOrNil<Value: RawRepresentable<String>>(_ column: String) throws -> Value? {
    guard let text = try textOrNil(column) else { return nil }
    guard let value = Value(rawValue: text) else { throw StorageError.column(column) }
    return value
  }

  /// Minor units of the row's currency.
  func amount(_ column: String) throws -> Amount {
    guard let currency = Currency(code: try text("currency")) else { throw StorageError.column("currency") }
    return Amount(minorUnits: try integer(column), currency: currency)
  }

  /// A reason that only a later version knows is read as ``DeclineReason/other``.
  ///
  /// - Parameter code: the column of its code.
  func decline(code: String) throws -> Decline? {
    guard let reason = try textOrNil("decline_reason") else { return nil }
    return Decline(reason: DeclineReason(rawValue: reason) ?? .other, code: try text(code))
  }

  func card() throws -> CardSummary {
    CardSummary(
      name: try textOrNil("card_name"), network: try valueOrNil("card_network"), type: try valueOrNil("card_type"),
      deviceAccountSuffix: try textOrNil("card_suffix"),
      expiry: try textOrNil("card_expiry").flatMap { CardExpiry(yymm: $0) }, hasECI: try integer("card_has_eci") == 1)
  }
}
