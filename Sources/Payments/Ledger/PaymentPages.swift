package import Storage
package import Telemetry
package import TenderPayments

/// Which payments a page of the back office lists. Every condition that is set must hold.
package struct PaymentFilter: Sendable, Hashable {
  /// Whose payments; nil for every merchant's.
  package var merchants: [MerchantID]?
  package var orders: [OrderID]?
  package var status: PaymentStatus?
  package var route: String?
  /// Minor units.
  package var amount: Int64?
  /// ISO 4217.
  package var currency: String?
  /// The end of the card's number as the shopper sees it, or of the device account number.
  package var lastFour: String?
  /// When the payment began: at this moment or after it.
  package var from: Timestamp?
  /// Before this moment.
  package var until: Timestamp?
  package var isAlarmed = false

  package init() {}
}

/// A page of payments, newest first.
package struct PaymentPage: Sendable {
  package struct Item: Sendable {
    package let payment: Payment
    /// Connector and account.
    package let route: String
    /// Why an operator has to look at it; nil without an alarm.
    package let alarm: String?
    /// When the acquirer releases what is held.
    package let holdUntil: Timestamp?
    /// The span in which it was made; nil where it was not traced.
    package let trace: TraceContext?

    init(_ row: Row) throws {
      let record = try PaymentRecord(row)
      (payment, route, alarm, holdUntil) = (record.payment, record.route, record.alarm, record.holdUntil)
      trace = record.trace
    }
  }

  package let items: [Item]
  /// Where the next page begins: below this id. Nil after the last one.
  package let next: PaymentID?

  package init(items: [Item], next: PaymentID? = nil) { (self.items, self.next) = (items, next) }
}

extension PaymentFilter {
  /// How many payments of a merchant, or of all where none is named, a page looks at: a rare condition must not read the whole table at once.
  package static let reach = 20_000

  /// - Parameter before: only older payments than this one, the end of the page before.
  package func page(
    before: PaymentID? = nil, limit: Int = 50, reach: Int = PaymentFilter.reach, in store: Transaction
  ) throws -> PaymentPage {
    if let merchants, merchants.count != 1 {
      return try page(of: merchants, before: before, limit: limit, reach: reach, in: store)
    }
    let (range, values) = range(before)
    // The last payment that is looked at: an index alone finds it.
    let end = try store.rows(
      "SELECT id FROM payments WHERE \(range) ORDER BY id DESC LIMIT 1 OFFSET \(reach - 1)", values
    ).first?.text("id")
    let (conditions, more) = conditions(from: values.count + 1)
    let rows = try store.rows(
      """
      SELECT * FROM payments WHERE \(range) AND id >= $\(values.count + 1) AND \(conditions)
      ORDER BY id DESC LIMIT \(limit + 1)
      """, values + [.text(end ?? "")] + more)
    let items = try Array(rows.prefix(limit)).readable(PaymentPage.Item.init)
    let next = rows.count > limit ? try rows[limit - 1].text("id") : end
    return PaymentPage(items: items, next: next.map { PaymentID($0) })
  }

  /// Whether a payment that was found by a name fits every condition but that on its card.
  package func fits(_ item: PaymentPage.Item) -> Bool {
    let (payment, id) = (item.payment, item.payment.id.rawValue)
    return merchants.map { $0.contains(payment.merchant) } ?? true && orders.map { $0.contains(payment.order) } ?? true
      && status.map { $0 == payment.status } ?? true && route.map { $0 == item.route } ?? true
      && amount.map { $0 == payment.amount.minorUnits } ?? true
      && currency.map { $0 == payment.amount.currency.code } ?? true
      && from.map { Self.prefix(of: $0) <= id } ?? true && until.map { id < Self.prefix(of: $0) } ?? true
      && (!isAlarmed || item.alarm != nil)
  }

  /// Looks at each merchant's own payments, so that those of others do not use up the reach.
  private func page(
    of merchants: [MerchantID], before: PaymentID?, limit: Int, reach: Int, in store: Transaction
  ) throws -> PaymentPage {
    let pages = try Set(merchants).map { merchant in
      var one = self
      one.merchants = [merchant]
      return try one.page(before: before, limit: limit, reach: reach, in: store)
    }
    // Below it, one of the merchants was not looked at yet.
    let end = pages.compactMap(\.next?.rawValue).max()
    let items = pages.flatMap(\.items).filter { $0.payment.id.rawValue >= end ?? "" }
      .sorted { $0.payment.id.rawValue > $1.payment.id.rawValue }
    if items.count > limit { return PaymentPage(items: Array(items.prefix(limit)), next: items[limit - 1].payment.id) }
    return PaymentPage(items: items, next: end.map { PaymentID($0) })
  }

  /// What the indexes on the id hold: ids begin with the time in milliseconds, in 12 hexadecimal digits.
  private func range(_ before: PaymentID?) -> (sql: String, values: [SQLValue]) {
    var (parts, values) = (["1 = 1"], [SQLValue]())
    func add(_ condition: String, _ value: SQLValue) {
      values.append(value)
      parts.append("\(condition) $\(values.count)")
    }
    if let before { add("id <", .text(before.rawValue)) }
    if let from { add("id >=", .text(Self.prefix(of: from))) }
    if let until { add("id <", .text(Self.prefix(of: until))) }
    if let merchants, merchants.count == 1 { add("merchant =", .text(merchants[0].rawValue)) }
    return (parts.joined(separator: " AND "), values)
  }

  static func prefix(of time: Timestamp) -> String {
    Hex.encode((0..<6).map { UInt8(truncatingIfNeeded: time.milliseconds >> (40 - 8 * $0)) })
  }

  private func conditions(from count: Int) -> (sql: String, values: [SQLValue]) {
    var (parts, values) = (["1 = 1"], [SQLValue]())
    func place(_ value: SQLValue) -> String {
      values.append(value)
      return "$\(count + values.count)"
    }
    // PostgreSQL has no empty list.
    func isOne(of texts: [String], _ column: String) -> String {
      texts.isEmpty ? "1 = 0" : "\(column) IN (\(texts.map { place(.text($0)) }.joined(separator: ", ")))"
    }
    if let orders { parts.append(isOne(of: orders.map(\.rawValue), "order_id")) }
    if let status { parts.append("status = \(place(.text(status.rawValue)))") }
    if let route { parts.append("route = \(place(.text(route)))") }
    if let amount { parts.append("amount = \(place(.integer(amount)))") }
    if let currency { parts.append("currency = \(place(.text(currency)))") }
    if let lastFour {
      let suffix = place(.text(lastFour))
      parts.append("(card_suffix = \(suffix) OR card_name LIKE \(place(.text("% \(lastFour)"))))")
    }
    if isAlarmed { parts.append("alarm IS NOT NULL") }
    return (parts.joined(separator: " AND "), values)
  }
}

extension PaymentPage.Item {
  /// One payment, as a page lists it.
  package static func find(_ id: PaymentID, in store: Transaction) throws -> PaymentPage.Item? {
    try store.row("SELECT * FROM payments WHERE id = $1", .text(id.rawValue)).map(PaymentPage.Item.init)
  }

  /// Payments of an order or a basket, newest first.
  ///
  /// - Parameter merchants: nil for every merchant's.
  package static func all(
    _ column: Column, _ id: String, of merchants: [MerchantID]?, limit: Int = 50, in store: Transaction
  ) throws -> [PaymentPage.Item] {
    let merchants = MerchantCondition(merchants, after: 1)
    return try store.rows(
      "SELECT * FROM payments WHERE \(column.rawValue) = $1 AND \(merchants.sql) ORDER BY id DESC LIMIT \(limit)",
      [.text(id)] + merchants.values
    ).readable(PaymentPage.Item.init)
  }

  package enum Column: String, Sendable {
    case order = "order_id"
    case basket
  }

  /// Payments of some merchants, or of all, whose outcome is open, the oldest first.
  package static func open(
    of merchants: [MerchantID]? = nil, limit: Int, in store: Transaction
  ) throws -> [PaymentPage.Item] {
    let merchants = MerchantCondition(merchants)
    return try store.rows(
      """
      SELECT * FROM payments WHERE status IN ('authorizing', 'pending', 'unknown') AND \(merchants.sql)
      ORDER BY status, created_at LIMIT \(limit)
      """, merchants.values
    ).readable(PaymentPage.Item.init)
  }

  /// Payments with an alarm, the newest first.
  package static func withAlarm(
    of merchants: [MerchantID]? = nil, limit: Int, in store: Transaction
  ) throws -> [PaymentPage.Item] {
    let merchants = MerchantCondition(merchants)
    return try store.rows(
      "SELECT * FROM payments WHERE alarm IS NOT NULL AND \(merchants.sql) ORDER BY id DESC LIMIT \(limit)",
      merchants.values
    ).readable(PaymentPage.Item.init)
  }

  /// Payments whose hold the acquirer releases before a moment, the first to end first.
  package static func expiring(
    before end: Timestamp, of merchants: [MerchantID]? = nil, limit: Int, in store: Transaction
  ) throws -> [PaymentPage.Item] {
    let merchants = MerchantCondition(merchants, after: 1)
    return try store.rows(
      """
      SELECT * FROM payments WHERE hold_until IS NOT NULL AND hold_until < $1 AND \(merchants.sql)
      ORDER BY hold_until LIMIT \(limit)
      """, [.integer(end.microseconds)] + merchants.values
    ).readable(PaymentPage.Item.init)
  }
}

/// An entry of the audit chain, as a person reads it.
package struct AuditLine: Sendable, Hashable {
  package let number: Int64
  package let event: String
  /// Nil for the first entry of a payment.
  package let before: PaymentStatus?
  package let after: PaymentStatus
  /// Minor units of the payment's currency.
  package let authorized: Int64
  package let captured: Int64
  package let refunded: Int64
  package let at: Timestamp
  package let hash: String

  /// The entries of a payment, oldest first.
  package static func all(of payment: PaymentID, in store: Transaction) throws -> [AuditLine] {
    try store.rows("SELECT * FROM audit WHERE payment = $1 ORDER BY version, recorded_at, seq", .text(payment.rawValue))
      .map {
        let entry = try AuditEntry($0)
        return AuditLine(
          number: entry.number, event: entry.event, before: entry.before, after: entry.after,
          authorized: entry.authorized, captured: entry.captured, refunded: entry.refunded, at: entry.at,
          hash: try $0.text("hash"))
      }
  }
}

extension OutboxEvent {
  /// The events of a payment that this version can read, oldest first.
  package static func all(of payment: PaymentID, in store: Transaction) throws -> [OutboxEvent] {
    let last = try store.row("SELECT MAX(seq) AS seq FROM outbox WHERE payment = $1", .text(payment.rawValue))
    let count = try last?.integerOrNil("seq") ?? 0
    return try (0..<count).compactMap { number in
      do { return try find(payment, number + 1, in: store) } catch StorageError.column { return nil }
    }
  }
}

extension OperationRecord {
  /// The operations of a payment, oldest first.
  package static func all(of payment: PaymentID, in store: Transaction) throws -> [OperationRecord] {
    try Operations.all(of: payment, in: store)
  }
}
